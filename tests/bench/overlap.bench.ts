import { readFileSync } from 'node:fs';
import { createOverlapReader, type OverlapQuery } from '../../api/overlap/reader.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { type ClickHouse, createClickHouse } from '../../infra/clickhouse/client.js';
import { migrate } from '../../infra/clickhouse/migrations.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { migrations } from '../../processors/migrations.js';
import { createWalletTagsUpdater, type WalletTagsUpdater } from '../../processors/wallet-tags/wallet-tags-updater.js';
import { startClickHouseProcess } from '../support/clickhouse-process.js';
import { quantile } from './measure.js';
import type { Figure } from './report/figure.js';

/** Two million wallets, three positions each on average, in 100,000 markets, and then twice as many. ODDSTREAM_BENCH_SHARE scales wallets and positions. */
const SHARE = Number(process.env.ODDSTREAM_BENCH_SHARE ?? 1);
const WALLETS = 2_000_000 * SHARE;
const MARKETS = 100_000;
const POSITIONS_PER_WALLET = 3;
const STEP = 100_000;
const REQUESTS = 15;
const DIRECT_REQUESTS = 5;
/** Offsets of the positions that change after a first pass. */
const CHANGED_OFFSETS = 10_000;
const GOAL_MS = 300;
const DAY_S = 86_400;
const SPAN_S = 300 * DAY_S;
const END_S = 1_790_000_000;
/** Each has most wallets: every second, third and fifth market, and every one. */
const WIDE = ['second', 'third', 'fifth'];

/** Positions of WALLETS wallets. */
const POSITIONS = WALLETS * POSITIONS_PER_WALLET;
/**
 * Two positions of each wallet; the other third of all positions belongs to few wallets (u^3), as active traders have most of them. Each next POSITIONS
 * numbers belong to the next WALLETS wallets.
 */
const nth = `(number % ${POSITIONS})`;
const owner = `(intDiv(number, ${POSITIONS}) * ${WALLETS}
  + if(${nth} < ${2 * WALLETS}, intDiv(${nth}, 2), toUInt64(${WALLETS} * pow(cityHash64(number, 7) / 18446744073709551616., 3))))`;
const wallet = `concat('0x', lower(hex(substring(sipHash128(${owner}) || sipHash128(${owner}, 1), 1, 20))))`;
const token = `toUInt256(2 * (cityHash64(number, 3) % ${MARKETS}) + cityHash64(number, 4) % 2)`;
/** A Pareto distribution with exponent 1.1, by wallet and by position: 1 USDC at least, as a venue has few large wallets. */
const pareto = (key: string) => `pow(1 - (cityHash64(${key}, 5) % 1000000007) / 1000000007., -1 / 1.1)`;
const usdc = `toUInt64(least(1e15, 1e6 * ${pareto(owner)} * ${pareto('number')}))`;
const fills = `toUInt32(least(1e5, ${pareto('(number, 8)')}))`;
const time = `toDateTime(${END_S - SPAN_S} + cityHash64(number, 6) % ${SPAN_S}, 'UTC')`;

const small = { settings: { max_threads: 2, max_insert_threads: '1' } } as const;

async function fillCatalogue(client: ClickHouse): Promise<void> {
  await client.command(
    `INSERT INTO markets (condition_id, token_ids, tag_slugs, _offset) SELECT concat('0x', hex(number)), [2 * number, 2 * number + 1],
      arrayFilter(tag -> tag != '', ['every', if(number % 2 = 0, 'second', ''), if(number % 3 = 0, 'third', ''), if(number % 5 = 0, 'fifth', ''),
        concat('tag-', toString(number % 1000))]), number FROM numbers(${MARKETS})`,
    {},
    small,
  );
  await client.command(
    `INSERT INTO tokens (token_id, condition_id, outcome_index, _offset) SELECT number, concat('0x', hex(intDiv(number, 2))), number % 2, intDiv(number, 2)
      FROM numbers(${2 * MARKETS})`,
    {},
    small,
  );
}

