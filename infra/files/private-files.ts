import { chmodSync, mkdirSync, statSync } from 'node:fs';

/** Later files of this process are accessible to its user only (mode 600), directories too (700). */
export function setPrivateUmask(): void {
  process.umask(0o077);
}

/**
 * Creates the directory when it is missing, and removes access of other users: files in it that earlier versions wrote with read
 * permission for all are then inaccessible. A directory of another owner (a volume) is unchanged.
 */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(path);
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, 0o700);
}
