import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  readonly dir: string;
  enlarge(sizeMb: number): void;
  remove(): void;
}

/** A file system of its own that holds so much and no more; throws where this user may not mount one. */
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
      // Lazily: a process that is ending may still hold a file.
      execFileSync('umount', ['-l', dir]);
      rmdirSync(dir);
    },
  };
}

/** Why no small disk can be had here; null when one can. */
export function whyNoSmallDisk(): string | null {
  try {
    mountSmallDisk(1).remove();
    return null;
  } catch (error) {
    return `no file system can be mounted: ${error instanceof Error ? error.message.trim() : String(error)}`;
  }
}
