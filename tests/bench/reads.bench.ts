import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { untilTablesComplete } from '../support/digest.js';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { createKeys } from './create-keys.js';
import { median, quantile } from './measure.js';
import { usageOf } from './process-usage.js';
import { BUILDER, condition, fillVenue, token, untilSettled, type Venue, WIDE_TAG, wallet } from './reads-venue.js';
import { type Figure, PER_THOUSAND_REQUESTS } from './report/figure.js';

/** 50 million fills of 2 million wallets in 200,000 tokens; all markets share one wide tag. ODDSTREAM_BENCH_SHARE scales fills and wallets, not tokens. */
const SHARE = Number(process.env.ODDSTREAM_BENCH_SHARE ?? 1);
const VENUE: Venue = { fills: 50_000_000 * SHARE, wallets: 2_000_000 * SHARE, tokens: 200_000 };
const CLIENTS = Number(process.env.ODDSTREAM_BENCH_CLIENTS ?? 50);
const SECONDS = Number(process.env.ODDSTREAM_BENCH_SECONDS ?? 30);
/** The measured time of a kind is divided into so many parts, each with figures of its own. */
const PARTS = 5;
const WARM_UP_SECONDS = 5;
const SINGLE_CLIENT_SECONDS = 5;
/** Between the requests of a single client where a rate limit per key forbids more. */
const RARE_PAUSE_MS = 50;
/** Interval between the requests of a client, like a page that refreshes. */
const PAUSE_MS = 1_000;
/** Many accounts, because the rate limit of one is below the total request rate; equity allows one request per 10 s. */
const ACCOUNTS = 1_200;

/** Random index, skewed to small ones: the most active items are requested most. */
const drawn = (count: number) => Math.floor(count * Math.random() ** 3);
const aWallet = () => wallet(drawn(VENUE.wallets));
const aToken = () => token(drawn(VENUE.tokens));
const aCondition = () => condition(drawn(VENUE.tokens / 2));

interface RequestKind {
  readonly name: string;
  readonly goalMs: number;
  readonly path: () => string;
  /** Its rate limit per key forbids requests without a pause. */
  readonly rare?: true;
  /** Default CLIENTS; fewer where the endpoint limits concurrent requests of twice as many. */
  readonly clients?: number;
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
  {
    name: 'leaderboard of a wide tag and one in it',
    goalMs: 300,
    path: () => `/v3/leaderboard?tags=${WIDE_TAG},tag-1&limit=100`,
  },
  { name: 'tag leaderboard of a wide tag', goalMs: 300, path: () => `/v3/tags/${WIDE_TAG}/leaderboard?limit=100` },
  {
    name: 'pnl in a wide tag',
    goalMs: 300,
    path: () => `/v3/wallets/${aWallet()}/pnl?tags=${WIDE_TAG}`,
    rare: true,
    clients: 5,
  },
];

/** Resolves when there is a leaderboard snapshot of all wallets and the API has the markets in its cache. */
async function untilWarm(product: Product): Promise<void> {
  const [settled] = await product.sql<{ at: string }>('SELECT toUnixTimestamp(now()) AS at');
  // A started process takes a snapshot at once; later ones may use 1/25 of the time, and one of all wallets takes more than a minute here.
  const processors = product.pid('processors');
  if (processors !== null) process.kill(processors, 'SIGTERM');
  await eventually(
    'a leaderboard snapshot of all wallets',
    async () => {
      const [row] = await product.sql<{ n: string }>(
        `SELECT count() AS n FROM leaderboards WHERE board = 'positions' AND toUnixTimestamp(taken_at) > ${settled?.at}`,
      );
      return Number(row?.n) > 0;
    },
    1_200_000,
  );
  await eventually(
    'the API cache of markets',
    async () => (await product.metric('api', 'oddstream_api_cache_warmup_markets')) >= VENUE.tokens / 2,
    2_400_000,
  );
}

interface Result {
  /** Sorted, ms. */
  readonly times: number[];
  readonly bytes: number;
  readonly perSecond: number;
}

interface Part extends Result {
  /** Processor time of each process, s. */
  readonly cpuS: readonly [api: number, clickhouse: number];
}

/** Round-robin over the keys, for all request kinds. */
let nextKeyIndex = 0;

/** `clients`, by default all, send requests of one kind, each for other items, for `seconds`. `pauseMs` 0: without a pause. */
async function measureRequests(
  product: Product,
  keys: readonly string[],
  { path, clients: most = CLIENTS }: RequestKind,
  options: { seconds: number; pauseMs: number; clients?: number },
): Promise<Result> {
  const clients = options.clients ?? most;
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
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
    if (options.pauseMs > 0) await sleep((options.pauseMs * n) / clients);
    while (performance.now() < end) {
      const started = performance.now();
      await one(product.api + path(), keys[nextKeyIndex++ % keys.length]!);
      if (options.pauseMs > 0) await sleep(Math.max(0, options.pauseMs - (performance.now() - started)));
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)));
  agent.destroy();
  return { times: times.sort((a, b) => a - b), bytes, perSecond: times.length / options.seconds };
}

const residentMb = (pid: number | null, field: 'VmRSS' | 'VmHWM') =>
  Math.round(
    Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
  );

/**
 * The REST API over a large synthetic venue: response times for 50 clients, and for twice as many, with one request per second each, for one client, and
 * responses per second without a pause between requests. The baseline is the cheapest request, a token by its id, in the same run.
 */
