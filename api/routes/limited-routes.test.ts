import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { plans } from '../../schemas/plans.js';
import { createResponseCache } from '../cache/response-cache.js';
import type { ApiError } from '../errors/failure.js';
import type { RequestContext, Route } from '../http/route.js';
import { createPnlSeriesReader } from '../pnl-series/series.js';
import type { Readers } from '../readers.js';
import type { Sql, Tables } from '../tables/port.js';
import { createOverlapRoute } from './datasets/overlap.js';
import { createV1PnlRoute } from './v1-wallets/pnl.js';
import { createAllTradesRoutes } from './v2-onchain/all-trades.js';

const NOW_MS = 1_790_000_400_000;
beforeEach(() => void vi.useFakeTimers({ now: NOW_MS }));
afterEach(() => void vi.useRealTimers());

const nowMs = () => Date.now();
const walletOf = (name: string) => `0x${name.charCodeAt(0).toString(16).padStart(40, '0')}`;
const nameOf = (wallet: string) => String.fromCharCode(Number.parseInt(wallet.slice(2), 16));

/** Reads that end on demand, and the names of those that began, in order. */
function createReads() {
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    began,
    read: (name: string) =>
      new Promise<void>((resolve) => {
        began.push(name);
        ends.set(name, resolve);
      }),
    async end(name: string) {
      ends.get(name)?.();
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}
type Reads = ReturnType<typeof createReads>;
const tablesOf = (rows: (sql: Sql) => Promise<readonly unknown[]>): Tables => ({
  reachable: async () => true,
  rows: async <T>(sql: Sql) => (await rows(sql)) as T[],
});

type Create = (reads: Reads) => { readonly route: Route; readonly inputOf: (name: string) => object };
const createOverlap: Create = ({ read }) => {
  const tables = tablesOf(async ({ params }) => {
    if (params.tag_0 === undefined) return [{}];
    await read(String(params.tag_0));
    return [{ id: params.tag_0, size: '0' }];
  });
  const route = createOverlapRoute({ tables, cache: createResponseCache({ nowMs }), nowMs });
  return { route, inputOf: (name) => ({ params: {}, query: new URLSearchParams({ tags: `${name},other` }) }) };
};
/** Path, how long a request waits for its permit, and the route over reads on demand. */
const routes: readonly (readonly [string, number, Create])[] = [
  [
    '/v2/onchain/wallets/{address}/trades/all',
    20_000,
    ({ read }) => {
      const fills = {
        async fills({ wallets }: { wallets: readonly string[] }) {
          await read(nameOf(wallets[0] ?? ''));
          return { rows: [], next: null };
        },
      } as unknown as Readers['fills'];
      const [route] = createAllTradesRoutes({ fills, cache: createResponseCache({ nowMs }), nowMs });
      return { route: route as Route, inputOf: (name) => ({ params: { address: walletOf(name) } }) };
    },
  ],
  [
    '/v1/trader/{wallet}/pnl',
    20_000,
    ({ read }) => {
      const none = async () => new Map();
      const pnlSeries = createPnlSeriesReader({
        tables: tablesOf(async ({ text, params }) => {
          if (!text.includes('uniqCombined')) return [];
          await read(nameOf(String(params.wallet)));
          return [{ groups: 1 }];
        }),
        metadata: { tokensOf: none, marketsOf: none, resolutionsOf: none },
        hourlyCloses: { since: none },
        currentPnl: async () => ({ pnl: async () => 7n, positions: 1_000_000, events: 1_000_000 }),
        nowMs,
      });
      const route = createV1PnlRoute({ pnlSeries, cache: createResponseCache({ nowMs }) });
      return { route, inputOf: (name) => ({ params: { wallet: walletOf(name) } }) };
    },
  ],
  ['/api/datasets/sports-esports/wallets/overlap', 10_000, createOverlap],
];

/** Sends requests to a route with reads on demand; `outcomes` has the status or the kind of error per request. */
function setUp(create: Create) {
  const reads = createReads();
  const { route, inputOf } = create(reads);
  const outcomes = new Map<string, string>();
  const send = async (request: string, name: string, from: { accountId: string } | { clientIp: string }) => {
    const hash = { keyHash: 'k', poolKeyHash: 'k', limitKeyHash: 'k' };
    const caller =
      'accountId' in from ? { ...hash, accountId: from.accountId, plan: 'growth' as const, terms: plans.growth } : null;
    const context: RequestContext = {
      endpoint: route.path,
      requestId: '',
      clientIp: '192.0.2.1',
      headers: {},
      rawQuery: new URLSearchParams(),
      rawBody: null,
      closed: () => new AbortController().signal,
      nowMs: NOW_MS,
      elapsedMs: () => 0,
      session: null,
      ...from,
      caller,
    };
    route.handle({ query: new URLSearchParams(), body: undefined, ...inputOf(name) } as never, context).then(
      () => outcomes.set(request, 'ok'),
      (error: ApiError) => outcomes.set(request, error.failure?.kind ?? String(error)),
    );
    await vi.advanceTimersByTimeAsync(0);
  };
  return { ...reads, send, outcomes };
}

describe.each(routes)('%s', (_path, maxWaitMs, create) => {
  it('loads for an account with a free permit what another account waits to load, and serves both', async () => {
    const { began, end, send, outcomes } = setUp(create);
    await send('first of a', 'x', { accountId: 'a' });
    await send('second of a', 'y', { accountId: 'a' });
    expect(began).toEqual(['x']);
    await send('same of b', 'y', { accountId: 'b' });
    expect(began).toEqual(['x', 'y']);
    await end('y');
    expect(Object.fromEntries(outcomes)).toEqual({ 'same of b': 'ok' });
    // Longer than a request waits for its permit, shorter than the value is cached.
    await vi.advanceTimersByTimeAsync(20_000);
    expect(Object.fromEntries(outcomes)).toEqual({ 'same of b': 'ok', 'second of a': 'ok' });
    expect(began).toEqual(['x', 'y']);
  });

  it('does not reject a request because another one that waits to load the same is rejected', async () => {
    const { began, end, send, outcomes } = setUp(create);
    await send('first of a', 'x', { accountId: 'a' });
    await send('second of a', 'y', { accountId: 'a' });
    await send('first of b', 'z', { accountId: 'b' });
    await vi.advanceTimersByTimeAsync(5_000);
    await send('same of c', 'y', { accountId: 'c' });
    await vi.advanceTimersByTimeAsync(maxWaitMs - 5_000);
    expect(Object.fromEntries(outcomes)).toEqual({ 'second of a': 'rate_limited' });
    await end('z');
    expect(began).toEqual(['x', 'z', 'y']);
    await end('y');
    expect(Object.fromEntries(outcomes)).toEqual({
      'second of a': 'rate_limited',
      'first of b': 'ok',
      'same of c': 'ok',
    });
  });
});

it('overlap of wallets loads for an account at once what an address without a key waits to load', async () => {
  const { began, end, send, outcomes } = setUp(createOverlap);
  await send('first address', 'x', { clientIp: '192.0.2.1' });
  await send('second address', 'y', { clientIp: '192.0.2.2' });
  await send('account', 'y', { accountId: 'a' });
  expect(began).toEqual(['x', 'y']);
  await end('y');
  expect(Object.fromEntries(outcomes)).toEqual({ account: 'ok' });
});
