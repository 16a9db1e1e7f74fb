import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { activityOf, dave, insertAccounts, insertVenueAccounts } from '../support/positions.js';
import { address, fillRow, insertFills } from '../support/rows.js';
import { alice, bob, carol, comboYes, fills, insertVenue, rain, snow, snowYes, T } from '../support/venue.js';

/** Monday 2026-09-21 00:00 UTC. */
const MONDAY = T - 51_200;
const DAY = 86_400;
const HOUR = 3_600;
const SUNDAY = MONDAY - DAY;
const erin = address(0xe5);
const frank = address(0xf6);

const units = (usd: number) => BigInt(Math.round(usd * 1e6));
const trade = (wallet: string, at: number, action: 'BUY' | 'SELL', shares: number, usdc: number, token = snowYes) =>
  activityOf({
    wallet,
    block_number: at - SUNDAY,
    timestamp_ms: at * 1000,
    action,
    tokens: [token],
    amounts: [units(shares)],
    usdc: units(usdc),
    exchange_version: token === comboYes ? 3 : 2,
  });
/** 100 at 0.40, sold in tens: +1, -1, +2 on Sunday, +0.5 and 0 on Monday, +3 on Tuesday; 40 are left. */
const week = (wallet: string) => [
  trade(wallet, SUNDAY + 10 * HOUR, 'BUY', 100, 40),
  trade(wallet, SUNDAY + 12 * HOUR, 'SELL', 10, 5),
  trade(wallet, SUNDAY + 12.5 * HOUR, 'SELL', 10, 3),
  trade(wallet, MONDAY - 1, 'SELL', 10, 6),
  trade(wallet, MONDAY, 'SELL', 10, 4.5),
  trade(wallet, MONDAY + 5 * HOUR, 'SELL', 10, 4),
  trade(wallet, MONDAY + DAY, 'SELL', 10, 7),
];

let api: ApiHarness;
let key: string;

beforeAll(async () => {
  api = await startApi({ nowMs: (MONDAY + 2 * DAY) * 1000 });
  key = await api.key('starter');
  await insertVenue(api.clickhouse);
  await insertVenueAccounts(api.clickhouse);
  await insertAccounts(api.clickhouse, week(frank));
  await insertAccounts(api.clickhouse, [
    ...week(erin),
    // 80 for 10; 40 sold for 8 against 5. The others are valued at the combo's only fill, 0.125.
    trade(erin, MONDAY + 3 * HOUR, 'BUY', 80, 10, comboYes),
    trade(erin, MONDAY + 4 * HOUR, 'SELL', 40, 8, comboYes),
  ]);
});
afterAll(() => api.stop());

type Body = Record<string, unknown>;
const get = async (path: string) => {
  const { elapsed_ms: _, ...body } = await api.ok<Body>(`/v3/wallets/${path}`, key);
  return body;
};
const summaries: Readonly<Record<string, Body>> = {
  // Rain: 9.9 paid out against 8.91. Snow: 40 sold at 0.45 against 0.40; 100 left, at 0.42 now. Fills: 40, 20, 4, 9, 18.
  [alice]: {
    net_realized_pnl: 2.99,
    gross_profit: 2.99,
    gross_loss: 0,
    unrealized_pnl: 2,
    total_pnl: 4.99,
    wins: 2,
    losses: 0,
    position_count: 2,
    open_positions: 1,
    total_volume: 91,
    complete: true,
  },
  // All from splits at 0.50. Rain Yes sold at 0.90, Rain No worth nothing; 100 Snow Yes sold at 0.40, 100 at 0.42, 200 No at 0.58.
  [bob]: {
    net_realized_pnl: -6,
    gross_profit: 4,
    gross_loss: -10,
    unrealized_pnl: 3,
    total_pnl: -3,
    wins: 1,
    losses: 1,
    position_count: 4,
    open_positions: 2,
    total_volume: 49,
    complete: true,
  },
  // 50 No for 30; 10 untracked Yes sold: no PnL.
  [carol]: {
    net_realized_pnl: 0,
    gross_profit: 0,
    gross_loss: 0,
    unrealized_pnl: -1,
    total_pnl: -1,
    wins: 0,
    losses: 0,
    position_count: 2,
    open_positions: 1,
    total_volume: 34,
    complete: false,
  },
  // A zero-cost transfer.
  [dave]: {
    net_realized_pnl: 0,
    gross_profit: 0,
    gross_loss: 0,
    unrealized_pnl: 0,
    total_pnl: 0,
    wins: 0,
    losses: 0,
    position_count: 1,
    open_positions: 1,
    total_volume: 0,
    complete: true,
  },
  [erin]: {
    net_realized_pnl: 5.5,
    gross_profit: 5.5,
    gross_loss: 0,
    unrealized_pnl: 0.8,
    total_pnl: 6.3,
    wins: 1,
    losses: 0,
    position_count: 1,
    open_positions: 1,
    total_volume: 69.5,
    complete: true,
  },
};
const nothing = {
  ...Object.fromEntries(Object.keys(summaries[alice] as Body).map((name) => [name, 0])),
  complete: true,
};

