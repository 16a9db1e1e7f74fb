import { chmodSync, mkdirSync, statSync } from 'node:fs';

/** Files this process makes from now on are its user's alone (mode 600), directories too (700). */
export function setPrivateUmask(): void {
  process.umask(0o077);
}

/**
 * Makes the directory when it is missing, and closes it to other users: what versions before wrote inside, readable for all, is then out of
 * their reach. A directory of another owner (a volume) stays as its owner made it.
 */
export function makePrivateDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode, uid } = statSync(path);
  if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(path, 0o700);
}
