import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { shortHistory } from '../support/short-recording.js';

/** Tables of the groups in /readyz. */
const TABLES = [
  'fills',
  'fills_by_wallet',
  'fills_by_token',
  'blocks',
  'resolutions',
  'wallet_events',
  'collateral_flows',
  'ticks',
  'markets',
  'tokens',
  'positions FINAL',
  'pnl_events FINAL',
];
/** Lists that are not empty once everything is loaded, and their field. */
const LISTS = [
  ['/v3/trades?limit=3', 'trades'],
  ['/v3/resolutions?limit=3', 'resolutions'],
  ['/v1/crypto/markets', 'markets'],
  ['/v3/leaderboard?limit=3', 'leaderboard'],
] as const;

interface ProgressSample {
  readonly ready: number;
  readonly progress: { readonly tables?: readonly { table: string; state: string; percent: number | null }[] };
  readonly counts: readonly number[];
}

let product: Product;
const samples: ProgressSample[] = [];
const unmarked: string[] = [];
const seen = new Map<string, Set<string>>();

const isEmpty = (body: unknown): boolean =>
  typeof body === 'object' &&
  body !== null &&
  Object.values(body).some((value) => Array.isArray(value) && value.length === 0);

beforeAll(async () => {
  product = await startProduct({ env: shortHistory() });
  const key = await eventually('the key', async () => product.key());
  const counts = async () => {
    const parts = TABLES.map((table) => `(SELECT count() FROM ${table})`);
    const rows = await product.sql<Record<string, string>>(
      `SELECT ${parts.map((part, i) => `${part} AS c${i}`).join(', ')}`,
    );
    return TABLES.map((_, i) => Number(rows[0]?.[`c${i}`]));
  };
  const deadline = Date.now() + 240_000;
  for (let isReady = false; !isReady && Date.now() < deadline; ) {
    const ready = await fetch(`${product.api}/readyz`).catch(() => undefined);
    if (ready !== undefined) {
      isReady = ready.status === 200;
      const progress = (await ready.json()) as ProgressSample['progress'];
      samples.push({ ready: ready.status, progress, counts: isReady ? await counts() : [] });
    }
    for (const [path] of isReady ? [] : LISTS) {
      const response = await fetch(product.api + path, { headers: { 'x-api-key': key } }).catch(() => undefined);
      if (response === undefined) continue;
      const body: unknown = await response.json();
      const marked = response.headers.has('x-loading');
      const states = seen.get(path) ?? new Set();
      seen.set(path, states.add(`${response.status}${marked ? ' marked' : ''}`));
      if (response.status === 200 && !marked && isEmpty(body)) unmarked.push(`${path}: ${JSON.stringify(body)}`);
      if (response.status === 503 && response.headers.get('retry-after') === null)
        unmarked.push(`${path}: no retry-after`);
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  await untilUp(product);
}, 300_000);
afterAll(async () => {
  await product.dispose();
}, 30_000);

it('first start: /readyz is 503 until every table has its final rows', async () => {
  const last = samples.at(-1);
  expect(last?.ready, JSON.stringify(last)).toBe(200);
  expect(samples.filter(({ ready }) => ready === 503).length).toBeGreaterThan(5);
  expect(new Set(samples.map(({ ready }) => ready))).toEqual(new Set([200, 503]));
  await new Promise((resolve) => setTimeout(resolve, 5_000));
  const end = await Promise.all(
    TABLES.map(async (table) => Number((await product.sql<{ n: string }>(`SELECT count() AS n FROM ${table}`))[0]?.n)),
  );
  expect(last?.counts).toEqual(end);
  expect(Math.min(...end.filter((_, i) => TABLES[i] !== 'collateral_flows'))).toBeGreaterThan(0);
}, 30_000);

it('first start: /readyz reports the progress of each table', () => {
  const states = samples.flatMap(({ progress }) => progress.tables ?? []);
  expect(new Set(states.filter(({ table }) => table === 'fills').map(({ state }) => state))).toContain('loaded');
  expect(states.some(({ state }) => state === 'empty' || state === 'loading')).toBe(true);
  expect(states.filter(({ percent, state }) => percent === 100 && state !== 'loaded')).toEqual([]);
});

it('first start: no endpoint returns an empty list without loading headers', () => {
  expect(unmarked).toEqual([]);
  for (const [path] of LISTS)
    expect([path, [...(seen.get(path) ?? [])].some((state) => state.startsWith('503'))]).toEqual([path, true]);
});
