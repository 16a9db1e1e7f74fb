import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryLog } from '../../../infra/log/testing.js';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import { createCodec } from '../../../schemas/codec.js';
import { topicsOnOneMachine } from '../../../schemas/topics.js';
import { createHydrationCounts } from '../hydration-counts.js';
import { type CatalogRow, type CatalogUpdate, rowKey } from '../source.js';
import { type FakeGamma, startFakeGamma } from '../testing/fake-gamma.js';
import { closedMarket, negRiskEvent, twapMarket, windowEvent } from '../testing/gamma-rows.js';
import { createCatalogWriter } from '../writer.js';
import { createGammaClient } from './client.js';
import { createGammaSource, type GammaTimes } from './gamma-source.js';

/** Requests and writes need far longer than the default of one second on a busy machine. */
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000 });

let server: FakeGamma;
let stop: AbortController;
const START_MS = Date.UTC(2026, 7, 22, 16, 2);
let nowMs = START_MS;
const metrics = createMetrics({ process: 'test', defaults: false });
const simpleEvent = (n: number, over: Record<string, unknown> = {}) => ({
  id: String(n),
  slug: `event-${n}`,
  title: `Event ${n}`,
  ...over,
});

function setUp(times: Partial<GammaTimes> = {}) {
  const rejected: string[] = [];
  const payloads: string[] = [];
  const counts = createHydrationCounts();
  const client = createGammaClient({
    baseUrl: server.url,
    logger: silentLogger(),
    metrics,
    counts,
    perSecond: 1000,
    burst: 1000,
    backoffMs: 1,
    attempts: 3,
  });
  const source = createGammaSource({
    client,
    host: 'fake',
    logger: silentLogger(),
    metrics,
    counts,
    onRejected(reason, payload) {
      rejected.push(reason);
      payloads.push(payload);
    },
    nowMs: () => nowMs,
    times: { upDownPollMs: 5, updatedPollMs: 0, reloadMs: 3_600_000, retryDelayMs: 5, ...times },
  });
  return { client, source, rejected, payloads, counts };
}
async function rowsOf(updates: AsyncIterable<CatalogUpdate>): Promise<CatalogRow[]> {
  const rows: CatalogRow[] = [];
  for await (const update of updates) if (update.type === 'rows') rows.push(...update.rows);
  return rows;
}

beforeEach(async () => {
  nowMs = START_MS;
  server = await startFakeGamma();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await server.stop();
});

