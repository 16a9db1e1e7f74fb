import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly dir: string;
  enlarge(sizeMb: number): void;
  remove(): void;
}

/** A separate file system of a limited size; throws if this user may not mount one. */
export function mountSmallDisk(sizeMb: number): SmallDisk {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${sizeMb}m`, 'tmpfs', dir], { stdio: 'pipe' });
  } catch (error) {
    rmdirSync(dir);
    throw error;
  }
  return {
    dir,
    enlarge: (size) => {
      execFileSync('mount', ['-o', `remount,size=${size}m`, dir]);
    },
    remove() {
      // Lazy unmount: a process that is ending may still have a file open.
      execFileSync('umount', ['-l', dir]);
      rmdirSync(dir);
    },
  };
}

/** Why this user cannot mount a small disk; null when it can. */
export function whyNoSmallDisk(): string | null {
  try {
    mountSmallDisk(1).remove();
    return null;
  } catch (error) {
    return `no file system can be mounted: ${error instanceof Error ? error.message.trim() : String(error)}`;
  }
}
