import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const written: string[] = [];
afterEach(() => {
  for (const path of written.splice(0)) rmSync(path, { recursive: true, force: true });
});

/** Lints a file with one import, placed in that layer. */
function lint(layer: string, importPath: string): string {
  const folder = join(root, layer, 'lint-probe');
  mkdirSync(folder, { recursive: true });
  written.push(folder);
  const file = join(folder, 'probe.mjs');
  writeFileSync(file, `import { x } from '${importPath}';\n\nexport const y = x;\n`);
  try {
    return execFileSync(process.execPath, ['node_modules/@biomejs/biome/bin/biome', 'lint', file], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return stdout + stderr;
  }
}

describe('import direction', () => {
  const forbidden: [string, string][] = [
    ['schemas', '../../infra/errors.js'],
    ['infra', '../../ingest/main.js'],
    ['infra', '../../api/main.js'],
    ['ingest', '../../processors/main.js'],
    ['processors', '../../ingest/main.js'],
    ['api', '../../processors/main.js'],
    ['stream-gateway', '../../api/main.js'],
    ['api', '../../tests/support/clickhouse.js'],
    ['pages', '../../api/main.js'],
    ['infra', '../../pages/files.js'],
    ['ingest', '../../pages/files.js'],
    ['processors', '../../pages/files.js'],
    ['stream-gateway', '../../pages/files.js'],
  ];
  for (const [layer, path] of forbidden) {
    it(`rejects an import of ${path} in ${layer}`, () => {
      expect(lint(layer, path)).toContain('noRestrictedImports');
    });
  }

  it('permits imports of infra and schemas in a service, and of pages in the API', () => {
    const output =
      lint('api', '../../infra/errors.js') +
      lint('api', '../../schemas/codec.js') +
      lint('api', '../../pages/files.js');
    expect(output).not.toContain('noRestrictedImports');
  });
});
