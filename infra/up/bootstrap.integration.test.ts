import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

/** A project with the script, installed packages, and a compiler that records its arguments. */
let root: string;
const calls = () => readFileSync(join(root, 'calls'), 'utf8').split('\n').filter(Boolean);
const write = (path: string, text: string) => {
  mkdirSync(join(root, path, '..'), { recursive: true });
  writeFileSync(join(root, path), text);
};
const run = (command: string) =>
  execFileSync(process.execPath, [join(root, 'infra/up/bootstrap.mjs'), command], { stdio: 'pipe' });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'oddstream-bootstrap-'));
  for (const layer of ['schemas', 'ingest', 'processors', 'pages', 'api', 'stream-gateway', 'tests'])
    mkdirSync(join(root, layer));
  write('calls', '');
  write('tsconfig.json', '{}');
  write('package-lock.json', '{}');
  write('node_modules/.oddstream-lock', createHash('sha256').update('{}').digest('hex'));
  write('api/main.ts', '');
  write(
    'node_modules/typescript/bin/tsc',
    `const { appendFileSync, mkdirSync, writeFileSync } = require('node:fs');
     appendFileSync('calls', process.argv.includes('--noCheck') ? 'compiled\\n' : 'checked and compiled\\n');
     mkdirSync('dist/infra/up', { recursive: true });
     writeFileSync('dist/infra/up/main.js', '');`,
  );
  cpSync(fileURLToPath(new URL('./bootstrap.mjs', import.meta.url)), join(root, 'infra/up/bootstrap.mjs'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

it('compiles for `start` without checking types, and for `build` with it, each only when something changed', () => {
  run('start');
  run('start');
  expect(calls()).toEqual(['compiled']);
  run('build');
  write('api/.types-a/probe.ts', '');
  run('build');
  run('start');
  expect(calls()).toEqual(['compiled', 'checked and compiled']);
  write('api/main.ts', 'export {};');
  run('start');
  expect(calls()).toEqual(['compiled', 'checked and compiled', 'compiled']);
});

it.runIf(process.platform === 'linux')(
  'takes over the lock of a process that has ended and whose pid another process has now',
  () => {
    write('.bootstrap.lock', `${process.pid} 1`);
    utimesSync(join(root, '.bootstrap.lock'), 0, 0);
    run('start');
    expect(calls()).toEqual(['compiled']);
  },
);

it.each([
  ['start', undefined],
  ['run clickhouse', '16'],
])('takes an empty UV_THREADPOOL_SIZE for unset: %s', (command, expected) => {
  run('build');
  const script = "require('node:fs').writeFileSync('threads', String(process.env.UV_THREADPOOL_SIZE));";
  for (const folder of ['infra/up', 'infra/clickhouse']) write(`dist/${folder}/main.js`, script);
  execFileSync(process.execPath, [join(root, 'infra/up/bootstrap.mjs'), ...command.split(' ')], {
    env: { ...process.env, UV_THREADPOOL_SIZE: '' },
    stdio: 'pipe',
  });
  expect(readFileSync(join(root, 'threads'), 'utf8')).toBe(String(expected));
});

it('installs for `start` what runs, and adds for `build` what builds and tests need, keeping the installed files', () => {
  rmSync(join(root, 'node_modules/.oddstream-lock'));
  // npm, as it is found first in PATH.
  write(
    'bin/npm',
    `#!${process.execPath}
require('node:fs').appendFileSync('calls', process.argv.slice(2).filter((one) => /^(ci|install|--(no-save|omit|include)(=dev)?)$/.test(one)).join(' ') + '\\n');`,
  );
  chmodSync(join(root, 'bin/npm'), 0o755);
  const env = { ...process.env, PATH: `${join(root, 'bin')}${delimiter}${process.env.PATH}` };
  const run = (command: string) =>
    execFileSync(process.execPath, [join(root, 'infra/up/bootstrap.mjs'), command], { stdio: 'pipe', env });
  run('start');
  run('start');
  run('build');
  run('start');
  expect(calls()).toEqual(['ci --omit=dev', 'compiled', 'install --no-save --include=dev', 'checked and compiled']);
  write('package-lock.json', '{ }');
  run('build');
  run('start');
  expect(calls().slice(4)).toEqual(['ci --include=dev', 'checked and compiled']);
});
