import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiHarness } from '../support/api.js';
import { walkPages } from '../support/page-walk.js';
import { ALWAYS_FRESH_S, activityOf, dave, insertAccounts, tradeOf } from '../support/positions.js';
import { NOW_S, type PositionsApi, startPositionsApi } from '../support/positions-api.js';
import { hex32 } from '../support/rows.js';
import { alice, bob, rain, rainNo, rainYes, snow, snowYes, T } from '../support/venue.js';

let api: ApiHarness;
let key: string;
let paid: string;
let later: PositionsApi['later'];

beforeAll(async () => {
  ({ api, key, paid, later } = await startPositionsApi());
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;

describe('/v2/trader/{wallet}/equity', () => {
  const get = (path: string) => {
    later(11);
    return api.ok<Row & { raw: Row; normalized?: Row }>(`/v2/trader/${path}`, paid);
  };

  it('cumulates the PnL of positions in the order of their first activity', async () => {
    // Alice: Snow Yes from T, 2 realized and 2 unrealized, 160 bought for 64; Rain from T + 6, 0.99 realized, 10 bought for 9.
    expect(await get(`${alice}/equity?period=all&normalize=1`)).toEqual({
      wallet: alice,
      period: 'all',
      source: 'onchain',
      positions_count: 2,
      markets_count: 2,
      open_count: 1,
      applied_filters: { fromTs: null, toTs: null, maxMarkets: null, includeUnrealized: false },
      partial: false,
      raw: {
        points: 2,
        final_pnl: 2.99,
        curve: [
          { t: T, pnl: 2 },
          { t: T + 6, pnl: 2.99 },
        ],
      },
      normalized: {
        bet_size: 1,
        positions: 2,
        points: 2,
        // 2 / 64 = 0.03125, and 0.99 / 9 = 0.11 more.
        final_pnl: 0.1413,
        curve: [
          { t: T, pnl: 0.0313 },
          { t: T + 6, pnl: 0.1413 },
        ],
      },
    });
    const { raw, normalized } = await get(`${alice}/equity?include_unrealized=1`);
    expect([raw.final_pnl, normalized]).toEqual([4.99, undefined]);
    // Bob: four positions in two markets; Rain has the latest activity.
    expect(await get(`${bob}/equity?max_markets=1&include_unrealized=1`)).toMatchObject({
      positions_count: 2,
      markets_count: 1,
      open_count: 1,
      applied_filters: { maxMarkets: 1 },
    });
    expect(await get(`${alice}/equity?from=${T + 1}&to=2026-09-22`)).toMatchObject({
      positions_count: 1,
      applied_filters: { fromTs: T + 1, toTs: Date.UTC(2026, 8, 22) / 1000 },
      raw: { final_pnl: 0.99 },
    });
    api.clock.nowMs += 8 * 86_400_000;
    expect(await get(`${alice}/equity?period=7d`)).toMatchObject({
      positions_count: 0,
      raw: { points: 0, final_pnl: 0 },
    });
    api.clock.nowMs = NOW_S * 1000;
  });

  it('accepts one request per 10 s and key, on paid plans only', async () => {
    const own = await api.key('starter');
    const sibling = await api.siblingKey(own);
    later(20);
    expect((await api.get(`/v2/trader/${alice}/equity`, own)).status).toBe(200);
    expect((await api.get(`/v2/trader/${alice}/equity`, sibling)).status).toBe(200);
    later(4);
    const rejected = await api.get(`/v2/trader/${alice}/equity`, own);
    expect(rejected).toMatchObject({
      status: 429,
      body: { error: 'Rate limited. 1 request per 10 s per key.', retryAfterMs: 6_000 },
    });
    expect(rejected.headers.get('retry-after')).toBe('6');
    later(6);
    const again = await api.get(`/v2/trader/${alice}/equity`, own);
    expect([again.status, again.headers.get('age')]).toEqual([200, '10']);
    expect((await api.get(`/v2/trader/${alice}/equity`, key)).status).toBe(403);
  });

  it.each([
    ['from=2026-02-30', 'Invalid from. Use YYYY-MM-DD or Unix seconds'],
    ['from=1969-12-31', 'Invalid from. Use YYYY-MM-DD or Unix seconds'],
    ['from=1960-01-01&to=1960-02-01', 'Invalid from. Use YYYY-MM-DD or Unix seconds'],
    ['to=1969-12-31', 'Invalid to. Use YYYY-MM-DD or Unix seconds'],
    ...['after', 'start', 'start_time', 'before', 'end', 'end_time'].map((name) => [
      `${name}=1969-12-31`,
      `Invalid ${name}. Use YYYY-MM-DD or Unix seconds`,
    ]),
    ['max_markets=0', 'Invalid max_markets'],
    ['max_markets=-1', 'Invalid max_markets'],
  ])('rejects ?%s', async (query, error) => {
    expect(await api.get(`/v2/trader/${alice}/equity?${query}`, paid)).toMatchObject({ status: 400, body: { error } });
  });

  it('accepts the first day of 1970, and clamps max_markets', async () => {
    expect(await get(`${alice}/equity?from=1970-01-01&max_markets=1000000`)).toMatchObject({
      positions_count: 2,
      applied_filters: { fromTs: 0, maxMarkets: 20_000 },
    });
  });
});

describe('/v2/wallets', () => {
  const get = (path: string) => api.ok<Row & { positions: Row[] }>(`/v2/wallets/${path}`, paid);

  it('lists all positions of a wallet with their sums', async () => {
    const whole = {
      wallet: alice,
      source: 'onchain',
      count: 2,
      open_count: 1,
      closed_count: 1,
      total_realized_pnl: 2.99,
      total_unrealized_pnl: 2,
      total_pnl: 4.99,
      positions_with_pnl: 2,
      complete: true,
      positions: [
        {
          token_id: snowYes,
          size: 100,
          avg_price: 0.4,
          realized_pnl: 2,
          unrealized_pnl: 2,
          current_price: 0.42,
          price_source: 'clob_mid',
          price_updated_at: ALWAYS_FRESH_S,
          market_status: 'live',
          total_bought: 160,
          complete: true,
          market: snow.question,
          slug: snow.slug,
          event_slug: 'snow-lisbon',
          outcome: 'Yes',
          image: snow.image,
          condition_id: snow.conditionId,
          last_trade_at: T + 12,
          closed_at: null,
          resolved_at: null,
          tag_slugs: ['weather', 'europe'],
        },
        {
          token_id: rainYes,
          size: 0,
          avg_price: 0.9,
          realized_pnl: 0.99,
          unrealized_pnl: 0,
          current_price: null,
          price_source: null,
          price_updated_at: null,
          market_status: 'resolved-win',
          total_bought: 10,
          complete: true,
          market: 'Rain?',
          slug: 'rain',
          event_slug: 'sky',
          outcome: 'Yes',
          image: null,
          condition_id: rain.conditionId,
          last_trade_at: T + 6,
          closed_at: T + 26,
          resolved_at: T + 18,
          tag_slugs: ['weather'],
        },
      ],
    };
    expect(await get(`${alice}/positions/onchain`)).toEqual(whole);
    const { positions, ...sums } = await get(`${alice}/positions/onchain?tag_slug=weather&until=${T + 6}`);
    expect([sums, positions]).toEqual([
      {
        wallet: alice,
        source: 'onchain',
        count: 1,
        open_count: 0,
        closed_count: 1,
        total_realized_pnl: 0.99,
        total_unrealized_pnl: 0,
        total_pnl: 0.99,
        positions_with_pnl: 1,
        complete: true,
        filtered: true,
        applied_filters: { since: null, until: T + 6, tag_slug: 'weather' },
      },
      whole.positions.slice(1),
    ]);
    expect(await get(`${alice}/positions/onchain?tag_slug=Weather`)).toMatchObject({ count: 0, total_pnl: 0 });
    // Dave never traded.
    expect(await get(`${dave}/positions/onchain`)).toMatchObject({ count: 1, open_count: 1 });
    expect(await get(`${dave}/positions/onchain?since=0`)).toMatchObject({
      count: 0,
      applied_filters: { since: 0, until: null },
    });
    const lost = (await get(`${bob}/positions/onchain`)).positions.find((row) => row.token_id === rainNo);
    expect(lost).toMatchObject({ market_status: 'resolved-loss', size: 10, unrealized_pnl: -5, current_price: 0 });
  });

  it('pages closed positions', async () => {
    expect(await get(`${alice}/closed-positions`)).toEqual({
      wallet: alice,
      count: 1,
      offset: 0,
      limit: 10,
      next_cursor: null,
      positions: [
        {
          proxy_wallet: alice,
          asset: rainYes,
          condition_id: rain.conditionId,
          avg_price: 0.9,
          total_bought: 10,
          realized_pnl: 0.99,
          complete: true,
          cur_price: 1,
          price_source: 'settlement',
          price_updated_at: T + 18,
          title: 'Rain?',
          slug: 'rain',
          icon: null,
          event_slug: 'sky',
          outcome: 'Yes',
          outcome_index: 0,
          opposite_outcome: 'No',
          opposite_asset: rainNo,
          end_date: '2027-09-30T00:00:00Z',
          timestamp: T + 26,
        },
      ],
    });
    expect(await get(`${bob}/closed-positions?limit=500&title=RAI`)).toMatchObject({ limit: 50, count: 1 });
    expect(await get(`${bob}/closed-positions?market=${snow.slug}`)).toMatchObject({ count: 0 });
    const grace = `0x${'9a'.repeat(20)}`;
    const closed = (block: number, token: number, usdc: bigint) => [
      activityOf({
        wallet: grace,
        block_number: block,
        action: 'BUY',
        tokens: [String(token)],
        amounts: [1_000_000n],
        usdc: 500_000n,
      }),
      activityOf({
        wallet: grace,
        block_number: block + 1,
        action: 'SELL',
        tokens: [String(token)],
        amounts: [1_000_000n],
        usdc,
      }),
    ];
    const first = [...closed(100, 9101, 700_000n), ...closed(110, 9102, 600_000n), ...closed(120, 9103, 400_000n)];
    await insertAccounts(api.clickhouse, first);
    const assets = async (query: string) =>
      (await get(`${grace}/closed-positions?${query}`)).positions.map((row) => row.asset);
    expect(await assets('sortBy=realizedpnl&sortDirection=asc')).toEqual(['9103', '9102', '9101']);
    const pages = await walkPages(get, `${grace}/closed-positions?limit=2`, async () => {
      later(301);
      await insertAccounts(api.clickhouse, [...first, ...closed(130, 9104, 500_000n)]);
    });
    expect(pages.map(({ positions }) => positions.map((row) => row.asset))).toEqual([['9103', '9102'], ['9101']]);
    expect(await assets('limit=2')).toEqual(['9104', '9103']);
  });

  it('a position that was sold before the wallet redeemed the condition has the time of the redemption', async () => {
    later(61);
    const heidi = `0x${'8e'.repeat(20)}`;
    await insertAccounts(api.clickhouse, [
      tradeOf(heidi, 200, 'BUY', rainNo, 10, 1),
      tradeOf(heidi, 201, 'SELL', rainNo, 10, 2),
      tradeOf(heidi, 202, 'BUY', rainYes, 5, 4),
      tradeOf(heidi, 203, 'BUY', snowYes, 5, 2),
      activityOf({
        wallet: heidi,
        block_number: 210,
        action: 'REDEEM',
        tokens: [rainYes, rainNo],
        amounts: [5_000_000n, 0n],
        usdc: 5_000_000n,
        numerators: ['1', '0'],
      }),
    ]);
    const closedAt = async (path: string) => {
      const { positions } = await api.ok<{ positions: Row[] }>(`/v2/${path}`, paid);
      return positions.map((row) => [row.token_id, row.closed_at]);
    };
    // Two seconds per block from T at block 100.
    expect(await closedAt(`wallets/${heidi}/positions/onchain`)).toEqual([
      [snowYes, null],
      [rainYes, T + 220],
      [rainNo, T + 220],
    ]);
    expect(await closedAt(`wallets/${heidi}/positions/onchain?until=${T + 202}`)).toEqual([[rainNo, T + 220]]);
    expect(await closedAt(`onchain/positions?wallet=${heidi}`)).toEqual([
      [rainYes, T + 220],
      [snowYes, null],
      [rainNo, T + 220],
    ]);
    expect(await closedAt(`onchain/positions?wallet=${heidi}&token_id=${rainNo}`)).toEqual([[rainNo, T + 220]]);
  });

  it('returns 404 for a wallet without history, 402 or 403 for the free plan', async () => {
    const unknownWallet = hex32(5).slice(0, 42);
    for (const path of ['positions/onchain', 'closed-positions']) {
      expect(await api.get(`/v2/wallets/${unknownWallet}/${path}`, paid)).toMatchObject({
        status: 404,
        body: { error: 'Not found.' },
      });
      expect((await api.get(`/v2/wallets/${alice}/${path}`, key)).status).toBe(403);
    }
    const { status, body } = await api.get(`/v2/wallets/${alice}/positions/onchain?since=soon`, paid);
    expect([status, body]).toEqual([400, { error: 'Invalid since. Use Unix seconds' }]);
    later(3);
    const { headers } = await api.get(`/v2/wallets/${alice}/positions/onchain`, paid);
    expect(headers.get('cache-control')).toBe('private, max-age=300');
  });
});
