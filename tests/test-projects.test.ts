import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
/** Modules that start a process, or load the embedded engine. */
const STARTS_PROCESSES =
  /from '(node:child_process|node:worker_threads|chdb|(\.\.?\/)+(infra\/)?clickhouse\/testing\.js|\.\/native\.js)'/;

describe('unit test project', () => {
  it('contains no file that starts a process or the embedded engine', () => {
    const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'], {
      cwd: root,
      encoding: 'utf8',
    })
      .split('\n')
      .filter((file) => file !== '' && !file.startsWith('tests/') && !file.endsWith('.integration.test.ts'));
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => STARTS_PROCESSES.test(readFileSync(join(root, file), 'utf8')))).toEqual([]);
  });
});
