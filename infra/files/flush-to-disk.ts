import { open } from 'node:fs/promises';

/** Resolves when the bytes of a file, or the names in a directory, are on the disk. */
export async function flushToDisk(path: string): Promise<void> {
  const file = await open(path);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