export async function run(): Promise<readonly Figure[]> {
  const product = await startProduct({
    env: {
      RECORDED_HISTORY_ONLY: '1',
      LOG_LEVEL: 'warn',
      CLICKHOUSE_EMBEDDED_MEMORY_MB: '4000',
      // Compaction must run often, because the tables grow quickly while they are filled.
      COMPACTION_EVERY_S: '60',
      // All of them.
      API_CACHED_MARKETS: String(VENUE.tokens / 2),
    },
  });
  try {
    await untilUp(product);
    await untilTablesComplete(product);
    const keys = await createKeys(product, ACCOUNTS);
    const began = performance.now();
    await fillVenue(product, VENUE, (step) => process.stderr.write(`\r  ${step}          `));
    process.stderr.write('\r  waiting for merges      ');
    await untilSettled(product, 1_800_000);
    process.stderr.write('\r  warming up             ');
    await eventually(
      'a leaderboard snapshot of the wide tag',
      async () => (await product.sql(`SELECT 1 FROM tag_leaderboards WHERE tag = '${WIDE_TAG}' LIMIT 1`)).length > 0,
      1_200_000,
    );
    await untilWarm(product);
    const tookS = (performance.now() - began) / 1000;
    process.stderr.write('\r');
    console.log(
      `${VENUE.fills.toLocaleString('en')} fills, ${VENUE.wallets.toLocaleString('en')} wallets, ${VENUE.tokens.toLocaleString('en')} tokens, created in ${tookS.toFixed(0)} s`,
    );
    const baseline: RequestKind = { name: 'a token (baseline)', goalMs: 50, path: () => `/v3/tokens/${aToken()}` };
    await eventually('the keys to work', async () => {
      await measureRequests(product, keys, baseline, { seconds: 0.1, pauseMs: 0 });
      return true;
    });
    const rows: Record<string, string | number>[] = [];
    let baselineP50 = 1;
    let baselineParts: readonly number[] = [];
    const figures: Figure[] = [];
    const cpuS = (name: 'api' | 'clickhouse') => (usageOf(product.pid(name) ?? -1)?.cpuMs ?? Number.NaN) / 1000;
    const measureParts = async (kind: RequestKind, clients: number): Promise<readonly Part[]> => {
      const options = { seconds: SECONDS / PARTS, pauseMs: PAUSE_MS, clients };
      const parts: Part[] = [];
      for (let part = 0; part < PARTS; part++) {
        const before = [cpuS('api'), cpuS('clickhouse')] as const;
        const measured = await measureRequests(product, keys, kind, options);
        parts.push({ ...measured, cpuS: [cpuS('api') - before[0], cpuS('clickhouse') - before[1]] });
      }
      return parts;
    };
    for (const kind of [baseline, ...requestKinds]) {
      await measureRequests(product, keys, kind, { seconds: WARM_UP_SECONDS, pauseMs: PAUSE_MS });
      const clients = kind.clients ?? CLIENTS;
      const parts = await measureParts(kind, clients);
      const twice = await measureParts(kind, 2 * clients);
      const times = parts.flatMap((part) => part.times);
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
      const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
      const figure = (name: string, unit: string, of: (part: Part) => number): Figure => ({
        name: `${kind.name}, ${name}`,
        unit,
        better: 'less',
        values: parts.map(of),
        twice: { work: `${2 * clients} clients`, values: twice.map(of) },
      });
      const cost = (process: 0 | 1) => (part: Part) => (part.cpuS[process] / part.times.length) * 1000;
      const p50s = figure('p50', 'ms', (part) => quantile(part.times, 0.5));
      if (kind === baseline) [baselineP50, baselineParts] = [p50, p50s.values];
      figures.push(
        kind === baseline ? p50s : { ...p50s, baseline: { name: 'a token by its id', values: baselineParts } },
        figure('p99', 'ms', (part) => quantile(part.times, 0.99)),
        figure('api', PER_THOUSAND_REQUESTS, cost(0)),
        figure('clickhouse', PER_THOUSAND_REQUESTS, cost(1)),
      );
      const single = await measureRequests(product, keys, kind, {
        seconds: SINGLE_CLIENT_SECONDS,
        pauseMs: kind.rare ? RARE_PAUSE_MS : 0,
        clients: 1,
      });
      const unpaced = kind.rare ? null : await measureRequests(product, keys, kind, { seconds: 5, pauseMs: 0 });
      process.stderr.write(`  ${kind.name}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms\n`);
      rows.push({
        request: kind.name,
        requests: times.length,
        'p50 ms': p50.toFixed(1),
        'p99 ms': p99.toFixed(1),
        'p50 ms, twice': median(twice.map((part) => quantile(part.times, 0.5))).toFixed(1),
        'p99 ms, twice': median(twice.map((part) => quantile(part.times, 0.99))).toFixed(1),
        'goal p99 ms': kind.goalMs,
        '1 client p50 ms': quantile(single.times, 0.5).toFixed(1),
        '1 client p99 ms': quantile(single.times, 0.99).toFixed(1),
        'x baseline p50': (p50 / baselineP50).toFixed(1),
        'KB/response': (bytes / times.length / 1024).toFixed(1),
        'responses/s, no pause': unpaced?.perSecond.toFixed(0) ?? '-',
        'p99 ms, no pause': unpaced === null ? '-' : quantile(unpaced.times, 0.99).toFixed(0),
      });
    }
    console.table(rows);
    const api = product.pid('api');
    console.log(`api: ${residentMb(api, 'VmRSS')} MB resident, ${residentMb(api, 'VmHWM')} MB peak (goal < 400)`);
    return figures;
  } finally {
    await product.dispose();
  }
}
