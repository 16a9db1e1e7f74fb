import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilTablesComplete } from '../support/digest.js';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { createKeys } from './create-keys.js';
import { BUILDER, condition, fillVenue, token, untilSettled, type Venue, WIDE_TAG, wallet } from './reads-venue.js';

/** 50 million fills of 2 million wallets in 200,000 tokens, all of one tag besides others; fewer by hand, for a first look, but as many tokens. */
const SHARE = Number(process.env.ODDSTREAM_BENCH_SHARE ?? 1);
const VENUE: Venue = { fills: 50_000_000 * SHARE, wallets: 2_000_000 * SHARE, tokens: 200_000 };
const CLIENTS = 50;
const SECONDS = Number(process.env.ODDSTREAM_BENCH_SECONDS ?? 20);
const WARM_UP_SECONDS = 5;
/** A client asks again after this: a page that refreshes. */
const PAUSE_MS = 1_000;
/** An account's own limit is below what all clients ask together; the equity of a wallet may be asked for once in 10 s. */
const ACCOUNTS = 600;

/** Most active ones are asked for most. */
const drawn = (count: number) => Math.floor(count * Math.random() ** 3);
const aWallet = () => wallet(drawn(VENUE.wallets));
const aToken = () => token(drawn(VENUE.tokens));
const aCondition = () => condition(drawn(VENUE.tokens / 2));

interface RequestKind {
  readonly name: string;
  readonly goalMs: number;
  readonly path: () => string;
  /** Its limit per key forbids asking again at once. */
  readonly rare?: true;
}

const requestKinds: readonly RequestKind[] = [
  { name: 'wallet trades', goalMs: 50, path: () => `/v3/wallets/${aWallet()}/trades?limit=100` },
  { name: 'market trades', goalMs: 50, path: () => `/v3/markets/${aToken()}/trades?limit=100` },
  { name: 'wallet positions', goalMs: 50, path: () => `/v3/wallets/${aWallet()}/positions?limit=100` },
  { name: 'top traders', goalMs: 50, path: () => `/v1/markets/${aCondition()}/positions` },
  { name: 'candles', goalMs: 50, path: () => `/v3/markets/${aToken()}/candles?resolution=1h` },
  { name: 'pnl series', goalMs: 150, path: () => `/v1/trader/${aWallet()}/pnl?period=1M` },
  { name: 'equity', goalMs: 150, path: () => `/v2/trader/${aWallet()}/equity`, rare: true },
  { name: 'leaderboard', goalMs: 150, path: () => '/v3/leaderboard?limit=100' },
  {
    name: 'positions of a wide tag',
    goalMs: 300,
    path: () => `/v2/onchain/positions?tag_slug=${WIDE_TAG}&pagination_key=${aWallet()}-${aToken()}`,
  },
  {
    name: 'builder trades of a wide tag',
    goalMs: 300,
    path: () =>
      `/v3/builders/${BUILDER}/trades?tag_slug=${WIDE_TAG}&before=${Math.floor(Date.now() / 1000) - drawn(30_000_000)}`,
  },
  { name: 'leaderboard of a wide tag', goalMs: 300, path: () => `/v3/leaderboard?category=${WIDE_TAG}&limit=100` },
  { name: "a wide tag's leaderboard", goalMs: 300, path: () => `/v3/tags/${WIDE_TAG}/leaderboard?limit=100` },
  { name: 'pnl in a wide tag', goalMs: 300, path: () => `/v3/wallets/${aWallet()}/pnl?tags=${WIDE_TAG}`, rare: true },
];

