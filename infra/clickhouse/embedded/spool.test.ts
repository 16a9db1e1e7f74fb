import { mkdtempSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
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
  const spool = await openSpool(join(directory, 'spool'), 2, 100);
  const pipe = statSync(join(directory, 'spool', 'out-1'));
  expect([pipe.isFIFO(), pipe.mode & 0o777]).toEqual([true, 0o600]);
  await spool.close();
});

test('openSpool names the missing command on a machine without mkfifo', async () => {
  vi.stubEnv('PATH', directory);
  await expect(openSpool(join(directory, 'spool'), 1, 100)).rejects.toThrow(
    'needs the command mkfifo, which is not on PATH: install coreutils or busybox',
  );
});

test('rows of an INSERT above the bound are rejected with code 307, and leave no file', async () => {
  const spool = await openSpool(join(directory, 'spool'), 1, 100);
  async function* chunks(bytes: number) {
    for (let sent = 0; sent < bytes; sent += 10) yield Buffer.alloc(10, 'x');
  }
  const written = await spool.write(Buffer.alloc(50), chunks(50));
  expect([written.bytes, statSync(written.path).size, statSync(written.path).mode & 0o777]).toEqual([100, 100, 0o600]);
  await spool.remove(written.path);
  await expect(spool.write(Buffer.alloc(50), chunks(60))).rejects.toMatchObject({ code: 307 });
  expect(readdirSync(join(directory, 'spool'))).toEqual(['out-0']);
  await spool.close();
});

test('a full disk is code 243, in one piece and in several, and leaves no file', async () => {
  const spool = await openSpool(join(directory, 'spool'), 1, 100);
  async function* chunks() {
    yield Buffer.alloc(10, 'x');
  }
  for (const [index, rest] of [undefined, chunks()].entries()) {
    // Writing to this device fails as on a full disk.
    symlinkSync('/dev/full', join(directory, 'spool', `spool-${index + 1}`));
    await expect(spool.write(Buffer.alloc(50, 'x'), rest)).rejects.toMatchObject({ code: 243 });
  }
  expect(readdirSync(join(directory, 'spool'))).toEqual(['out-0']);
  await spool.close();
});

test('a result file that cannot be created is an error of the statement, and the engine gets no reader to wait for', async () => {
  const spool = await openSpool(join(directory, 'spool'), 1, 100);
  const pipe = spool.pipe(0);
  const path = join(directory, 'missing', 'file');
  await expect(spool.copy(pipe, path, 100)).rejects.toMatchObject({ code: 'ENOENT' });
  expect(pipe.stream.destroyed).toBe(true);
  pipe.engineDone();
  await spool.close();
});
