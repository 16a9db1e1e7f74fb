import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSpool } from './spool.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'oddstream-spool-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

test('a pipe per slot, for its owner alone', async () => {
  const spool = await openSpool(join(directory, 'spool'), 2);
  const pipe = statSync(join(directory, 'spool', 'out-1'));
  expect([pipe.isFIFO(), pipe.mode & 0o777]).toEqual([true, 0o600]);
  await spool.close();
});

test('a machine without mkfifo is told what it lacks', async () => {
  vi.stubEnv('PATH', directory);
  await expect(openSpool(join(directory, 'spool'), 1)).rejects.toThrow(
    'needs the command mkfifo, of coreutils or busybox',
  );
});
