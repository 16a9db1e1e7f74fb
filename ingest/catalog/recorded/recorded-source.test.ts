import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createMemoryLog } from '../../../infra/log/testing.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import { createCodec } from '../../../schemas/codec.js';
import { topicsOnOneMachine } from '../../../schemas/topics.js';
import type { CatalogMarket } from '../../../schemas/types.gen.js';
import { createLiveMarkets, openRecording, type Recording } from '../../shared/recorded/index.js';
import { type CatalogRow, type CatalogUpdate, rowKey } from '../source.js';
import { createCatalogWriter } from '../writer.js';
import { createRecordedCatalogSource } from './recorded-source.js';

const codec = createCodec();
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** 07:32:10 UTC, some months after the recording. */
const now = Date.UTC(2026, 10, 21, 7, 32, 10);
let recording: Recording;

beforeAll(() => {
  recording = openRecording(fileURLToPath(new URL('../../../tests/recorded/set', import.meta.url)));
});

const sourceAt = (nowMs: () => number, over: { lastWrittenMs?: number; historyOnly?: boolean } = {}) =>
  createRecordedCatalogSource({
    recording,
    lastWrittenMs: null,
    onRejected: (reason) => expect.fail(reason),
    nowMs,
    pollMs: 1,
    ...over,
  });

async function rowsOf(updates: AsyncIterable<CatalogUpdate>): Promise<CatalogRow[]> {
  const rows: CatalogRow[] = [];
  for await (const update of updates) if (update.type === 'rows') rows.push(...update.rows);
  return rows;
}
const load = (source: ReturnType<typeof sourceAt>) => rowsOf(source.load(new AbortController().signal));
const marketsBySlug = (rows: readonly CatalogRow[]) =>
  new Map(rows.flatMap((row) => (row.kind === 'catalog_market' ? [[row.value.slug, row.value] as const] : [])));
const newWriter = (log: ReturnType<typeof createMemoryLog>, nowMs: number) =>
  createCatalogWriter({
    log,
    codec,
    metrics: createMetrics({ process: 'test', defaults: false }),
    onRejected: (reason) => expect.fail(reason),
    nowMs: () => nowMs,
  });

describe('full load', () => {
  it('contains every recorded market, event, series and tag', async () => {
    const source = sourceAt(() => now);
    const rows = await load(source);
    const keys = new Set(rows.map(rowKey));
    for (const { conditionId } of recording.markets) expect(keys).toContain(`market:${conditionId}`);
    for (const { id, slug } of recording.series) expect(keys).toContain(`series:${id ?? `r-${slug}`}`);
    for (const { id } of recording.tags) expect(keys).toContain(`tag:${id}`);
    expect(keys).toContain('event:30829');
    expect(rows.filter((row) => row.kind === 'catalog_market')).toHaveLength(source.totalMarkets ?? 0);
    expect(source.shiftDays).toBe(120);
  });

  it('has the recorded outcome of every window, at its recorded time and 120 days later', async () => {
    const markets = marketsBySlug(await load(sourceAt(() => now)));
    const day = recording.markets.slice(0, recording.meta.day.markets);
    let moved = 0;
    for (const recorded of day) {
      const prices = recorded.outcome === 0 ? ['1', '0'] : ['0', '1'];
      expect(markets.get(recorded.slug)).toMatchObject({ closed: true, outcome_prices: prices });
      const startS = recorded.startS! + 120 * 86_400;
      const later = markets.get(`btc-updown-5m-${startS}`);
      const resolvedMs = (recorded.resolvedS! + 120 * 86_400) * 1000;
      const inside = startS * 1000 >= now - 3 * HOUR && recorded.startS! * 1000 < recording.meta.day.from_ms + DAY;
      if (!inside || later === undefined) continue;
      moved++;
      expect(later.event_start_ms).toBe(startS * 1000);
      expect(later.end_ms).toBe((startS + 300) * 1000);
      expect(later.closed).toBe(resolvedMs <= now);
      expect(later.outcome_prices).toEqual(resolvedMs <= now ? prices : ['0.5', '0.5']);
      expect(later.closed_ms).toBe(resolvedMs <= now ? resolvedMs : null);
    }
    // From 04:35 to midnight.
    expect(moved).toBe(233);
  });

  it('has the current window of the recorded coins, with the ids of the shared timeline', async () => {
    const markets = marketsBySlug(await load(sourceAt(() => now)));
    const startS = now / 1000 - ((now / 1000) % 300);
    const shared = createLiveMarkets(recording);
    for (const coin of ['btc', 'eth', 'sol', 'xrp']) {
      const market = markets.get(`${coin}-updown-5m-${startS}`);
      const expected = shared.find(coin, '5m', startS);
      expect(market).toMatchObject({
        active: true,
        closed: false,
        crypto_asset: coin,
        crypto_duration: '5m',
        condition_id: expected?.conditionId,
        token_ids: expected?.tokenIds,
        event_slug: market?.slug,
      });
      expect(market?.question).toMatch(/Up or Down - November 21, 2:30AM-2:35AM ET$/);
    }
  });

  it('has only recorded rows in history-only mode, and is not reported as disconnected', async () => {
    const source = sourceAt(() => now, { historyOnly: true });
    expect(source.totalMarkets).toBe(recording.markets.length);
    expect(marketsBySlug(await load(source)).size).toBe(recording.markets.length);
    const updates = [];
    for await (const update of source.live(new AbortController().signal)) updates.push(update);
    expect(updates).toEqual([{ type: 'connected', connected: true, detail: 'at its end' }]);
  });
});

