import { setMaxListeners } from 'node:events';
import { Agent, get, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilTablesComplete } from '../support/digest.js';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { createKeys } from './create-keys.js';
import { median } from './measure.js';
import type { Figure } from './report/figure.js';

const ROUNDS = 5;
const ROUND_MS = 8_000;
const WARM_UP_MS = 4_000;
const CLIENTS = 4;
/** Pause of a client between requests. */
const PAUSE_MS = 50;
const ANALYSTS = 12;
/** Many accounts, because the rate limit of one is below the total request rate. */
const ACCOUNTS = 200;
/** Statements that use their whole time and memory limits, and one with a large result. */
const HEAVY = [
  'SELECT count() FROM numbers(1000000000000) WHERE sipHash64(number) = 1',
  'SELECT number % 3000000 AS k, count(), sum(number) FROM numbers(300000000) GROUP BY k ORDER BY k DESC LIMIT 10',
  'SELECT arrayStringConcat(arrayMap(x -> hex(sipHash128(x)), range(100))) AS s FROM numbers(1000000)',
];

/** Latency of /v3/trades without analysts, and with twelve and twice as many whose statements use their whole limits. */
export async function run(): Promise<readonly Figure[]> {
  const product = await startProduct({ env: { RECORDED_HISTORY_ONLY: '1', LOG_LEVEL: 'warn' } });
  try {
    await untilUp(product);
    await untilTablesComplete(product);
    const keys = await createKeys(product, ACCOUNTS);
    await eventually('the last key', async () => {
      const headers = { 'x-api-key': keys.at(-1) ?? '' };
      return (await fetch(`${product.api}/v3/trades?limit=1`, { headers })).status === 200;
    });
    await measure(product, keys, WARM_UP_MS);
    const unloaded: number[] = [];
    const loaded: number[] = [];
    const twice: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      unloaded.push(await measure(product, keys, ROUND_MS));
      for (const [count, times] of [
        [ANALYSTS, loaded],
        [2 * ANALYSTS, twice],
      ] as const) {
        const analysts = startAnalysts(product, count);
        await sleep(1_000);
        times.push(await measure(product, keys, ROUND_MS));
        await analysts.stop();
        await sleep(500);
      }
    }
    const ratio = median(loaded.map((ms, i) => ms / (unloaded[i] ?? Number.NaN)));
    console.log(
      `p99 of GET /v3/trades?limit=100, ${CLIENTS} clients, median of ${ROUNDS} rounds of ${ROUND_MS / 1000} s\n`,
    );
    console.log('| | p99 ms | ratio | goal |\n|---|---|---|---|');
    console.log(`| without analysts | ${median(unloaded).toFixed(1)} | 1 | |`);
    console.log(`| with ${ANALYSTS} analysts | ${median(loaded).toFixed(1)} | ${ratio.toFixed(2)} | <= 3 |`);
    return [
      {
        name: `p99 of GET /v3/trades with ${ANALYSTS} analysts`,
        unit: 'ms',
        better: 'less',
        values: loaded,
        baseline: { name: 'without analysts', values: unloaded },
        twice: { work: `${2 * ANALYSTS} analysts`, values: twice },
      },
    ];
  } finally {
    await product.stop();
  }
}

/** p99 in ms of all clients' requests. */
async function measure(product: Product, keys: readonly string[], ms: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const times: number[] = [];
  const end = performance.now() + ms;
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const started = performance.now();
      get(
        `${product.api}/v3/trades?limit=100`,
        { agent, headers: { 'x-api-key': keys[times.length % keys.length] } },
        (response) => {
          response.resume();
          response.on('end', () => {
            if (response.statusCode !== 200) return reject(new Error(`/v3/trades returned ${response.statusCode}`));
            times.push(performance.now() - started);
            resolve();
          });
        },
      ).on('error', reject);
    });
  const client = async () => {
    while (performance.now() < end) {
      await one();
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  agent.destroy();
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? Number.NaN;
}

function startAnalysts(product: Product, count: number): { stop(): Promise<void> } {
  const stopped = new AbortController();
  setMaxListeners(count * 2, stopped.signal);
  const one = (sql: string) =>
    new Promise<void>((resolve) => {
      const sent = request(product.clickhouse, { method: 'POST', agent: false, signal: stopped.signal }, (response) => {
        response.resume();
        response.on('close', () => resolve());
      });
      sent.on('error', () => resolve());
      sent.end(sql);
    });
  const analyst = async (_: unknown, n: number) => {
    while (!stopped.signal.aborted) await one(HEAVY[n % HEAVY.length] ?? '');
  };
  const all = Array.from({ length: count }, analyst);
  return {
    stop: async () => {
      stopped.abort();
      await Promise.all(all);
    },
  };
}
