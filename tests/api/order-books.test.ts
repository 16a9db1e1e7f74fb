import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';

let api: ApiHarness;
let key: string;
const nowMs = Date.now();
const CONDITION = `0x${'c1'.repeat(32)}`;
const TOKEN = '7001';

const book = (token_id: string, over: Record<string, unknown> = {}) => ({
  token_id,
  condition_id: CONDITION,
  bid_prices: ['0.410', '.4'],
  bid_sizes: ['1200.00', '350.5'],
  ask_prices: ['0.43', '0.5', '0.6'],
  ask_sizes: ['800', '1', '2'],
  best_bid: '0.41',
  best_ask: '0.43',
  mid: '0.42',
  verified: true,
  verified_since: nowMs - 60_000,
  reason: '',
  hash: 'c2d5',
  tick_size: '0.01',
  last_trade_price: '0.42',
  synthetic: false,
  updated_at: nowMs - 1_500,
  received_at: nowMs - 1_000,
  epoch: 'run-1',
  seq: 5,
  _offset: 5,
  _version: 5,
  ...over,
});
const reportFeed = (connected: boolean, updated_at_ms = nowMs) =>
  api.reportSource({ source: 'orderbook', mode: 'live', connected, updated_at_ms });

beforeAll(async () => {
  api = await startApi({ nowMs });
  key = await api.key('growth');
  await api.clickhouse.insertRows('order_books', [
    book(TOKEN),
    book('7002', {
      bid_prices: [],
      bid_sizes: [],
      best_bid: null,
      mid: null,
      verified: false,
      reason: 'hash_mismatch',
    }),
    book('7003', { synthetic: true, received_at: nowMs - 301_000, updated_at: nowMs - 400_000 }),
    book('7005', { verified: false, reason: 'not_followed' }),
    book('7004', { received_at: nowMs - 90_000_000 }),
  ]);
});
afterAll(() => api.stop());
beforeEach(() => reportFeed(true));

