import { setTimeout as sleep } from 'node:timers/promises';
import { createScoreReader } from '../../api/copy-pnl/score-reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { type ClickHouse, createClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { migrations } from '../../processors/migrations.js';
import { copyPeriods, daysOf, periodScoresSql } from '../../schemas/copy-pnl/period-scores.sql.js';
import { startClickHouseProcess } from '../support/clickhouse-process.js';
import { median, quantile, timed } from './measure.js';
import type { Figure } from './report/figure.js';

/** 50 million fills of 2 million wallets over 450 days, drawn with a skew (u^3). ODDSTREAM_BENCH_SHARE scales fills and wallets. */
const SHARE = Number(process.env.ODDSTREAM_BENCH_SHARE ?? 1);
const FILLS = 50_000_000 * SHARE;
const WALLETS = 2_000_000 * SHARE;
const TOKENS = 200_000;
const STEP = 200_000;
const POOL = 1_000;
const RUNS = 7;
const CLIENTS = 20;
const REQUESTS_PER_CLIENT = 15;
const DAY_S = 86_400;
const SPAN_S = 450 * DAY_S;
const NOW_S = 1_790_000_000;

const skewed = (count: number, salt: number) =>
  `toUInt64(${count} * pow(cityHash64(number, ${salt}) / 18446744073709551616., 3))`;
const walletSql = `concat('0x', leftPad(lower(hex(1000000000 + ${skewed(WALLETS, 1)})), 40, '0'))`;
/** Address of the n-th most active wallet. */
const wallet = (n: number): string => `0x${(1_000_000_000 + n).toString(16).padStart(40, '0')}`;
const usdc = '(1 + cityHash64(number, 6) % 99) * 10000';

async function fill(client: ClickHouse): Promise<void> {
  for (let from = 0; from < FILLS; from += STEP) {
    await client.command(
      `INSERT INTO wallet_activity (wallet, timestamp, block_number, log_index, id, action, tokens, amounts, shares, usdc, is_resolved, _offset)
        SELECT ${walletSql}, toDateTime(${NOW_S - SPAN_S} + intDiv(number * ${SPAN_S}, ${FILLS}), 'UTC'), intDiv(number, 10), number % 10, toString(number),
          if(cityHash64(number, 5) % 2 = 0, 'SELL', 'BUY'), [toUInt256(9000000 + ${skewed(TOKENS, 3)})], [1000000], 1000000, ${usdc}, true, number
        FROM numbers(${from}, ${Math.min(STEP, FILLS - from)})`,
      {},
      { settings: { max_threads: 2, max_insert_threads: '1' } },
    );
    process.stderr.write(`\r  rows ${Math.round((from / FILLS) * 100)} %   `);
  }
  process.stderr.write('\r  merging        ');
  await client.command('OPTIMIZE TABLE wallet_activity FINAL');
  process.stderr.write('\r                 \r');
}

interface Row {
  readonly wallet: string;
  readonly ts: number;
  readonly action: string;
  readonly usdc: string;
  readonly shares: string;
}

/** Baseline: computes the same scores from the rows in this process. Returns the sum of the cash flows of the longest period. */
async function scoreInProcess(client: ClickHouse, wallets: readonly string[]): Promise<bigint> {
  const rows = await client.query<Row>(
    `SELECT wallet, toUnixTimestamp(timestamp) AS ts, action, toString(usdc) AS usdc, toString(shares) AS shares FROM wallet_activity FINAL
      WHERE wallet IN {wallets:Array(String)} AND timestamp >= ${NOW_S - 180 * DAY_S} AND timestamp < ${NOW_S}`,
    { wallets },
  );
  const starts = copyPeriods.map((period) => NOW_S - daysOf(period) * DAY_S);
  const scores = new Map(
    wallets.map((address) => [address, starts.map(() => ({ actual: 0n, slippage: 0n, fills: 0 }))]),
  );
  for (const row of rows) {
    const cash = BigInt(row.usdc);
    const cap = BigInt(row.shares) * 100n;
    const slippage = row.action === 'SELL' ? cash * 2n : (cash * 102n < cap ? cash * 102n : cap) - cash * 100n;
    scores.get(row.wallet)?.forEach((score, i) => {
      if (row.ts < (starts[i] ?? 0)) return;
      score.actual += row.action === 'SELL' ? cash : -cash;
      score.slippage += slippage > 0n ? slippage : 0n;
      score.fills += 1;
    });
  }
  return [...scores.values()].reduce((sum, periods) => sum + (periods.at(-1)?.actual ?? 0n), 0n);
}

