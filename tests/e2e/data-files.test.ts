import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startProduct, untilUp } from '../support/product.js';
import { shortHistory } from '../support/short-recording.js';

const root = mkdtempSync(join(tmpdir(), 'oddstream-files-'));
const dataDir = join(root, 'data');
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Paths below `directory` that another user may read, write or enter, with their modes. Files of running processes come and go. */
function openToOthers(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.mode & 0o077) === 0) return [];
    return [`${relative(directory, path)} ${(found.mode & 0o777).toString(8)}`];
  });
}

it('data directory: every file and directory is accessible to its user only, also if others could read it before', async () => {
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  const product = await startProduct({ env: shortHistory(), dataDir });
  try {
    await untilUp(product);
    expect(readdirSync(dataDir)).toEqual(
      expect.arrayContaining(['clickhouse', 'clickhouse-password', 'dev-key', 'log']),
    );
    expect((statSync(dataDir).mode & 0o777).toString(8)).toBe('700');
    expect(openToOthers(dataDir)).toEqual([]);
  } finally {
    await product.stop();
  }
}, 200_000);