describe('/v1/orderbook', () => {
  it('returns the book in the field names of the venue, with the state of its verification', async () => {
    expect(await api.ok(`/v1/orderbook/${TOKEN}`, key)).toEqual({
      market: CONDITION,
      asset_id: TOKEN,
      slug: null,
      question: null,
      outcome: null,
      timestamp: String(nowMs - 1_500),
      hash: 'c2d5',
      bids: [
        { price: '0.41', size: '1200' },
        { price: '0.4', size: '350.5' },
      ],
      asks: [
        { price: '0.43', size: '800' },
        { price: '0.5', size: '1' },
        { price: '0.6', size: '2' },
      ],
      bid_levels: 2,
      ask_levels: 3,
      tick_size: '0.01',
      last_trade_price: '0.42',
      best_bid: '0.41',
      best_ask: '0.43',
      mid: '0.42',
      spread: '0.02',
      verified: true,
      verified_since: new Date(nowMs - 60_000).toISOString().replace('.000Z', 'Z'),
      reason: null,
      stale: false,
      stale_reason: null,
      synthetic: false,
      updated_at: new Date(nowMs - 1_500).toISOString().replace('.000Z', 'Z'),
      age_seconds: 1.5,
    });
  });

  it('returns the best levels and the number of all with `depth`', async () => {
    const body = await api.ok<{ bids: unknown[]; asks: unknown[] }>(`/v1/orderbook/${TOKEN}?depth=1`, key);
    expect(body).toMatchObject({ bid_levels: 2, ask_levels: 3 });
    expect([body.bids, body.asks]).toEqual([[{ price: '0.41', size: '1200' }], [{ price: '0.43', size: '800' }]]);
  });

  it('says that a book is unverified, synthetic or stale, and why', async () => {
    expect(await api.ok('/v1/orderbook/7002', key)).toMatchObject({
      verified: false,
      reason: 'hash_mismatch',
      mid: null,
      spread: null,
      best_ask: '0.43',
      stale: false,
    });
    expect(await api.ok('/v1/orderbook/7003', key)).toMatchObject({
      synthetic: true,
      stale: true,
      stale_reason: 'not_followed',
    });
    expect(await api.ok('/v1/orderbook/7005', key)).toMatchObject({ verified: false, stale_reason: 'not_followed' });
    await reportFeed(false);
    expect(await api.ok(`/v1/orderbook/${TOKEN}`, key)).toMatchObject({
      stale: true,
      stale_reason: 'feed_disconnected',
    });
    await reportFeed(true, nowMs - 60_000);
    expect(await api.ok(`/v1/midpoint/${TOKEN}`, key)).toMatchObject({ stale: true, stale_reason: 'feed_silent' });
    const counts = { checks: 0, mismatches: 0, repairs: 0, repair_failures: 0, silent_tokens: 0 };
    const reportRun = (epoch: string) =>
      api.reportSource({
        source: 'orderbook',
        mode: 'live',
        connected: true,
        updated_at_ms: nowMs,
        order_books: { synthetic: false, followed: 0, verified: 0, ...counts, epoch },
      });
    await reportRun('run-1');
    expect(await api.ok(`/v1/orderbook/${TOKEN}`, key)).toMatchObject({ stale: false, stale_reason: null });
    await reportRun('run-2');
    expect(await api.ok(`/v1/orderbook/${TOKEN}`, key)).toMatchObject({ stale: true, stale_reason: 'feed_silent' });
    await reportFeed(true);
  });

  it('says that books are stale once the table is more than 15 s behind their source', async () => {
    const reportEvent = (last_event_ms: number) =>
      api.reportSource({ source: 'orderbook', mode: 'live', connected: true, updated_at_ms: nowMs, last_event_ms });
    // The newest record of the table was received a second ago.
    await reportEvent(nowMs + 14_000);
    expect(await api.ok(`/v1/orderbook/${TOKEN}`, key)).toMatchObject({ stale: false, stale_reason: null });
    await reportEvent(nowMs + 14_001);
    const behind = { stale: true, stale_reason: 'table_behind' };
    expect(await api.ok(`/v1/orderbook/${TOKEN}`, key)).toMatchObject({ verified: true, ...behind });
    expect(await api.ok(`/v1/spread/${TOKEN}`, key)).toMatchObject(behind);
    expect(await api.ok(`/clobv2/markets/${TOKEN}/orderbook`, key)).toMatchObject({ order_book: behind });
    // Its last record is old because the table is.
    expect(await api.ok('/v1/orderbook/7003', key)).toMatchObject(behind);
    expect(await api.ok('/v1/orderbook/7005', key)).toMatchObject({ stale_reason: 'not_followed' });
    await api.clickhouse.insertRows('order_books', [book('7006', { received_at: nowMs - 999 })]);
    api.clock.nowMs += 1_000;
    expect(await api.ok(`/v1/orderbook/${TOKEN}`, key)).toMatchObject({ stale: false, stale_reason: null });
    api.clock.nowMs -= 1_000;
  });

  it('rejects unknown tokens with 404 and invalid inputs with 400', async () => {
    for (const path of ['/v1/orderbook/1', '/v1/midpoint/1', '/v1/spread/1', '/v1/orderbook/0', '/v1/orderbook/7004'])
      expect(await api.get(path, key)).toMatchObject({ status: 404, body: { error: 'No order book of this token' } });
    expect(await api.get('/v1/orderbook/0xab', key)).toMatchObject({
      status: 400,
      body: { error: 'Invalid token id. Use 1 to 78 digits, below 2^256' },
    });
    for (const depth of ['0', '10001', 'all'])
      expect(await api.get(`/v1/orderbook/${TOKEN}?depth=${depth}`, key)).toMatchObject({ status: 400 });
  });
});

describe('/v1/midpoint and /v1/spread', () => {
  it('return one number with the state of the book', async () => {
    const mid = await api.ok<Record<string, unknown>>(`/v1/midpoint/${TOKEN}`, key);
    const spread = await api.ok<Record<string, unknown>>(`/v1/spread/${TOKEN}`, key);
    expect([mid.mid, mid.verified, mid.token_id]).toEqual(['0.42', true, TOKEN]);
    expect([spread.spread, spread.verified, spread.token_id]).toEqual(['0.02', true, TOKEN]);
    expect((await api.ok<Record<string, unknown>>('/v1/midpoint/7002', key)).mid).toBeNull();
    expect((await api.ok<Record<string, unknown>>('/v1/spread/7002', key)).spread).toBeNull();
  });
});

describe('/clobv2/markets/{token_id}/orderbook', () => {
  it('returns the best levels of the live book beside the volume sums', async () => {
    expect(await api.ok(`/clobv2/markets/${TOKEN}/orderbook`, key)).toMatchObject({
      found: true,
      total_trades: '0',
      order_book: {
        bids: [
          { price: '0.41', size: '1200' },
          { price: '0.4', size: '350.5' },
        ],
        mid: '0.42',
        verified: true,
      },
    });
    expect(await api.ok('/clobv2/markets/1/orderbook', key)).toEqual({
      token_id: '1',
      source: 'onchain-v2',
      found: false,
    });
  });
});

