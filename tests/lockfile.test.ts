import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optionalDependencies?: Record<string, string>;
}

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, LockEntry>;
};
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;

/**
 * Binaries of platforms that the registry this lock was made with does not have, and so no hash of. `npm run lock:integrity` adds them with a
 * registry that has them; the entry then has to go from here. docs/SECURITY.md says what it means.
 */
const WITHOUT_HASH: readonly string[] = [
  '@chdb/lib-darwin-arm64@26.7.3-stable.1',
  '@chdb/lib-darwin-x64@26.7.3-stable.1',
  '@chdb/lib-linux-arm64-gnu@26.7.3-stable.1',
];

describe('package-lock.json', () => {
  // npm drops the binaries of other platforms from the lock when its registry does not have them, and `npm ci` then rejects the lock file everywhere.
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

  it('has a hash for every package, except those that the registry does not provide', () => {
    const without = Object.entries(lock.packages)
      .filter(([path, entry]) => path !== '' && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? ''))
      .map(([path, entry]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${entry.version}`);
    expect(without.sort()).toEqual(WITHOUT_HASH);
  });

  it('lock-integrity adds missing hashes from the registry, and keeps existing ones', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'oddstream-lock-'));
    try {
      const added = `sha512-${'a'.repeat(86)}==`;
      const had = `sha512-${'b'.repeat(86)}==`;
      // A registry that has one of the two requested packages.
      writeFileSync(
        join(dir, 'npm'),
        `#!/bin/sh\ncase "$2" in @a/known@1.0.0) echo '${added}';; *) echo 'npm error code E404' >&2; exit 1;; esac\n`,
        { mode: 0o755 },
      );
      const path = join(dir, 'package-lock.json');
      const packages = (known?: string): Record<string, LockEntry> => ({
        '': {},
        'node_modules/has': { version: '2.0.0', integrity: had },
        'node_modules/b/node_modules/@a/known': {
          version: '1.0.0',
          ...(known === undefined ? {} : { integrity: known }),
        },
        'node_modules/absent': { version: '3.0.0' },
      });
      writeFileSync(path, JSON.stringify({ packages: packages() }));
      const tool = join(root, 'infra/up/lock-integrity.mjs');
      const ran = promisify(execFile)(process.execPath, [tool, path], {
        env: { PATH: `${dir}${delimiter}/usr/bin${delimiter}/bin` },
      });
      await expect(ran).rejects.toMatchObject({
        code: 1,
        stderr: expect.stringContaining('absent@3.0.0: the registry'),
      });
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ packages: packages(added) });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('names no host, and every direct dependency is pinned exactly', () => {
    expect(Object.values(lock.packages).filter((entry) => entry.resolved !== undefined)).toEqual([]);
    const pinned = { ...manifest.dependencies, ...manifest.devDependencies };
    const loose = Object.entries(pinned).filter(([, range]) => !/^(npm:[^@]+@)?\d+\.\d+\.\d+$/.test(range));
    expect(loose).toEqual([]);
  });
});
