import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly optionalDependencies?: Record<string, string>;
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>;
};
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;

describe('package-lock.json', () => {
  // npm drops the binaries of other platforms from the lock when its registry does not have them, and `npm ci` then refuses the lock everywhere.
  it('has an entry for every optional dependency of every platform', () => {
    const missing = Object.values(lock.packages).flatMap((entry) =>
      Object.keys(entry.optionalDependencies ?? {}).filter((name) =>
        Object.keys(lock.packages).every(
          (path) => path !== `node_modules/${name}` && !path.endsWith(`/node_modules/${name}`),
        ),
      ),
    );
    expect(missing).toEqual([]);
  });

  it('names no host, and every direct dependency is pinned exactly', () => {
    expect(Object.values(lock.packages).filter((entry) => entry.resolved !== undefined)).toEqual([]);
    const pinned = { ...manifest.dependencies, ...manifest.devDependencies };
    const loose = Object.entries(pinned).filter(([, range]) => !/^(npm:[^@]+@)?\d+\.\d+\.\d+$/.test(range));
    expect(loose).toEqual([]);
  });
});