describe('price now', () => {
  it('follows the book of a token whose price is cached, until the book is unverified', async () => {
    const token = '7100';
    const nowS = Math.floor(nowMs / 1000);
    await api.clickhouse.insertRows('last_prices', [
      { token_id: token, usdc: 300_000, shares: 1_000_000, timestamp: nowS - 100, place: 1 },
    ]);
    const price = async () => {
      api.clock.nowMs += 6_000;
      const body = await api.ok<{ price: number; source: string }>(`/v3/markets/${token}/price`, key);
      return [body.price, body.source];
    };
    expect(await price()).toEqual([0.3, 'last_fill']);
    const freshMs = Date.now();
    await api.clickhouse.insertRows('order_books', [
      book(token, { updated_at: freshMs, received_at: freshMs, _version: 6, _offset: 6 }),
    ]);
    expect(await price()).toEqual([0.42, 'clob_mid']);
    await api.clickhouse.insertRows('order_books', [
      book(token, { updated_at: freshMs, received_at: freshMs, _version: 7, _offset: 7, mid: '0.55' }),
    ]);
    expect(await price()).toEqual([0.55, 'clob_mid']);
    await api.clickhouse.insertRows('order_books', [
      book(token, { updated_at: freshMs, received_at: freshMs, _version: 8, _offset: 8, verified: false }),
    ]);
    expect(await price()).toEqual([0.3, 'last_fill']);
  });
});

describe('state of the source', () => {
  it('is in /v1/status', async () => {
    const counts = { checks: 100, mismatches: 3, repairs: 4, repair_failures: 1, silent_tokens: 2 };
    const state = { synthetic: false, followed: 3, verified: 2, ...counts };
    expect(await api.ok('/v1/status', key)).toMatchObject({ order_books: null });
    await api.reportSource({ source: 'orderbook', mode: 'live', order_books: { ...state, epoch: 'run-1' } });
    const { order_books } = await api.ok<{ order_books: unknown }>('/v1/status', key);
    expect(order_books).toEqual({ ...state, verified_share: 0.6666 });
  });

  it('is in /v1/coverage: gaps, synthetic books and the verified share of a day', async () => {
    const DAY_MS = 86_400_000;
    const today = Math.floor(nowMs / DAY_MS) * DAY_MS;
    let version = 1_000;
    /** A row every 4 minutes of the day, of two tokens, except at these minutes. */
    const day = async (ago: number, over: Record<string, unknown>, skipped: (minute: number) => boolean) => {
      const rows = Array.from({ length: 360 }, (_, n) => n * 4)
        .filter((minute) => !skipped(minute))
        .flatMap((minute) =>
          ['7301', '7302'].map((token, n) => {
            const atMs = today - ago * DAY_MS + minute * 60_000;
            // The second token is unverified in the first of the twelve 5-minute buckets of every hour.
            const verified = n === 0 || minute % 60 >= 5;
            return book(token, {
              received_at: atMs,
              updated_at: atMs,
              verified,
              _version: ++version,
              _offset: version,
              ...over,
            });
          }),
        );
      await api.clickhouse.insertRows('order_books', rows);
    };
    await day(3, { synthetic: true }, () => false);
    await day(2, {}, (minute) => minute >= 600 && minute < 640);
    await day(1, {}, () => false);
    const body = await api.ok<{ coverage: { source: string; day: string; state: string; why: string }[] }>(
      '/v1/coverage?source=order_book',
      key,
    );
    const found = new Map(body.coverage.filter(({ source }) => source === 'order_book').map((row) => [row.day, row]));
    const dayOf = (ago: number) => found.get(new Date(today - ago * DAY_MS).toISOString().slice(0, 10));
    expect(dayOf(3)).toMatchObject({
      state: 'degraded',
      why: 'Synthetic books around recorded trades, not of the venue.',
    });
    expect(dayOf(2)).toMatchObject({ state: 'degraded' });
    // From the last record before minute 600 to the first at 640.
    expect(dayOf(2)?.why).toContain('No order book for 2640 seconds from 09:56:00 to 10:40:00 UTC');
    // One of two tokens in one of twelve buckets.
    expect(dayOf(1)).toMatchObject({
      state: 'available',
      why: 'Order books without a gap; 95.8 % of the books per five minutes were verified throughout.',
    });
    expect(dayOf(0)?.state).toBe('pending');
  });
});
