import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CodeWatch, importedFiles, watchCode } from './code-watch.js';

let dist: string;
let assets: string;
let codeWatch: CodeWatch | undefined;
const write = (name: string, code: string) => {
  mkdirSync(join(dist, name, '..'), { recursive: true });
  writeFileSync(join(dist, name), code);
};

beforeEach(() => {
  dist = mkdtempSync(join(tmpdir(), 'code-'));
  assets = mkdtempSync(join(tmpdir(), 'assets-'));
  write('api/main.js', "import { a } from './a.js';\nimport '../infra/log.js';\nimport express from 'express';");
  write('api/a.js', "export { b } from './b.js';\nconst later = () => import('./lazy.js');");
  write('api/b.js', "import './a.js';");
  write('api/lazy.js', '');
  write('gateway/main.js', "import '../infra/log.js';");
  write('infra/log.js', '');
});
afterEach(() => {
  codeWatch?.close();
  for (const folder of [dist, assets]) rmSync(folder, { recursive: true, force: true });
});

describe('importedFiles', () => {
  it('follows static, side-effect, re-exported and dynamic imports, and survives cycles and missing files', () => {
    write('api/lazy.js', "import './missing.js';");
    const names = [...importedFiles(join(dist, 'api/main.js'))].map((file) => file.slice(dist.length + 1)).sort();
    expect(names).toEqual(['api/a.js', 'api/b.js', 'api/lazy.js', 'api/main.js', 'infra/log.js']);
  });
});

describe('watchCode', () => {
  const services = () => ['api', 'gateway'].map((name) => ({ name, script: join(dist, name, 'main.js') }));
  const nextChange = () =>
    new Promise<readonly string[]>((onChanged) => {
      codeWatch = watchCode({ dist, services: services(), assets: { api: assets }, onChanged });
    });

  it('names only the services that import the written file', async () => {
    const changed = nextChange();
    write('api/lazy.js', 'export {};');
    expect(await changed).toEqual(['api']);
  });

  it('names every service for a shared file', async () => {
    const changed = nextChange();
    write('infra/log.js', 'export {};');
    expect(await changed).toEqual(['api', 'gateway']);
  });

  it('names the service that reads a changed asset', async () => {
    const changed = nextChange();
    writeFileSync(join(assets, 'main.js'), '');
    expect(await changed).toEqual(['api']);
  });
});