describe('/v3 PnL summaries', () => {
  it('of one wallet, combos in separate fields', async () => {
    for (const wallet of [alice, bob, carol, dave, erin])
      expect(await get(wallet)).toEqual({ address: wallet, ...summaries[wallet] });
    expect(await get(`${erin}?include_combos=true`)).toEqual({
      address: erin,
      ...summaries[erin],
      include_combos: true,
      included_position_types: ['market', 'combo'],
      combo_pnl: {
        position_type: 'combo',
        included: true,
        realized_pnl: 3,
        unrealized_pnl: 0,
        total_pnl: 3,
        position_count: 1,
        open_positions: 1,
        complete: true,
      },
      realized_pnl: 8.5,
    });
    expect(await get(address(0x9999))).toEqual({ address: address(0x9999), ...nothing });
  });

  it('with the fees of own orders', async () => {
    const body = await get(`${alice}?include_accounting_summary=1`);
    const missing = { available: false, loaded: false, status: 'not_loaded', amount: null, raw: null };
    // Orders 1 (twice), 4, 7 and 8 are hers; fees of blocks 101, 103 and 104.
    expect(body.accounting_summary).toEqual({
      available: true,
      loaded: true,
      has_order_filled_rows: true,
      source: 'v3.order_fills',
      fees_paid: {
        available: true,
        loaded: true,
        amount: 0.39,
        raw: '390000',
        fee_fill_count: 3,
        order_owner_fill_count: 5,
        first_fee_block: '101',
        last_fee_block: '104',
      },
      maker_rebates: missing,
      rewards: missing,
      order_filled_through_block: '0',
      projector_status: 'ready',
    });
    // A fill that was inserted twice counts once.
    await insertFills(api.clickhouse, fills.filter(({ maker }) => maker === alice).map(fillRow));
    expect((await get(`${alice}?include_accounting_summary=1`)).accounting_summary).toEqual(body.accounting_summary);
    expect((await get(`${dave}?include_accounting_summary=1`)).accounting_summary).toMatchObject({
      has_order_filled_rows: false,
      fees_paid: { amount: 0, fee_fill_count: 0, first_fee_block: null, last_fee_block: null },
    });
  });

  it('of many wallets in the requested order, each once', async () => {
    const post = (body: unknown, with_key = key) =>
      api.request('/v3/wallets/batch', {
        method: 'POST',
        headers: { 'x-api-key': with_key, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const unknown = address(0x9999);
    const requests = [bob, unknown, alice.toUpperCase().replace('0X', '0x'), bob];
    const response = await post({ wallets: requests });
    expect(response).toMatchObject({
      status: 200,
      body: {
        count: 3,
        wallets: [
          { wallet: bob, ...summaries[bob] },
          { wallet: unknown, ...nothing },
          { wallet: alice, ...summaries[alice] },
        ],
      },
    });
    for (const [body, error] of [
      [{ wallets: [] }, 'invalid wallets: name at least one'],
      [{ wallets: Array.from({ length: 101 }, (_, n) => address(n)) }, 'invalid wallets: at most 100'],
      [{ wallets: ['0x1'] }, 'invalid address: use 0x and 40 hex digits'],
      [{ wallets: 7 }, 'invalid wallets: use a list of addresses'],
      [{ wallets: [1] }, 'invalid wallets: use a list of addresses'],
      [{ wallets: [null] }, 'invalid wallets: use a list of addresses'],
      [[], 'invalid body: use an object with wallets'],
    ])
      expect(await post(body)).toMatchObject({ status: 400, body: { error } });
    expect((await post({ wallets: requests }, await api.key('free'))).status).toBe(402);
  });
});

describe('/v3 PnL by time', () => {
  const series = async (path: string) => {
    const body = (await get(path)) as { buckets: Record<string, number>[] };
    return body.buckets.map((row) => [row.bucket, row.realized_pnl, row.cumulative_pnl, row.wins, row.losses]);
  };

  // Erin has combos, Frank none: his days come from their sums.
  it.each([
    ['single events', erin],
    ['sums of days', frank],
  ])('in buckets, from %s', async (_from, wallet) => {
    const path = `${wallet}/pnl/events`;
    expect(await get(`${path}?after=1`)).toEqual({
      address: wallet,
      granularity: 'day',
      after: 1,
      before: MONDAY + 2 * DAY,
      bucket_count: 3,
      buckets: [
        [SUNDAY, 2, 2, 3, -1, 2, 1],
        [MONDAY, 0.5, 2.5, 0.5, 0, 1, 0],
        [MONDAY + DAY, 3, 5.5, 3, 0, 1, 0],
      ].map(([bucket, realized_pnl, cumulative_pnl, gross_profit, gross_loss, wins = 0, losses = 0]) => ({
        bucket,
        realized_pnl,
        cumulative_pnl,
        gross_profit,
        gross_loss,
        wins,
        losses,
        events: wins + losses,
      })),
      total_realized_pnl: 5.5,
      total_events: 5,
      total_wins: 4,
      total_losses: 1,
      source: 'realized_pnl_series',
    });
    // Both ends are included.
    expect(await series(`${path}?after=${SUNDAY + 12.5 * HOUR}&before=${MONDAY}`)).toEqual([
      [SUNDAY, 1, 1, 1, 1],
      [MONDAY, 0.5, 1.5, 1, 0],
    ]);
    expect(await series(`${path}?after=${SUNDAY + 12.5 * HOUR + 1}&before=${MONDAY - 1}`)).toEqual([
      [SUNDAY, 2, 2, 1, 0],
    ]);
    expect(await series(`${path}?after=${SUNDAY}&before=${MONDAY + DAY - 1}`)).toHaveLength(2);
    expect(await series(`${path}?after=1&limit=2`)).toHaveLength(2);
    for (const early of [0, -5]) expect((await get(`${path}?after=${early}&limit=2`)).after).toBe(1);
    expect(await series(`${path}?before=${SUNDAY}`)).toEqual([]);
    expect(await series(`${path}?period=1d`)).toEqual([[MONDAY + DAY, 3, 3, 1, 0]]);
    // after takes precedence over period.
    expect(await series(`${path}?period=1d&after=${MONDAY}`)).toHaveLength(2);
    expect(await series(`${path}?group=hour&period=7d`)).toEqual([
      [SUNDAY + 12 * HOUR, 0, 0, 1, 1],
      [SUNDAY + 23 * HOUR, 2, 2, 1, 0],
      [MONDAY, 0.5, 2.5, 1, 0],
      [MONDAY + DAY, 3, 5.5, 1, 0],
    ]);
    expect(await series(`${path}?group=week&period=30d`)).toEqual([
      [MONDAY - 7 * DAY, 2, 2, 2, 1],
      [MONDAY, 3.5, 5.5, 2, 0],
    ]);
    expect(await series(`${path}?group=month&period=1y`)).toEqual([[MONDAY - 20 * DAY, 5.5, 5.5, 4, 1]]);
  });

  it('in one bucket over all time that counts positions', async () => {
    const { total_volume, position_count, net_realized_pnl, ...rest } = summaries[bob] as Body;
    const { wins, losses, gross_profit, gross_loss, complete, ...openFields } = rest;
    expect(await get(`${bob}/pnl/events?group=week`)).toEqual({
      address: bob,
      granularity: 'week',
      bucket_count: 1,
      buckets: [
        {
          bucket: T + 6,
          realized_pnl: net_realized_pnl,
          cumulative_pnl: net_realized_pnl,
          gross_profit,
          gross_loss,
          wins,
          losses,
          events: 2,
          position_count,
          total_volume,
          ...openFields,
        },
      ],
      total_realized_pnl: net_realized_pnl,
      total_events: 2,
      total_wins: wins,
      total_losses: losses,
      total_positions: position_count,
      ...openFields,
      complete,
      source: 'wallet_summary',
      count_type: 'positions',
      summary_bucket: true,
    });
    expect(await get(`${address(0x9999)}/pnl/events`)).toMatchObject({
      bucket_count: 1,
      buckets: [{ bucket: MONDAY + 2 * DAY, realized_pnl: 0, events: 0 }],
    });
  });

  it('as one sum, over all or selected markets', async () => {
    expect(await get(`${alice}/pnl`)).toEqual({ address: alice, ...summaries[alice] });
    expect(await get(`${erin}/pnl?include_combos=true`)).toMatchObject({ realized_pnl: 8.5, net_realized_pnl: 5.5 });
    const realized = async (wallet: string, query: string) => (await get(`${wallet}/pnl?${query}`)).net_realized_pnl;
    expect(await realized(alice, 'market_slug=rain')).toBe(0.99);
    expect(await realized(alice, `condition_id=${snow.conditionId}`)).toBe(2);
    expect(await realized(alice, `condition_id=${snow.conditionId}&market=rain`)).toBe(0);
    expect(await realized(alice, 'event_slug=sky')).toBe(0.99);
    expect(await realized(alice, 'tag_slug=europe')).toBe(2);
    expect(await realized(alice, 'category=weather')).toBe(2.99);
    expect(await realized(alice, 'tags=europe,nowhere')).toBe(2);
    expect(await realized(alice, 'tags=nowhere')).toBe(0);
    const unknown = Array.from({ length: 16 }, (_, n) => `no-market-has-tag-${n + 10}`);
    expect(await realized(alice, `tags=${unknown},europe`)).toBe(2);

    expect(await get(`${erin}/pnl?period=7d&include_unrealized=true`)).toEqual({
      address: erin,
      realized_pnl: 5.5,
      gross_profit: 6.5,
      gross_loss: -1,
      wins: 4,
      losses: 1,
      events: 5,
      source: 'realized_pnl_series',
      period: '7d',
      after: MONDAY - 5 * DAY,
      before: MONDAY + 2 * DAY,
      unrealized_pnl: 0.8,
      total_pnl: 6.3,
      open_positions_at_date: 1,
    });
    const sum = async (wallet: string, query: string) => {
      const { realized_pnl, events, unrealized_pnl } = await get(`${wallet}/pnl?${query}`);
      return [realized_pnl, events, unrealized_pnl];
    };
    expect(await sum(erin, 'period=7d&include_combos=true&include_unrealized=true')).toEqual([8.5, 6, 0.8]);
    expect(await sum(frank, `after=${MONDAY}&before=${MONDAY + DAY - 1}&include_unrealized=1`)).toEqual([0.5, 1, null]);
    expect(await sum(frank, `after=${MONDAY}&market_slug=rain`)).toEqual([0, 0, undefined]);
    expect(await sum(frank, `after=${MONDAY}&tag_slug=weather`)).toEqual([3.5, 2, undefined]);
    expect(await sum(frank, 'after=9999999999&before=9999999999')).toEqual([0, 0, undefined]);
  });

  it('rejects invalid spans and the free plan', async () => {
    for (const [path, error] of [
      ['0x1', 'invalid address: use 0x and 40 hex digits'],
      ['0x1/pnl', 'invalid address: use 0x and 40 hex digits'],
      [`${alice}/pnl?period=2d`, 'invalid period: use 1d, 7d, 30d, 1y'],
      [`${alice}/pnl?after=5&before=4`, 'invalid after: later than before'],
      [`${alice}/pnl?condition_id=${rain.slug}`, 'invalid condition_id: use 0x and 64 hex digits'],
      [`${alice}/pnl?tags=,`, 'invalid tags'],
      [`${alice}/pnl?tags=${'a,'.repeat(21)}`, 'invalid tags'],
      [`${alice}/pnl?tags=europe,${'a'.repeat(301)}`, 'invalid tags'],
      [`${alice}/pnl/events?group=year`, 'invalid group: use hour, day, week, month'],
      [`${alice}/pnl/events?after=x`, 'invalid after: use Unix seconds'],
      [`${alice}/pnl/events?after=${MONDAY + 3 * DAY}`, 'invalid after: later than before'],
    ])
      expect(await api.get(`/v3/wallets/${path}`, key)).toMatchObject({ status: 400, body: { error } });
    const free = await api.key('free');
    for (const path of ['', '/pnl', '/pnl/events'])
      expect((await api.get(`/v3/wallets/${alice}${path}`, free)).status).toBe(402);
  });
});
