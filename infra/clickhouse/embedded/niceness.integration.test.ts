import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it.runIf(process.platform === 'linux')('lowerProcessPriority lowers every existing thread', () => {
  const script = `
    import { readdirSync, readFileSync, promises } from 'node:fs';
    import { lowerProcessPriority } from ${JSON.stringify(new URL('../../../dist/infra/clickhouse/embedded/niceness.js', import.meta.url).href)};
    await promises.readFile(process.execPath);
    lowerProcessPriority();
    const niceness = (tid) => readFileSync('/proc/self/task/' + tid + '/stat', 'utf8').split(') ')[1].split(' ')[16];
    console.log(JSON.stringify(readdirSync('/proc/self/task').map(niceness)));`;
  const inherited = Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ')[16]);
  const found = JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }),
  ) as string[];
  expect(found.length).toBeGreaterThan(4);
  expect(new Set(found)).toEqual(new Set([String(Math.max(inherited, 5))]));
});
