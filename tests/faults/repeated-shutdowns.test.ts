import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { eventually, type Product, processNames, startProduct, untilUp } from '../support/product.js';
import { runRebuild } from '../support/run-rebuild.js';
import { shortHistory } from '../support/short-recording.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Number of ended processes, by default each twice; `ODDSTREAM_TEST_ENDINGS=200 npm test -- tests/faults/repeated-shutdowns.test.ts` takes 15 minutes. */
const SHUTDOWNS = Number(process.env.ODDSTREAM_TEST_ENDINGS ?? 2 * processNames.length);
/** Number per run of the product, which is then stopped with Ctrl-C: after more, the restart backoff exceeds the time of the test. */
const SHUTDOWNS_PER_RUN = 15;
const TIMEOUT_MS = 240_000 + SHUTDOWNS * 10_000;

const SEED = 17;
/** Both signals for each process, in turn. */
const signalOf = (ending: number): 'SIGKILL' | 'SIGTERM' =>
  (ending + Math.floor(ending / processNames.length)) % 2 === 0 ? 'SIGKILL' : 'SIGTERM';

/** A short history, then the live day. */
const environment = () => ({ LOG_LEVEL: 'info', RECORDED_DIR: shortHistory().RECORDED_DIR });
let dataDir = '';
let product: Product | undefined;
afterEach(async () => {
  await product?.dispose();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Pseudo-random numbers from 0 to 1, the same in every run. */
function randomDelays(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/**
 * What is needed to find out why tables differ, since it may happen once only: the differing rows with their offsets and parts, the end of the
 * rebuild, and what sinks and ClickHouse said while processes were ended.
 */
function explained(rebuildOutput: string, productOutput: string): string {
  const different = rebuildOutput
    .split('\n')
    .filter((line) => line.includes('"DIFFERENT"') || line.includes('cannot list'));
  const said = productOutput
    .split('\n')
    .filter((line) => /clickhouse|sink |deduplication|trying again|DOWN/.test(line));
  return [...different, '--- rebuild', rebuildOutput.slice(-5_000), '--- product', ...said.slice(-300)].join('\n');
}

it(
  `${SHUTDOWNS} processes ended with SIGKILL and SIGTERM at random times leave tables that equal the log`,
  async () => {
    const env = environment();
    const random = randomDelays(SEED);
    dataDir = mkdtempSync(join(tmpdir(), 'oddstream-endings-'));
    const ended = new Set<number>();
    const productOutputs: string[] = [];
    while (ended.size < SHUTDOWNS) {
      product = await startProduct({ env, dataDir });
      const running = product;
      // The recorded day is replayed live, so there are always records to read, process and insert.
      await untilUp(running);
      await eventually('the history to be in the tables', async () => {
        const [row] = await running.sql<{ n: string }>('SELECT count() AS n FROM fills');
        return Number(row?.n) > 10_000;
      });
      const until = Math.min(SHUTDOWNS, ended.size + SHUTDOWNS_PER_RUN);
      while (ended.size < until) {
        const name = processNames[ended.size % processNames.length] as (typeof processNames)[number];
        const pid = await eventually(`${name} to run`, async () => {
          const found = running.pid(name);
          return found !== null && !ended.has(found) && found;
        });
        await new Promise((resolve) => setTimeout(resolve, 50 + random() * 1_200));
        process.kill(pid, signalOf(ended.size));
        ended.add(pid);
      }
      // The supervisor has restarted the last process, or is restarting it when it is stopped.
      await new Promise((resolve) => setTimeout(resolve, random() * 4_000));
      expect((await running.stop()).code).toBe(0);
      productOutputs.push(running.output());
      expect(running.output()).not.toContain('DOWN');
    }
    expect(ended.size).toBe(SHUTDOWNS);
    const { code, output } = await runRebuild({ root, dataDir, env, args: ['all', '--check'] });
    expect(code, explained(output, productOutputs.join('\n'))).toBe(0);
    expect(output).toContain('"different":[]');
    // The compared tables are not empty.
    const rows = [...output.matchAll(/"table":"fills","rows":"?(\d+)/g)].map((match) => Number(match[1]));
    expect(rows[0]).toBeGreaterThan(10_000);
  },
  TIMEOUT_MS,
);