describe('full load', () => {
  it('pages through series, tags, open and recently closed events', async () => {
    server.series = Array.from({ length: 53 }, (_, n) => ({ id: n, slug: `s${n}`, title: 'S', recurrence: 'daily' }));
    server.tags = Array.from({ length: 101 }, (_, n) => ({ id: `${n}`, slug: `t${n}`, label: 'T' }));
    server.events = [
      ...Array.from({ length: 230 }, (_, n) => simpleEvent(n)),
      negRiskEvent,
      windowEvent(closedMarket, { closed: true, endDate: '2026-08-20T16:02:00Z' }),
      windowEvent(closedMarket, { id: 'too old', closed: true, endDate: '2026-08-20T16:01:59Z' }),
    ];
    const { source, rejected } = setUp();
    const rows = await rowsOf(source.load(stop.signal));
    const count = (kind: string) => rows.filter((row) => row.kind === kind).length;
    expect([count('catalog_series'), count('catalog_event'), count('catalog_market')]).toEqual([54, 232, 3]);
    expect(new Set(rows.map(rowKey)).size).toBe(53 + 1 + 101 + 1 + 232 + 3);
    expect(rejected).toEqual([]);
    expect(server.requests.filter((request) => request.startsWith('/events/keyset?closed=false'))).toHaveLength(3);
    expect(server.requests.at(-1)).toBe(
      '/events/keyset?closed=true&end_date_min=2026-08-20T16%3A02%3A00.000Z&limit=100',
    );
    expect(await metrics.registry.getSingleMetricAsString('oddstream_catalog_token_id_checks_total')).not.toContain(
      'different',
    );
  });

  it('continues after a malformed row, an invalid page and a fault', async () => {
    server.events = [
      simpleEvent(1),
      { id: 2 },
      windowEvent(twapMarket, { markets: [{ ...twapMarket, outcomes: '[' }] }),
    ];
    for (let n = 0; n < 3; n++) server.faults.push({ status: 500, body: '' });
    server.faults.push({ status: 200, body: '{"error":"not a list"}' });
    const { source, rejected } = setUp();
    const states: boolean[] = [];
    const rows: CatalogRow[] = [];
    for await (const update of source.load(stop.signal)) {
      if (update.type === 'connected') states.push(update.connected);
      if (update.type === 'rows') rows.push(...update.rows);
    }
    expect(rows.filter((row) => row.kind === 'catalog_event').map(rowKey)).toEqual(['event:1', 'event:93763487']);
    expect(rejected).toEqual(['event: slug is missing', 'market of event 93763487: outcomes is not JSON']);
    expect(states).toEqual([false, true]);
  });

  it('rejects rows nested too deeply alone, and completes the load', async () => {
    const nested = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`;
    const deep = `{"id":"2","slug":"event-2","title":"Event 2","extra":${nested}}`;
    server.faults.push(
      { status: 200, body: '[]' },
      { status: 200, body: `[${nested},{"id":"1","slug":"a","label":"A"}]` },
      { status: 200, body: '[]' },
      { status: 200, body: `{"events":[${JSON.stringify(simpleEvent(1))},${deep}]}` },
      { status: 200, body: `{"events":[${JSON.stringify(simpleEvent(3))}]}` },
    );
    const { source, rejected, payloads } = setUp();
    const rows = await rowsOf(source.load(stop.signal));
    expect(rows.map(rowKey)).toEqual(['tag:1', 'event:1', 'event:3']);
    expect(rejected).toEqual(['tag: id is missing', 'event: more than 64 levels deep']);
    expect(payloads).toEqual(['{"a":"(nested)"}', '{"id":"2","slug":"event-2","title":"Event 2","extra":"(nested)"}']);
  });

  it('rejects an event with many invalid parts once, with their number', async () => {
    server.events = [
      simpleEvent(1, { markets: Array.from({ length: 5_000 }, () => 0), tags: [null] }),
      simpleEvent(2, { markets: Array.from({ length: 10_001 }, () => 0) }),
    ];
    const { source, rejected } = setUp();
    const rows = await rowsOf(source.load(stop.signal));
    expect(rows.map(rowKey)).toEqual(['event:1', 'event:2']);
    expect(rejected).toEqual([
      '5001 faults: tag: not an object; market of event 1: not an object',
      'event markets has more than 10000 entries',
    ]);
  });

  it('takes a page far longer than requested for a fault of the service', async () => {
    server.faults.push({ status: 200, body: `[${Array.from({ length: 501 }, () => 0).join(',')}]` });
    server.tags = [{ id: '1', slug: 'a', label: 'A' }];
    const { source, rejected, counts } = setUp();
    expect((await rowsOf(source.load(stop.signal))).map(rowKey)).toEqual(['tag:1']);
    expect([rejected, counts.gamma_hydration_parse_errors]).toEqual([[], 1]);
  });

  it('stops at a repeated cursor', async () => {
    server.faults.push(
      { status: 200, body: '[]' },
      { status: 200, body: '[]' },
      { status: 200, body: JSON.stringify({ events: [simpleEvent(1)], next_cursor: 'again' }) },
      { status: 200, body: JSON.stringify({ events: [simpleEvent(2)], next_cursor: 'again' }) },
    );
    expect((await rowsOf(setUp().source.load(stop.signal))).map(rowKey)).toEqual(['event:1', 'event:2']);
  });
});

describe('increments', () => {
  it('finds a window by slug and a change by update time, one write each; a restart writes nothing', async () => {
    const log = createMemoryLog({ topics: topicsOnOneMachine });
    const codec = createCodec();
    const run = async (until: () => Promise<void>) => {
      const writer = createCatalogWriter({ log, codec, metrics, onRejected: (reason) => expect.fail(reason) });
      await writer.restore();
      const own = new AbortController();
      const { source } = setUp();
      const running = (async () => {
        for (const updates of [source.load(own.signal), source.live(own.signal)]) {
          for await (const update of updates) if (update.type === 'rows') await writer.write(update.rows);
        }
      })();
      try {
        await until();
      } finally {
        own.abort();
        await running;
      }
    };
    const keys = () => log.all('catalog').map(({ key }) => key);
    const rounds = (n: number) => {
      const from = server.requests.length;
      return eventually(() =>
        expect(
          server.requests.slice(from).filter((request) => request.includes('order=updatedAt')).length,
        ).toBeGreaterThan(2 * n),
      );
    };

    server.events = [negRiskEvent, simpleEvent(1, { updatedAt: '2026-08-22T15:00:00Z' })];
    await run(async () => {
      await eventually(() => expect(keys()).toHaveLength(6));
      await rounds(2);
      expect(keys()).toHaveLength(6);

      server.events = [...server.events, windowEvent(twapMarket)];
      await eventually(() => expect(keys()).toHaveLength(10));
      expect(keys().slice(6)).toEqual(['tag:21', 'series:10684', 'event:93763487', `market:${twapMarket.conditionId}`]);

      server.events = server.events.map((event) =>
        event.id === '1' ? simpleEvent(1, { volume: 5, updatedAt: '2026-08-22T16:01:00Z' }) : event,
      );
      await eventually(() => expect(keys()).toHaveLength(11));
      await rounds(3);
      expect(keys().slice(10)).toEqual(['event:1']);
    });
    await run(() => rounds(2));
    expect(keys()).toHaveLength(11);
  });

  it('finds what was updated during the full load on a page that it had passed', async () => {
    const minute = (n: number) => ({ updatedAt: new Date(START_MS + n * 60_000).toISOString() });
    server.events = Array.from({ length: 350 }, (_, n) => simpleEvent(n, minute(-100)));
    const { source } = setUp();
    for await (const update of source.load(stop.signal)) {
      if (update.type !== 'rows' || nowMs !== START_MS) continue;
      // The first 100 events have been read: one of them changes, then more than a page of others.
      nowMs = START_MS + 10 * 60_000;
      server.events = server.events.map((_, n) =>
        simpleEvent(n, n === 0 ? { ...minute(3), volume: 5 } : minute(n < 100 ? -100 : n < 300 ? 5 : 10)),
      );
    }
    const found: CatalogRow[] = [];
    const running = (async () => {
      for await (const update of source.live(stop.signal)) if (update.type === 'rows') found.push(...update.rows);
    })();
    await eventually(() =>
      expect(found.some(({ kind, value }) => kind === 'catalog_event' && value.volume === 5)).toBe(true),
    );
    stop.abort();
    await running;
  });

  it('continue after the clock was set back', async () => {
    nowMs = START_MS + 5 * 86_400_000;
    const { source } = setUp({ updatedPollMs: 60_000 });
    await rowsOf(source.load(stop.signal));
    const from = server.requests.length;
    const running = (async () => {
      for await (const _update of source.live(stop.signal));
    })();
    const requested = (part: string) => server.requests.slice(from).some((one) => one.includes(part));
    await eventually(() => expect(requested('slug=')).toBe(true));
    expect(requested('order=updatedAt')).toBe(false);
    nowMs = START_MS;
    await eventually(() => expect(requested('order=updatedAt')).toBe(true));
    stop.abort();
    await running;
  });

  it('continue with other steps while one is rejected', async () => {
    server.events = [simpleEvent(1, { updatedAt: '2026-08-22T15:00:00Z' })];
    const { source } = setUp({ reloadMs: 0 });
    await rowsOf(source.load(stop.signal));
    server.rejected = 'slug=';
    const from = server.requests.length;
    const running = (async () => {
      for await (const _update of source.live(stop.signal));
    })();
    for (const request of ['order=updatedAt', '/events/keyset'])
      await eventually(() => expect(server.requests.slice(from).some((one) => one.includes(request))).toBe(true));
    stop.abort();
    await running;
  });

  it('reports when the service is unreachable and when it is back', async () => {
    const { source } = setUp();
    await rowsOf(source.load(stop.signal));
    const states: string[] = [];
    const running = (async () => {
      for await (const update of source.live(stop.signal))
        if (update.type === 'connected') states.push(String(update.connected));
    })();
    server.faults.push(...Array.from({ length: 3 }, () => ({ status: 500, body: '' })));
    await eventually(() => expect(states).toEqual(['false', 'true']));
    stop.abort();
    await running;
  });
});
