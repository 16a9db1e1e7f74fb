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

test('makePrivateDirectory makes a directory of mode 700', () => {
  const path = join(root(), 'a', 'b');
  makePrivateDirectory(path);
  expect(modeOf(path)).toBe(0o700);
});

test('makePrivateDirectory closes one that others could read, and leaves a closed one', () => {
  const path = join(root(), 'data');
  mkdirSync(path);
  chmodSync(path, 0o755);
  makePrivateDirectory(path);
  expect(modeOf(path)).toBe(0o700);
  chmodSync(path, 0o500);
  makePrivateDirectory(path);
  expect(modeOf(path)).toBe(0o500);
});