/** Positions of the `round`-th WALLETS wallets. */
async function fillPositions(client: ClickHouse, round: number): Promise<void> {
  const end = (round + 1) * POSITIONS;
  const offsets = round * CHANGED_OFFSETS;
  for (let from = round * POSITIONS; from < end; from += STEP) {
    const rows = `numbers(${from}, ${Math.min(STEP, end - from)})`;
    await client.command(
      `INSERT INTO positions (wallet, token_id, fills, bought_usdc, version, last_at, _partition, _offset)
        SELECT ${wallet}, ${token}, ${fills}, ${usdc}, 1, ${time}, 0, number + ${offsets} FROM ${rows}`,
      {},
      small,
    );
    await client.command(
      `INSERT INTO pnl_events (wallet, token_id, id, timestamp, action, usdc, _offset)
        SELECT ${wallet}, ${token}, toString(number), ${time}, 'BUY', ${usdc}, number + ${offsets} FROM ${rows}`,
      {},
      small,
    );
    process.stderr.write(`\r  rows ${Math.round(((from - round * POSITIONS) / POSITIONS) * 100)} %   `);
  }
  for (const table of ['positions', 'pnl_events', 'wallet_days']) {
    process.stderr.write(`\r  merging ${table}   `);
    await client.command(`OPTIMIZE TABLE ${table} FINAL`);
  }
  await client.insertRows('sink_progress', [
    { sink: 'positions', topic: 'positions', partition: 0, next_offset: end + offsets },
    { sink: 'catalog', topic: 'catalog', partition: 0, next_offset: MARKETS },
  ]);
  process.stderr.write('\r');
}

/** Baseline: the same page from positions and tags, without the maintained sums. */
const directSql = (tags: readonly string[]) => `SELECT p.wallet AS wallet, sum(p.bought_usdc * length(t.tags)) AS volume
  FROM (SELECT wallet, token_id, bought_usdc FROM positions FINAL) AS p
  INNER JOIN (SELECT token_id, groupUniqArray(tag) AS tags FROM tag_tokens FINAL WHERE tag IN (${tags.map((tag) => `'${tag}'`).join(', ')}) GROUP BY token_id) AS t
    ON t.token_id = p.token_id
  GROUP BY p.wallet HAVING length(groupUniqArrayArray(t.tags)) = ${tags.length} ORDER BY volume DESC, wallet LIMIT 50`;

/** Processor time that a process has used, ms. */
function cpuMsOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const base: OverlapQuery = { tags: WIDE, minVolume: 0n, span: null, sort: 'volume', offset: 0, limit: 50 };
const week = { fromS: END_S - 7 * DAY_S, toS: END_S };
const pages: readonly (readonly [string, Partial<OverlapQuery>])[] = [
  ['three wide tags, by volume', {}],
  ['three wide tags, by fills', { sort: 'fills' }],
  ['three wide tags, by markets', { sort: 'markets' }],
  ['three wide tags, 500 wallets', { limit: 500 }],
  ['a wide and a small tag', { tags: ['every', 'tag-1'] }],
  ['three wide tags, a week', { span: week }],
  ['three wide tags, all but a day', { span: { fromS: 0, toS: END_S - DAY_S } }],
];

/** Passes over the positions of the `round`-th WALLETS wallets, and over a few seconds of a busy venue: a thousand positions of a thousand wallets. */
async function updateTags(client: ClickHouse, updater: WalletTagsUpdater, round: number): Promise<void> {
  const began = performance.now();
  const { wallets } = await updater.update();
  const firstS = (performance.now() - began) / 1000;
  const end = (round + 1) * POSITIONS + round * CHANGED_OFFSETS;
  await client.command(
    `INSERT INTO positions (wallet, token_id, fills, bought_usdc, version, _partition, _offset)
      SELECT wallet, token_id, 2, bought_usdc + 1000000, 2, 0, ${end} + rowNumberInAllBlocks() FROM positions
      WHERE cityHash64(wallet, token_id) % ${Math.ceil(((round + 1) * POSITIONS) / 1000)} = 0`,
  );
  await client.insertRows('sink_progress', [
    { sink: 'positions', topic: 'positions', partition: 0, next_offset: end + CHANGED_OFFSETS },
  ]);
  const again = performance.now();
  const next = await updater.update();
  const nextMs = performance.now() - again;
  console.log(
    `\nFirst pass: ${wallets.toLocaleString('en')} wallets in ${firstS.toFixed(0)} s. Next pass: ${next.wallets.toLocaleString('en')} wallets in ${nextMs.toFixed(0)} ms.`,
  );
  const sizes = await client.query<{ tag: string; rows: string }>(
    `SELECT tag, toString(uniqExact(wallet)) AS rows FROM wallet_tags WHERE tag IN ('every', 'second', 'third', 'fifth', 'tag-1') GROUP BY tag ORDER BY tag`,
  );
  console.log(
    `Wallets per tag: ${sizes.map(({ tag, rows }) => `${tag} ${Number(rows).toLocaleString('en')}`).join(', ')}.\n`,
  );
}

