import { chmodSync, type Dirent, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually, type Product, startProduct, untilUp } from '../support/product.js';
import { shortHistory } from '../support/short-recording.js';

const root = mkdtempSync(join(tmpdir(), 'oddstream-first-start-'));
const dataDir = join(root, 'data');

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

/** Children of the directory; none if it was removed meanwhile: directories of table parts come and go while the product runs. */
function childrenOf(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Paths below `directory` that another user may read, write or enter, with their modes. */
function openToOthers(directory: string): readonly string[] {
  return childrenOf(directory).flatMap((entry) => {
    const path = join(directory, entry.name);
    const below = entry.isDirectory() ? openToOthers(path) : [];
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined || (found.mode & 0o077) === 0) return below;
    return [`${relative(dataDir, path)} ${(found.mode & 0o777).toString(8)}`, ...below];
  });
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
  // Others could read the directory before.
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  product = await startProduct({ env: shortHistory(), dataDir });
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
  rmSync(root, { recursive: true, force: true });
});

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
});

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

it('data directory: every file and directory is accessible to its user only, also if others could read it before', () => {
  expect(readdirSync(dataDir)).toEqual(expect.arrayContaining(['clickhouse', 'clickhouse-password', 'dev-key', 'log']));
  expect((statSync(dataDir).mode & 0o777).toString(8)).toBe('700');
  expect(openToOthers(dataDir)).toEqual([]);
});

it('the first start prints the ready key, a later start on the same data directory does not', async () => {
  const printed = (text: string) => text.includes('Ctrl-C stops everything.');
  const key = product.key();
  await eventually('the addresses', async () => printed(product.output()));
  await product.stop();
  const output = product.output();
  expect(key).toMatch(/^\S{20,}$/);
  expect(output.match(/^.*Your key.*$/gm)).toEqual([
    expect.stringContaining(`Your key (enterprise plan, this machine only): ${key}`),
  ]);
  expect(output).toMatch(new RegExp(`^ +Markets and wallets +${product.api}/app#key=${key}$`, 'm'));
  // The key is in the start-up text only, not in the logs of the processes.
  const [before = '', text = ''] = output.split(/^(?=.*REST {5,})/m);
  expect(before).not.toContain(key);
  expect(text.split('Ctrl-C stops everything.').slice(1).join('')).not.toContain(key);
  expect(statSync(join(dataDir, 'dev-key')).mode & 0o777).toBe(0o600);

  const second = await startProduct({ env: shortHistory(), dataDir });
  try {
    await eventually('the addresses of the second start', async () => printed(second.output()), 240_000);
    expect(second.key()).toBe(key);
  } finally {
    await second.stop();
  }
  expect(second.output()).not.toContain(key);
  expect(second.output()).toContain(`Your key (enterprise plan, this machine only): in ${join(dataDir, 'dev-key')}`);
}, 300_000);
