import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';

const leave = new URL('../../../dist/infra/clickhouse/embedded/leave.js', import.meta.url).href;

/** Exit code and signal of a process that exits with code 7, calls endIfStuck on exit and then runs `next`. */
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
  it('kills a process whose exit blocks', async () => {
    expect(await leaving('for (;;);')).toEqual([null, 'SIGKILL']);
  });

  it('does not change the exit code of a process that ends in time', async () => {
    expect(await leaving('')).toEqual([7, null]);
  });
});