/** Scores of a pool of 1,000 wallets in six periods, against the same computation in TypeScript; and on-demand scores of single wallets under load. */
export async function run(): Promise<readonly Figure[]> {
  const server = await startClickHouseProcess();
  const client = createClickHouse(
    { ...server, database: 'bench', requestTimeoutMs: 3_600_000 },
    { logger: silentLogger() },
  );
  try {
    await client.ensureDatabase();
    await migrate({ client, migrations, logger: silentLogger() });
    await fill(client);
    const pool = Array.from({ length: POOL }, (_, i) => wallet(Math.floor((i * WALLETS) / POOL / 4)));
    const scoreAll = (wallets: readonly string[] = pool) =>
      client.query<{ period: string; actual: string }>(
        periodScoresSql,
        { wallets, now_s: NOW_S },
        { settings: { max_threads: 2 } },
      );
    const scans = await timed(RUNS, () => scoreAll());
    const inProcessTimes = await timed(5, () => scoreInProcess(client, pool));
    const [scan, inProcess] = [median(scans), median(inProcessTimes)];
    const longest = (await scoreAll()).filter(({ period }) => period === '180d');
    const total = longest.reduce((sum, { actual }) => sum + BigInt(actual), 0n);
    if (total !== (await scoreInProcess(client, pool)))
      throw new Error('The scan and the computation in TypeScript disagree');
    console.log(
      `${POOL} wallets x ${copyPeriods.length} periods over ${FILLS.toLocaleString('en')} fills: scan ${scan.toFixed(0)} ms, in TypeScript ${inProcess.toFixed(0)} ms, ${(inProcess / scan).toFixed(1)}x (goal < 1000 ms)`,
    );

    const scores = createScoreReader({ tables: createClickHouseTables(client) });
    const window = { fromS: NOW_S - 30 * DAY_S, toS: NOW_S };
    const one = () => {
      const n = Math.floor(WALLETS * Math.random() ** 3);
      return scores.score(wallet(n), window, { includeTrades: false, maxTrades: 1 });
    };
    const unloaded = await timed(30, one);
    /** Durations of concurrent requests of all clients; each client sends one per `everyMs`, or with 0 the next one after each response. */
    const load = async (everyMs: number): Promise<readonly number[]> => {
      const times: number[] = [];
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          await sleep((everyMs * client) / CLIENTS);
          for (let i = 0; i < REQUESTS_PER_CLIENT; i++) {
            const startMs = performance.now();
            await one();
            times.push(performance.now() - startMs);
            await sleep(Math.max(0, everyMs - (performance.now() - startMs)));
          }
        }),
      );
      return times;
    };
    /** The durations in five parts, in the order in which the requests ended. */
    const fifths = (times: readonly number[]) =>
      [0, 1, 2, 3, 4].map((n) => times.slice((n * times.length) / 5, ((n + 1) * times.length) / 5));
    const described = (times: readonly number[]) =>
      `p50 ${median(times).toFixed(0)} ms, p99 ${quantile(times, 0.99).toFixed(0)} ms`;
    // The rate limit of a key is one request per 5 s, so this is five times the maximum load of 20 keys.
    const paced = await load(1_000);
    const saturated = await load(0);
    console.log(
      `one wallet, 30 days: one client ${described(unloaded)}; ${CLIENTS} clients, a request a second each: ${described(paced)} (goal 100 ms); without pause: ${described(saturated)}, ${(median(saturated) / median(unloaded)).toFixed(1)}x`,
    );
    const half = pool.filter((_, n) => n % 2 === 0);
    const perWallet = (times: readonly number[], wallets: number) => times.map((ms) => (ms * 1000) / wallets);
    return [
      {
        name: `scores of ${half.length} wallets in six periods`,
        unit: 'µs per wallet',
        better: 'less',
        values: perWallet(await timed(RUNS, () => scoreAll(half)), half.length),
        baseline: { name: 'computed in TypeScript', values: perWallet(inProcessTimes, POOL) },
        twice: { work: `${POOL} wallets`, values: perWallet(scans, POOL) },
      },
      {
        name: `one wallet, p50 with ${CLIENTS} clients, a request a second each`,
        unit: 'ms',
        better: 'less',
        values: fifths(paced).map(median),
        baseline: { name: 'one client', values: fifths(unloaded).map(median) },
      },
    ];
  } finally {
    await client.close();
    await server.stop();
  }
}
