import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import { decodeEvent } from '../decode.js';
import { type CatalogRow, type MarketRequest, rowKey } from '../source.js';
import { type FakeGamma, startFakeGamma } from '../testing/fake-gamma.js';
import { closedMarket, numberedCondition, numberedEvent, windowEvent } from '../testing/gamma-rows.js';
import { createGammaClient } from './client.js';
import { createMarketFinder } from './find-markets.js';
import { createGammaSource } from './gamma-source.js';
import { GammaShapeError } from './pages.js';

let server: FakeGamma;
beforeEach(async () => {
  server = await startFakeGamma();
});
afterEach(() => server.stop());

async function allOf(found: AsyncIterable<readonly CatalogRow[]> | []): Promise<CatalogRow[]> {
  const all: CatalogRow[] = [];
  for await (const rows of found) all.push(...rows);
  return all;
}

async function find(lookup: MarketRequest, findPerSecond = 1000) {
  const rejected: string[] = [];
  const metrics = createMetrics({ process: 'test', defaults: false });
  const logger = silentLogger();
  const source = createGammaSource({
    client: createGammaClient({ baseUrl: server.url, logger, metrics, perSecond: 1000, burst: 1000, backoffMs: 1 }),
    host: 'fake',
    logger,
    metrics,
    onRejected: (reason) => rejected.push(reason),
    findPerSecond,
  });
  const rows = await allOf(source.find?.(lookup, new AbortController().signal) ?? []);
  const markets = rows.flatMap((row) => (row.kind === 'catalog_market' ? row.value : []));
  return { rows, markets, rejected };
}
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const paths = () => server.requests.map((request) => request.split('?')[0]);

describe('createMarketFinder', () => {
  it('finds closed markets with their events and tags in two requests', async () => {
    server.events = numbers(1, 51).map((n) => numberedEvent(n));
    const { rows, markets } = await find({ by: 'condition', ids: numbers(1, 51).map(numberedCondition) });
    expect(markets.map(({ question }) => question)).toEqual(numbers(1, 51).map((n) => `Question ${n}?`));
    expect(markets[4]).toMatchObject({ event_id: '5', event_title: 'Event 5', tag_slugs: ['old'], closed: true });
    expect(rows.map(rowKey)).toContain('event:50');
    expect(paths()).toEqual(['/markets', '/events']);
    expect(server.requests[0]).toContain('closed=true&limit=50');
  });

  it('requests open markets for the remaining ids', async () => {
    server.events = [numberedEvent(1), numberedEvent(2, { closed: false })];
    const { markets } = await find({ by: 'condition', ids: [1, 2, 3].map(numberedCondition) });
    expect(markets.map(({ slug }) => slug)).toEqual(['market-1', 'market-2']);
    expect(server.requests.map((request) => /closed=\w+&limit=\d+/.exec(request)?.[0])).toEqual([
      ...['closed=true&limit=3', 'closed=false&limit=2', 'closed=true&limit=2', 'closed=false&limit=1'],
    ]);
  });

  it('finds a market by either of its tokens', async () => {
    server.events = [numberedEvent(1), numberedEvent(2)];
    const { markets } = await find({ by: 'token', ids: ['3', '4', '5', '99'] });
    expect(markets.map(({ slug }) => slug)).toEqual(['market-1', 'market-2']);
    expect(server.requests[0]).toBe(
      '/markets?clob_token_ids=3&clob_token_ids=4&clob_token_ids=5&clob_token_ids=99&closed=true&limit=4',
    );
  });

  it('requests further pages when the service cuts a page', async () => {
    server.events = numbers(1, 51).map((n) => numberedEvent(n));
    server.maxMarkets = 20;
    const { markets } = await find({ by: 'condition', ids: numbers(1, 51).map(numberedCondition) });
    expect(markets).toHaveLength(50);
    expect(paths().filter((path) => path === '/markets')).toHaveLength(3);
  });

  it('returns a market without its event, and rejects an unreadable one', async () => {
    const good = numberedEvent(1);
    const bad = numberedEvent(2);
    const rows = [...good.markets, { ...bad.markets[0], outcomes: '[' }].map((market) => ({
      ...market,
      events: [{ id: '1', slug: 'event-1', title: 'Event 1' }],
    }));
    server.faults.push({ status: 200, body: JSON.stringify(rows) }, { status: 200, body: '[]' });
    const { markets, rejected } = await find({ by: 'condition', ids: [1, 2].map(numberedCondition) });
    expect(markets.map(({ slug, event_title }) => [slug, event_title])).toEqual([['market-1', 'Event 1']]);
    expect(rejected).toEqual(['market: outcomes is not JSON']);
  });

  it('finds a short-form window that no market list contains by its resolution time', async () => {
    // Its window ended at 00:05:00.
    const resolvedMs = [Date.UTC(2026, 6, 24, 0, 5, 20)];
    server.events = [windowEvent({ ...closedMarket, restricted: true } as typeof closedMarket), numberedEvent(1)];
    const ids = [closedMarket.conditionId, numberedCondition(1)];
    const { markets } = await find({ by: 'condition', ids, resolvedMs });
    expect(markets.map(({ slug }) => slug)).toEqual(['market-1', closedMarket.slug]);
    expect((await find({ by: 'condition', ids })).markets).toHaveLength(1);
  });

  it('returns only valid rows or throws a known error for any response', async () => {
    const market = fc.record(
      {
        id: fc.jsonValue(),
        slug: fc.oneof(fc.constant('m'), fc.jsonValue()),
        conditionId: fc.oneof(fc.constant(numberedCondition(1)), fc.jsonValue()),
        clobTokenIds: fc.oneof(fc.constant('["1","2"]'), fc.jsonValue()),
        outcomes: fc.oneof(fc.constant('["Yes","No"]'), fc.jsonValue()),
        events: fc.oneof(fc.constant([{ id: '1', slug: 'e' }]), fc.jsonValue()),
        markets: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    const response = fc.oneof(fc.array(market, { maxLength: 5 }), fc.jsonValue());
    const by = fc.constantFrom('condition' as const, 'token' as const);
    await fc.assert(
      fc.asyncProperty(fc.array(response, { minLength: 1, maxLength: 4 }), by, async (responses, kind) => {
        let requests = 0;
        const finder = createMarketFinder({
          client: { get: () => Promise.resolve(responses[requests++ % responses.length]) },
          decodeEvents: (raws) => raws.flatMap((raw) => decodeEvent(raw).rows),
          reject: () => undefined,
          perSecond: 1e6,
        });
        const ids = kind === 'condition' ? [numberedCondition(1), numberedCondition(2)] : ['1', '9'];
        const found = finder({ by: kind, ids, resolvedMs: [0] }, new AbortController().signal);
        const rows = await allOf(found).catch((error) => {
          expect(error).toBeInstanceOf(GammaShapeError);
          return [];
        });
        for (const row of rows) expect(rowKey(row)).toMatch(/^(market:0x[0-9a-f]{64}|(event|tag|series):.+)$/);
        expect(requests).toBeLessThan(20);
      }),
    );
  });

  it('stays below its request rate', async () => {
    server.events = [numberedEvent(1)];
    const started = performance.now();
    await find({ by: 'condition', ids: [numberedCondition(1), numberedCondition(2)] }, 20);
    // Three requests: the second and the third each 50 ms after the one before.
    expect(server.requests).toHaveLength(3);
    expect(performance.now() - started).toBeGreaterThan(95);
  });
});
