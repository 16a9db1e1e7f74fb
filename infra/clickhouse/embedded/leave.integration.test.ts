import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';

const leave = new URL('../../../dist/infra/clickhouse/embedded/leave.js', import.meta.url).href;

/** How a process ends that calls endIfStuck when it leaves with code 7, and then does `next`. */
async function leaving(next: string): Promise<readonly unknown[]> {
  const code = `
    import { endIfStuck } from ${JSON.stringify(leave)};
    process.once('exit', () => { endIfStuck(300); ${next} });
    process.exit(7);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: 'ignore' });
  return once(child, 'exit');
}

describe('endIfStuck', () => {
  it('ends a process that cannot leave', async () => {
    expect(await leaving('for (;;);')).toEqual([null, 'SIGKILL']);
  });

  it('lets one that leaves keep its exit code', async () => {
    expect(await leaving('')).toEqual([7, null]);
  });
});
