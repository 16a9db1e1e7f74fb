import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FatalError } from '../errors.js';
import { readOrCreateSecret } from './secret.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'oddstream-secret-'));
});
afterEach(() => rmSync(root, { recursive: true }));

test('readOrCreateSecret creates a secret once, in a file of mode 600 in a directory of mode 700', async () => {
  const directory = join(root, 'data');
  const secret = await readOrCreateSecret(directory, 'password');
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  expect(await readOrCreateSecret(directory, 'password')).toBe(secret);
  expect(readFileSync(join(directory, 'password'), 'utf8')).toBe(`${secret}\n`);
  expect(statSync(join(directory, 'password')).mode & 0o777).toBe(0o600);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(await readOrCreateSecret(directory, 'other')).not.toBe(secret);
});

test('readOrCreateSecret returns one secret to concurrent callers and leaves no other file', async () => {
  const secrets = await Promise.all(Array.from({ length: 50 }, () => readOrCreateSecret(root, 'password')));
  expect(new Set(secrets).size).toBe(1);
  expect(readdirSync(root)).toEqual(['password']);
});

test('readOrCreateSecret removes access of other users from an existing file', async () => {
  const secret = await readOrCreateSecret(root, 'password');
  chmodSync(join(root, 'password'), 0o644);
  expect(await readOrCreateSecret(root, 'password')).toBe(secret);
  expect(statSync(join(root, 'password')).mode & 0o777).toBe(0o600);
});

test.each(['', 'short', 'x'.repeat(44), `${'x'.repeat(42)} `])(
  'readOrCreateSecret rejects the content %j and names the file',
  async (text) => {
    writeFileSync(join(root, 'password'), text);
    const error = await readOrCreateSecret(root, 'password').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(FatalError);
    expect(String(error)).toContain(join(root, 'password'));
    expect(readFileSync(join(root, 'password'), 'utf8')).toBe(text);
  },
);