describe('live', () => {
  it('opens and closes windows at the times of the model', async () => {
    let clock = now;
    const source = sourceAt(() => clock);
    await load(source);
    const stop = new AbortController();
    const seen: string[] = [];
    const shared = createLiveMarkets(recording);
    const endMs = now + 65 * 60_000;
    const expected = shared
      .between((now - DAY) / 1000, (now + 2 * DAY) / 1000)
      .flatMap((market) => [
        { atMs: market.createdS! * 1000, line: `open ${market.slug}` },
        { atMs: (market.resolvedS ?? market.endS!) * 1000, line: `closed ${market.slug}` },
      ])
      .filter(({ atMs }) => atMs > now && atMs <= endMs)
      .sort((a, b) => a.atMs - b.atMs);
    expect(expected.length).toBeGreaterThan(80);
    let late = 0;
    const dueMs = new Map(expected.map(({ line, atMs }) => [line, atMs]));
    const ticking = setInterval(() => {
      clock += 10_000;
      if (clock > endMs + 20_000) stop.abort();
    }, 2);
    for await (const update of source.live(stop.signal)) {
      if (update.type !== 'rows') continue;
      for (const row of update.rows) {
        if (row.kind !== 'catalog_market') continue;
        const line = `${row.value.closed ? 'closed' : 'open'} ${row.value.slug}`;
        seen.push(line);
        if (clock < (dueMs.get(line) ?? 0)) late++;
      }
    }
    clearInterval(ticking);
    const lines = expected.map(({ line }) => line);
    expect([...seen.filter((line) => lines.includes(line))].sort()).toEqual([...lines].sort());
    expect(late).toBe(0);
  });
});

describe('restart', () => {
  it('reports what a restart need not read again after the load, and after each change', async () => {
    let clock = now;
    const source = sourceAt(() => clock, { lastWrittenMs: now - DAY });
    const loading: CatalogUpdate[] = [];
    for await (const update of source.load(new AbortController().signal)) loading.push(update);
    expect([loading.at(0), loading.at(-1)]).toEqual([
      { type: 'read_until', ms: now - DAY },
      { type: 'read_until', ms: now },
    ]);
    expect(loading.filter(({ type }) => type === 'read_until')).toHaveLength(2);

    clock += HOUR;
    const stop = new AbortController();
    const types: CatalogUpdate['type'][] = [];
    for await (const update of source.live(stop.signal)) {
      types.push(update.type);
      if (update.type !== 'read_until') continue;
      expect(update.ms).toBe(now + HOUR);
      stop.abort();
    }
    expect(types).toEqual(['connected', 'rows', 'read_until']);
  });

  it('writes nothing at the same time', async () => {
    const log = createMemoryLog({ topics: topicsOnOneMachine });
    await newWriter(log, now).write(await load(sourceAt(() => now)));
    const again = newWriter(log, now);
    await again.restore();
    expect(await again.write(await load(sourceAt(() => now, { lastWrittenMs: now })))).toBe(0);
  });

  it.each([
    ['two hours', 2 * HOUR],
    ['a day and a half', 1.5 * DAY],
    ['ten days', 10 * DAY],
  ])('leaves no window open that ended during %s of downtime', async (_name, downMs) => {
    const log = createMemoryLog({ topics: topicsOnOneMachine });
    await newWriter(log, now).write(await load(sourceAt(() => now)));
    const later = now + downMs;
    const again = newWriter(log, later);
    await again.restore();
    await again.write(await load(sourceAt(() => later, { lastWrittenMs: now })));
    const state = new Map<string, CatalogMarket>();
    for (const { key, value } of log.all('catalog')) {
      const event = codec.decode(value!);
      if (event.kind === 'catalog_market') state.set(key, event.value);
    }
    const ended = [...state.values()].filter(
      (market) => (market.event_start_ms ?? 0) > now - 4 * HOUR && market.end_ms! < later - 60_000,
    );
    expect(ended.length).toBeGreaterThan(24);
    expect(ended.filter((market) => !market.closed)).toEqual([]);
  });
});