interface PageTimes {
  /** The page of three wide tags from positions and tags, ms. */
  readonly direct: readonly number[];
  /** By name, ms; without those that did not answer in time. */
  readonly pages: ReadonlyMap<string, readonly number[]>;
}

async function measurePages(client: ClickHouse, pid: number): Promise<PageTimes> {
  const reader = createOverlapReader({ tables: createClickHouseTables(client), nowMs: Date.now, budgetMs: 12_000 });
  const direct: number[] = [];
  const cpuBefore = cpuMsOf(pid);
  for (let i = 0; i < DIRECT_REQUESTS; i++) {
    const started = performance.now();
    await client.query(directSql(WIDE), {}, { settings: { max_execution_time: 600 } });
    direct.push(performance.now() - started);
  }
  const directCpuMs = (cpuMsOf(pid) - cpuBefore) / direct.length;
  const baseline = quantile(direct, 0.5);
  console.log(
    '| page | p50 ms | max ms | engine CPU ms | x faster than from positions | goal |\n|---|---|---|---|---|---|',
  );
  console.log(
    `| three wide tags, from positions and tags (baseline) | ${baseline.toFixed(0)} | ${Math.max(...direct).toFixed(0)} | ${directCpuMs.toFixed(0)} | 1 | |`,
  );
  const measured = new Map<string, readonly number[]>();
  for (const [name, over] of pages) {
    const times: number[] = [];
    let failure = '';
    const cpuStart = cpuMsOf(pid);
    for (let i = 0; i < REQUESTS && failure === ''; i++) {
      const started = performance.now();
      try {
        await reader.page({ ...base, ...over });
        times.push(performance.now() - started);
      } catch (error) {
        failure = error instanceof Error ? error.message : String(error);
      }
    }
    if (failure === '') measured.set(name, times);
    const p50 = quantile(times, 0.5);
    const cpuMs = (cpuMsOf(pid) - cpuStart) / times.length;
    console.log(
      failure === ''
        ? `| ${name} | ${p50.toFixed(0)} | ${Math.max(...times).toFixed(0)} | ${cpuMs.toFixed(0)} | ${(baseline / p50).toFixed(1)} | < ${GOAL_MS} |`
        : `| ${name} | not in time: ${failure} | | | | |`,
    );
  }
  return { direct, pages: measured };
}

/**
 * Wallets of several tags: time of a page without any cache, compared with the same page computed from positions in the same run, and with that of twice
 * as many wallets.
 */
export async function run(): Promise<readonly Figure[]> {
  process.env.CLICKHOUSE_EMBEDDED_MEMORY_MB ??= '3000';
  const engine = await startClickHouseProcess();
  const client = createClickHouse(
    { ...engine, database: 'bench', requestTimeoutMs: 3_600_000 },
    { logger: silentLogger() },
  );
  try {
    await client.ensureDatabase();
    await migrate({ client, migrations, logger: silentLogger() });
    await fillCatalogue(client);
    const updater = createWalletTagsUpdater({
      clickhouse: client,
      logger: silentLogger(),
      metrics: createMetrics({ process: 'bench', defaults: false }),
      nowMs: Date.now,
    });
    const measured: PageTimes[] = [];
    for (const round of [0, 1]) {
      await fillPositions(client, round);
      await updateTags(client, updater, round);
      measured.push(await measurePages(client, engine.pid));
    }
    const [once, twice] = measured;
    return [...(once?.pages ?? [])].map(([name, values]): Figure => {
      const doubled = twice?.pages.get(name);
      return {
        name,
        unit: 'ms',
        better: 'less',
        values,
        baseline: { name: 'from positions and tags', values: once?.direct ?? [] },
        ...(doubled === undefined
          ? {}
          : { twice: { work: `${(2 * WALLETS).toLocaleString('en')} wallets`, values: doubled, whole: true } }),
      };
    });
  } finally {
    await client.close();
    await engine.stop();
  }
}
