import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually, type Product, processNames, startProduct, untilUp } from '../support/product.js';
import { shortHistory } from '../support/short-recording.js';

const running: Product[] = [];
afterEach(async () => {
  // Later products run on the directory that the first one owns and removes.
  for (const product of running.splice(0).reverse()) await product.dispose();
});

const env = { ...shortHistory(), LOG_LEVEL: 'info' };

/** Whether the process exists and is not a zombie. */
function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false; // no such process
  }
}

describe('the supervisor', () => {
  it.runIf(process.platform === 'linux')(
    'has its processes exit when it is killed, also during the load; the next supervisor resumes',
    async () => {
      let dataDir: string | undefined;
      // The critical period is between the first line of a process and its first listener; later kills are easier to handle.
      for (const delayMs of [0, 60, 150, 300, 900]) {
        const product = await startProduct({ env, dataDir });
        running.push(product);
        dataDir = product.dataDir;
        const pidsOf = () => processNames.flatMap((name) => product.pid(name) ?? []);
        await eventually('the processes', async () => pidsOf().length === processNames.length);
        const pids = pidsOf();
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        process.kill(product.supervisorPid, 'SIGKILL');
        await eventually(
          `all processes to exit (killed after ${delayMs} ms)`,
          async () => pids.every((pid) => !isAlive(pid)),
          20_000,
        );
      }
      const last = await startProduct({ env, dataDir });
      running.push(last);
      await untilUp(last);
    },
    180_000,
  );

  it('rejects a data directory locked by another supervisor, and names that supervisor', async () => {
    const first = await startProduct({ env });
    running.push(first);
    await eventually('the first to start', async () => first.output().includes('Oddstream is starting'));
    const second = await startProduct({ env, dataDir: first.dataDir });
    running.push(second);
    await eventually('the second to end', async () => second.exited() !== null);
    expect(second.exited()).toBe(75);
    expect(second.output()).toContain(
      `Oddstream on this data directory is already run by process ${first.supervisorPid}`,
    );
    expect(second.output()).not.toContain('Oddstream is starting');
  });
});
