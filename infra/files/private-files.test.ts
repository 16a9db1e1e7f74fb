import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makePrivateDirectory } from './private-files.js';

function root(): string {
  const path = mkdtempSync(join(tmpdir(), 'oddstream-private-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('makePrivateDirectory creates a directory of mode 700', () => {
  const path = join(root(), 'a', 'b');
  makePrivateDirectory(path);
  expect(modeOf(path)).toBe(0o700);
});

test('makePrivateDirectory removes access of other users from an existing directory', () => {
  const path = join(root(), 'data');
  mkdirSync(path);
  chmodSync(path, 0o755);
  makePrivateDirectory(path);
  expect(modeOf(path)).toBe(0o700);
  chmodSync(path, 0o500);
  makePrivateDirectory(path);
  expect(modeOf(path)).toBe(0o500);
});