const quantile = (sorted: readonly number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;

/** Resolves when the api holds what it takes in ahead of questions: the markets, and series of the wallets that are the largest by now. */
async function untilWarm(product: Product): Promise<void> {
  const [settled] = await product.sql<{ at: string }>('SELECT toUnixTimestamp(now()) AS at');
  await eventually(
    'a picture of all wallets',
    async () => {
      const [row] = await product.sql<{ n: string }>(
        `SELECT count() AS n FROM leaderboards WHERE board = 'positions' AND toUnixTimestamp(taken_at) > ${settled?.at}`,
      );
      return Number(row?.n) > 0;
    },
    1_200_000,
  );
  const passes = async () =>
    (await product.series('api', 'oddstream_api_cache_warmup_passes_total')).find(([labels]) =>
      labels.includes('api_cache_warmup_pnl_series'),
    )?.[1] ?? 0;
  const before = await passes();
  await eventually(
    'the api to hold the markets and the series of the largest wallets',
    async () => {
      const markets = await product.metric('api', 'oddstream_api_cache_warmup_markets');
      // The pass that was under way may have begun before the picture.
      return markets >= Math.min(100_000, VENUE.tokens / 2) && (await passes()) >= before + 2;
    },
    2_400_000,
  );
}

interface Result {
  readonly times: number[];
  readonly bytes: number;
  readonly perSecond: number;
}

/** Keys take turns, over all questions. */
let nextKeyIndex = 0;

/** All clients ask the same kind of question, each about something else, for as long as said. `pauseMs` 0: again at once. */
async function measureRequests(
  product: Product,
  keys: readonly string[],
  { path }: RequestKind,
  options: { seconds: number; pauseMs: number },
): Promise<Result> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const times: number[] = [];
  let bytes = 0;
  const end = performance.now() + options.seconds * 1000;
  const one = (url: string, key: string) =>
    new Promise<void>((resolve, reject) => {
      const started = performance.now();
      get(url, { agent, headers: { 'x-api-key': key } }, (response) => {
        let size = 0;
        let text = '';
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (response.statusCode !== 200) text += chunk;
        });
        response.on('end', () => {
          if (response.statusCode !== 200) return reject(new Error(`${response.statusCode} for ${url}: ${text}`));
          times.push(performance.now() - started);
          bytes += size;
          resolve();
        });
      }).on('error', reject);
    });
  const client = async (n: number) => {
    if (options.pauseMs > 0) await sleep((options.pauseMs * n) / CLIENTS);
    while (performance.now() < end) {
      const started = performance.now();
      await one(product.api + path(), keys[nextKeyIndex++ % keys.length]!);
      if (options.pauseMs > 0) await sleep(Math.max(0, options.pauseMs - (performance.now() - started)));
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)));
  agent.destroy();
  return { times: times.sort((a, b) => a - b), bytes, perSecond: times.length / options.seconds };
}

const residentMb = (pid: number | null, field: 'VmRSS' | 'VmHWM') =>
  Math.round(
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  );

/**
 * The REST API over a large venue, made up inside the engine: how long an answer takes 50 clients that ask once a second each, and how many answers
 * a second there are when they ask again at once. The baseline is the smallest question there is, a token by its id, in the same run.
 */
export async function run(): Promise<void> {
  const product = await startProduct({
    env: {
      RECORDED_HISTORY_ONLY: '1',
      LOG_LEVEL: 'warn',
      CLICKHOUSE_EMBEDDED_MEMORY_MB: '4000',
      // While a table is filled it grows by more than a two-hundredth a minute.
      COMPACTION_EVERY_S: '60',
    },
  });
  try {
    await untilUp(product);
    await untilTablesComplete(product);
    const keys = await createKeys(product, ACCOUNTS);
    const began = performance.now();
    await fillVenue(product, VENUE, (step) => process.stderr.write(`\r  ${step}          `));
    process.stderr.write('\r  putting tables together');
    await untilSettled(product, 1_800_000);
    process.stderr.write('\r  warming up             ');
    await eventually(
      'a picture of the wide tag',
      async () => (await product.sql(`SELECT 1 FROM tag_leaderboards WHERE tag = '${WIDE_TAG}' LIMIT 1`)).length > 0,
      1_200_000,
    );
    await untilWarm(product);
    const tookS = (performance.now() - began) / 1000;
    process.stderr.write('\r');
    console.log(
      `${VENUE.fills.toLocaleString('en')} fills, ${VENUE.wallets.toLocaleString('en')} wallets, ${VENUE.tokens.toLocaleString('en')} tokens, made in ${tookS.toFixed(0)} s`,
    );
    const baseline: RequestKind = { name: 'a token (baseline)', goalMs: 50, path: () => `/v3/tokens/${aToken()}` };
    await eventually('the keys to work', async () => {
      await measureRequests(product, keys, baseline, { seconds: 0.1, pauseMs: 0 });
      return true;
    });
    const rows: Record<string, string | number>[] = [];
    let baselineP50 = 1;
    for (const question of [baseline, ...requestKinds]) {
      await measureRequests(product, keys, question, { seconds: WARM_UP_SECONDS, pauseMs: PAUSE_MS });
      const { times, bytes } = await measureRequests(product, keys, question, { seconds: SECONDS, pauseMs: PAUSE_MS });
      const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
      if (question === baseline) baselineP50 = p50;
      const rush = question.rare ? null : await measureRequests(product, keys, question, { seconds: 5, pauseMs: 0 });
      process.stderr.write(`  ${question.name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`);
      rows.push({
        question: question.name,
        asked: times.length,
        'p50 ms': p50.toFixed(1),
        'p99 ms': p99.toFixed(1),
        'goal p99 ms': question.goalMs,
        'x baseline p50': (p50 / baselineP50).toFixed(1),
        'KB/answer': (bytes / times.length / 1024).toFixed(1),
        'answers/s, no pause': rush?.perSecond.toFixed(0) ?? '-',
        'p99 ms, no pause': rush === null ? '-' : quantile(rush.times, 0.99).toFixed(0),
      });
    }
    console.table(rows);
    const api = product.pid('api');
    console.log(`api: ${residentMb(api, 'VmRSS')} MB resident, ${residentMb(api, 'VmHWM')} MB at most (goal < 400)`);
  } finally {
    await product.dispose();
  }
}
