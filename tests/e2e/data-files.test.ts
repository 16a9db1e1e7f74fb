import { chmodSync, type Dirent, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { startProduct, untilUp } from '../support/product.js';
import { shortHistory } from '../support/short-recording.js';

const root = mkdtempSync(join(tmpdir(), 'oddstream-files-'));
const dataDir = join(root, 'data');
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Children of the directory; none if it was removed meanwhile: directories of table parts come and go while the product runs. */
function childrenOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Paths below `directory` that another user may read, write or enter, with their modes. */
function openToOthers(directory: string): readonly string[] {
  return childrenOf(directory).flatMap((entry) => {
    const path = join(directory, entry.name);
    const below = entry.isDirectory() ? openToOthers(path) : [];
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.mode & 0o077) === 0) return below;
    return [`${relative(dataDir, path)} ${(found.mode & 0o777).toString(8)}`, ...below];
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
