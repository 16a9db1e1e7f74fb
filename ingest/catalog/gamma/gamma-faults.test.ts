import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import { type CatalogRow, rowKey } from '../source.js';
import { type FakeGamma, startFakeGamma } from '../testing/fake-gamma.js';
import { twapMarket, windowEvent } from '../testing/gamma-rows.js';
import { createGammaClient } from './client.js';
import { createGammaSource } from './gamma-source.js';

const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000 });

const START_MS = Date.UTC(2026, 7, 22, 16, 2);
const HOUR_MS = 3_600_000;
let nowMs = START_MS;
let server: FakeGamma;
let stop: AbortController;
beforeEach(async () => {
  nowMs = START_MS;
  server = await startFakeGamma();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await server.stop();
});

function setUp(lastWrittenMs: number | null, readUntilMs: number | null = null) {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const logger = silentLogger();
  const client = createGammaClient({ baseUrl: server.url, logger, metrics, perSecond: 1000, burst: 1000 });
  const source = createGammaSource({
    client,
    host: 'fake',
    logger,
    metrics,
    onRejected: (reason) => expect.fail(reason),
    nowMs: () => nowMs,
    lastWrittenMs,
    readUntilMs,
    times: { upDownPollMs: 5, updatedPollMs: 0, reloadMs: HOUR_MS, retryDelayMs: 5 },
  });
  let readUntil: number | null = null;
  return {
    source,
    async load() {
      const rows: CatalogRow[] = [];
      for await (const update of source.load(stop.signal)) {
        if (update.type === 'rows') rows.push(...update.rows);
        if (update.type === 'read_until') readUntil = update.ms;
      }
      return rows;
    },
    /** As last reported by a load. */
    readUntil: () => readUntil,
    /** Runs the increments until `stop`; the rows so far, the requests so far, and the changes of the connection. */
    live() {
      const rows: CatalogRow[] = [];
      const states: boolean[] = [];
      const from = server.requests.length;
      const done = (async () => {
        for await (const update of source.live(stop.signal))
          if (update.type === 'rows') rows.push(...update.rows);
          else if (update.type === 'connected') states.push(update.connected);
      })();
      const requested = (part: string) => server.requests.slice(from).filter((one) => one.includes(part)).length;
      const rounds = async () => {
        const before = requested('order=updatedAt');
        await eventually(() => expect(requested('order=updatedAt')).toBeGreaterThan(before + 4));
      };
      return { rows, states, requested, rounds, done };
    },
  };
}

describe('the list of series, while it is rejected,', () => {
  it('does not keep the events from being loaded, and is read once it is not rejected', async () => {
    const copy = windowEvent(twapMarket).series[0]!;
    server.series = [{ id: copy.id, slug: copy.slug, title: 'From the list', recurrence: '5m' }];
    server.tags = [{ id: '1', slug: 'a', label: 'A' }];
    server.events = [windowEvent(twapMarket)];
    server.rejected = 'exclude_events';
    const source = setUp(null);
    const seriesIn = (rows: readonly CatalogRow[]) =>
      rows.flatMap((row) => (row.kind === 'catalog_series' ? [row.value.title] : []));
    const loaded = await source.load();
    expect(loaded.map(rowKey)).toEqual(expect.arrayContaining(['tag:1', 'event:93763487']));
    expect(seriesIn(loaded)).toEqual([copy.title]);

    const { rows, states, requested, rounds, done } = source.live();
    await rounds();
    expect(requested('exclude_events')).toBeGreaterThan(1);
    server.rejected = null;
    await eventually(() => expect(seriesIn(rows)).toContain('From the list'));
    await rounds();
    const read = requested('exclude_events');
    await rounds();
    expect(requested('exclude_events')).toBe(read);
    // Other requests succeed meanwhile.
    expect(states).toEqual([]);
    stop.abort();
    await done;
  });
});

describe('a page of the open events, while it is rejected,', () => {
  it('does not keep the short-form windows on later pages from being found', async () => {
    const filler = { id: '1', slug: 'event-1', title: 'Event 1', closed: false };
    server.events = [filler, { ...filler, id: '2', slug: 'event-2' }, windowEvent(twapMarket)];
    server.maxRows = 1;
    server.rejected = 'after_cursor';
    const keys: string[] = [];
    for await (const update of setUp(null).source.load(stop.signal)) {
      if (update.type === 'rows') keys.push(...update.rows.map(rowKey));
      if (keys.includes('event:93763487')) server.rejected = null;
    }
    expect(keys.indexOf('event:93763487')).toBeGreaterThan(0);
    expect(keys.indexOf('event:93763487')).toBeLessThan(keys.indexOf('event:2'));
  }, 30_000);
});

describe('updated events', () => {
  const event = (n: number, hours: number, closed: boolean) => ({
    ...{ id: String(n), slug: `event-${n}`, title: `Event ${n}`, closed },
    updatedAt: new Date(START_MS + hours * HOUR_MS).toISOString(),
  });
  /** An open event, and closed ones without an end date: many of yesterday, and one that was closed 50 hours ago. */
  const closedLongAgo = (many: number) => [
    event(0, 0, false),
    ...Array.from({ length: many }, (_, n) => event(n + 1, -24, true)),
    event(many + 1, -50, true),
  ];

  it('are read after a restart since the newest record of the log, also those without an end date', async () => {
    server.events = closedLongAgo(250);
    const rows = await setUp(START_MS - 49.5 * HOUR_MS).load();
    expect(rows.map(rowKey)).toContain('event:251');
  });

  it('that are more than can be read are read after a restart before the next full load', async () => {
    server.events = closedLongAgo(500);
    server.maxRows = 1;
    const first = setUp(START_MS - 72 * HOUR_MS);
    expect((await first.load()).map(rowKey)).not.toContain('event:501');
    server.maxRows = Number.POSITIVE_INFINITY;
    const second = setUp(START_MS, first.readUntil());
    expect((await second.load()).map(rowKey)).toContain('event:501');
    const third = setUp(START_MS, second.readUntil());
    expect((await third.load()).map(rowKey)).not.toContain('event:501');
  });

  it.each([
    ['more than can be read', { maxRows: 1 }, 'offset=500'],
    ['rejected at an offset', { maxRows: 100, rejected: 'offset=100' }, 'offset=100'],
  ])('that are %s are read after the next full load', async (_, limits, rest) => {
    server.events = closedLongAgo(500);
    Object.assign(server, limits);
    const source = setUp(START_MS - 72 * HOUR_MS);
    const keys = (await source.load()).map(rowKey);
    expect(keys).toContain('event:0');
    expect(keys).not.toContain('event:501');
    Object.assign(server, { maxRows: Number.POSITIVE_INFINITY, rejected: null });
    const { rows, requested, rounds, done } = source.live();
    await rounds();
    expect(requested(rest)).toBe(0);
    nowMs += HOUR_MS;
    await eventually(() => expect(rows.map(rowKey)).toContain('event:501'));
    stop.abort();
    await done;
  });
});
