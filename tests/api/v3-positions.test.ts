import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { walkPages } from '../support/page-walk.js';
import { ALWAYS_FRESH_S, activityOf, dave, insertAccounts, insertVenueAccounts } from '../support/positions.js';
import { address } from '../support/rows.js';
import {
  alice,
  bob,
  carol,
  comboCondition,
  comboYes,
  fills,
  insertVenue,
  rain,
  rainNo,
  rainYes,
  snow,
  snowNo,
  snowYes,
  T,
} from '../support/venue.js';

let api: ApiHarness;
let key: string;

const units = (usd: number) => BigInt(Math.round(usd * 1e6));
const buy = (wallet: string, block: number, token: string, shares: number, usdc: number) =>
  activityOf({
    wallet,
    block_number: block,
    action: 'BUY',
    tokens: [token],
    amounts: [units(shares)],
    usdc: units(usdc),
    exchange_version: token === comboYes ? 3 : 2,
  });

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('starter');
  await insertVenue(api.clickhouse);
  await insertVenueAccounts(api.clickhouse);
  await insertAccounts(api.clickhouse, [buy(carol, 104, comboYes, 80, 10)]);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
type Body = Row & { positions: Row[]; data: Row[]; has_more: boolean };
const get = (path: string) => api.ok<Body>(`/v3/${path}`, key);

describe('GET /v3/wallets/{address}/positions', () => {
  const of = async (wallet: string, query = '') => (await get(`wallets/${wallet}/positions?${query}`)).positions;
  const tokens = async (wallet: string, query = '') => (await of(wallet, query)).map((row) => row.token_id);

  it('returns values and market metadata', async () => {
    expect(await get(`wallets/${alice}/positions`)).toMatchObject({
      address: alice,
      rows_returned: 2,
      has_more: false,
      offset: 0,
      limit: 100,
      next_offset: null,
      next_cursor: null,
    });
    expect(await of(alice)).toEqual([
      {
        token_id: snowYes,
        size: 100,
        avg_price: 0.4,
        realized_pnl: 2,
        unrealized_pnl: 2,
        total_pnl: 4,
        current_price: 0.42,
        total_bought: 160,
        initial_value: 40,
        redeemable_payout: 0,
        complete: true,
        resolved: false,
        price_source: 'clob_mid',
        price_updated_at: String(ALWAYS_FRESH_S),
        status: 'open',
        market: snow.question,
        slug: snow.slug,
        outcome: 'Yes',
        outcome_index: 0,
        opposite_asset: snowNo,
        image: snow.image,
        condition_id: snow.conditionId,
        event_slug: 'snow-lisbon',
        neg_risk: false,
        market_status: 'live',
        tag_slugs: ['weather', 'europe'],
        last_trade_at: String(T + 12),
        resolved_at: null,
        last_activity_at: String(T + 12),
        winning_outcome_index: null,
        won: null,
      },
      {
        token_id: rainYes,
        size: 0,
        avg_price: 0.9,
        realized_pnl: 0.99,
        unrealized_pnl: 0,
        total_pnl: 0.99,
        current_price: 1,
        total_bought: 10,
        initial_value: 0,
        redeemable_payout: 0,
        complete: true,
        resolved: true,
        price_source: 'settlement',
        price_updated_at: String(T + 18),
        status: 'redeemed',
        market: rain.question,
        slug: rain.slug,
        outcome: 'Yes',
        outcome_index: 0,
        opposite_asset: rainNo,
        image: null,
        condition_id: rain.conditionId,
        event_slug: 'sky',
        neg_risk: true,
        market_status: 'resolved-win',
        tag_slugs: ['weather'],
        last_trade_at: String(T + 6),
        resolved_at: String(T + 18),
        last_activity_at: String(T + 26),
        winning_outcome_index: 0,
        won: true,
      },
    ]);
    const lost = (await of(bob, `condition_id=${rain.conditionId}&status=redeemable`))[0];
    expect(lost).toMatchObject({ token_id: rainNo, size: 10, redeemable_payout: 0, unrealized_pnl: -5, won: false });
    expect(lost).toMatchObject({ market_status: 'resolved-loss', winning_outcome_index: 0, current_price: 0 });
  });

  it('filters and sorts', async () => {
    // Realized 4, 0, 0, -10; ties by token.
    expect(await tokens(bob)).toEqual([rainYes, snowNo, rainNo, snowYes]);
    expect(await tokens(bob, 'order=asc')).toEqual([snowYes, snowNo, rainNo, rainYes]);
    expect(await tokens(bob, 'sort=size')).toEqual([snowNo, snowYes, rainNo, rainYes]);
    expect(await tokens(bob, 'sort=recent')).toEqual([rainYes, snowYes, snowNo, rainNo]);
    expect(await tokens(alice, 'sort=avg_price')).toEqual([rainYes, snowYes]);
    expect(await tokens(alice, 'sort=volume')).toEqual([snowYes, rainYes]);
    expect(await tokens(bob, 'status=open')).toEqual([snowNo, snowYes]);
    expect(await tokens(bob, 'status=closed')).toEqual([rainYes]);
    expect(await tokens(alice, 'status=redeemed')).toEqual([rainYes]);
    expect(await tokens(bob, 'market_slug=rain')).toEqual([rainYes, rainNo]);
    expect(await tokens(bob, 'market_slug=nowhere')).toEqual([]);
    // 200 No at 0.58, 100 Yes at 0.42.
    expect(await tokens(bob, 'min_size=42.000001')).toEqual([snowNo]);
    expect(await tokens(bob, 'min_size=42')).toEqual([snowNo, snowYes]);
    expect(await tokens(dave)).toEqual([snowYes]);
    expect(await tokens(address(0x9999))).toEqual([]);
  });

  it('lists combos after the others with include_combos', async () => {
    expect(await tokens(carol)).toEqual([snowNo, snowYes]);
    expect((await of(carol, 'include_combos=true')).slice(2)).toEqual([
      {
        position_type: 'combo',
        combo_condition_id: comboCondition,
        condition_id: comboCondition,
        position_id: comboYes,
        combo_position_id: comboYes,
        token_id: comboYes,
        leg_count: 2,
        outcome: 'Yes',
        outcome_label: 'Yes',
        outcome_index: 0,
        opposite_asset: (BigInt(comboYes) + 1n).toString(),
        size: '80',
        avg_price: '0.125',
        realized_pnl: '0',
        unrealized_pnl: '0',
        total_pnl: '0',
        current_price: '0.125',
        total_bought: '80',
        initial_value: '10',
        redeemable_payout: '0',
        complete: true,
        resolved: false,
        price_source: 'last_fill',
        price_updated_at: String(T + 8),
        status: 'open',
        market_status: 'live',
        winning_outcome_index: null,
        won: null,
        last_trade_at: String(T + 8),
        last_activity_at: String(T + 8),
      },
    ]);
  });

  it('lists each position once over all pages while positions change', async () => {
    let block = 120;
    const walked = await walkPages<Body>(get, `wallets/${bob}/positions?limit=1&sort=size`, async () => {
      // A new position, larger than all others.
      await insertAccounts(api.clickhouse, [buy(bob, block, String(900 + block), 5000, 100)]);
      block += 1;
      api.clock.nowMs += 6_000;
    });
    expect(walked.map((page) => page.next_offset)).toEqual([1, null, null, null]);
    const pages = walked.flatMap((page) => page.positions.map((row) => row.token_id));
    expect(pages).toEqual([snowNo, snowYes, rainNo, rainYes]);
    expect((await tokens(bob, 'sort=size')).length).toBe(7);
  });

  it('returns cached pages with their age', async () => {
    const path = `/v3/wallets/${dave}/positions`;
    const { headers } = await api.get(path, key);
    expect([headers.get('cache-control'), headers.get('age')]).toEqual(['private, max-age=5', '0']);
    api.clock.nowMs += 4_000;
    expect((await api.get(path, key)).headers.get('age')).toBe('4');
    api.clock.nowMs += 1_000;
    expect((await api.get(path, key)).headers.get('age')).toBe('0');
  });
});

describe('GET /v3/positions', () => {
  const of = async (query: string) =>
    (await get(`positions?${query}`)).positions.map((row) => [row.wallet, row.token_id]);

  it('lists the positions of a token or a market', async () => {
    const [first] = (await get(`positions?token_id=${rainNo}`)).positions;
    expect(first).toEqual({
      wallet: bob,
      token_id: rainNo,
      size: 10,
      avg_price: 0.5,
      realized_pnl: 0,
      unrealized_pnl: -5,
      total_pnl: -5,
      current_price: 0,
      price_source: 'settlement',
      price_updated_at: String(T + 18),
      total_bought: 10,
      complete: true,
      resolved: true,
      status: 'redeemable',
      market: rain.question,
      slug: rain.slug,
      outcome: 'No',
      outcome_index: 1,
      image: null,
      condition_id: rain.conditionId,
      neg_risk: true,
    });
    expect(await of('market_slug=rain')).toEqual([
      [alice, rainYes],
      [bob, rainYes],
      [bob, rainNo],
    ]);
    expect(await of('market_slug=rain&order=asc&limit=1')).toEqual([[bob, rainNo]]);
    expect(await of('market_slug=rain&sort=pnl&status=closed')).toEqual([[bob, rainYes]]);
    expect(await of(`condition_id=${snow.conditionId}&sort=size&min_size=100.000001`)).toEqual([[bob, snowNo]]);
    expect(await of(`condition_id=${snow.conditionId}&sort=volume&limit=1&offset=2`)).toEqual([[alice, snowYes]]);
    expect(await of(`condition_id=${snow.conditionId}&token_id=${rainNo}`)).toEqual([]);
    expect(await of('market_slug=rain&status=redeemable')).toEqual([[bob, rainNo]]);
    expect(await of(`condition_id=${snow.conditionId}&status=redeemable`)).toEqual([]);
    expect(await of('market_slug=rain&status=all&sort=size&limit=1')).toEqual([[bob, rainNo]]);
    // Alice redeemed hers; Bob sold his.
    expect(await of('market=rain&status=redeemed')).toEqual([[alice, rainYes]]);
    expect(await of('market=rain&status=open')).toEqual([]);
    expect((await api.get('/v3/positions?market_slug=rain', await api.key('free'))).status).toBe(402);
  });

  it('without a market lists the most recently traded or the largest positions', async () => {
    const newest = [...fills].sort((a, b) => b.block - a.block || b.logIndex - a.logIndex);
    const traded = [...new Set(newest.map(({ maker, tokenId }) => `${maker} ${tokenId}`))];
    const recent = (await of('')).map(([wallet, token]) => `${wallet} ${token}`);
    expect(recent.length).toBeGreaterThan(2);
    expect(recent).toEqual(traded.filter((one) => recent.includes(one)));
    expect((await of('limit=1&offset=1')).map((row) => row.join(' '))).toEqual(recent.slice(1, 2));
    const rows = (await get('positions?limit=300')).positions;
    const where = (keep: (row: Row) => boolean) => rows.filter(keep).map((row) => [row.wallet, row.token_id]);
    for (const status of ['open', 'redeemable', 'closed', 'redeemed'])
      expect(await of(`status=${status}`), status).toEqual(where((row) => row.status === status));
    expect(await of('min_size=50')).toEqual(where((row) => Number(row.size) >= 50));
    // No snapshot exists.
    expect(await of('sort=size')).toEqual([]);
    for (const [query, given] of [
      ['sort=pnl', 'sort=pnl'],
      ['sort=size&order=asc', 'order=asc'],
    ])
      expect(await api.get(`/v3/positions?${query}`, key)).toMatchObject({
        status: 400,
        body: { error: `${given} needs token_id, condition_id or market_slug; without them use sort=recent or size` },
      });
  });
});

describe('GET holders', () => {
  const rows = async (path: string) =>
    (await get(`markets/${path}`)).data.map((row) => [row.user, row.token_id, row.realized_pnl]);

  it('lists the holders of a market, largest first', async () => {
    const { data } = await get(`markets/condition/${snow.conditionId}/positions`);
    expect(data).toEqual(
      [
        [alice, snowYes, '100000000', '400000', '2000000', '160000000'],
        [bob, snowNo, '200000000', '500000', '0', '200000000'],
        [carol, snowNo, '50000000', '600000', '0', '50000000'],
        // Her sale is of untracked shares; his shares are a zero-cost transfer.
        [carol, snowYes, null, null, null, null],
        [dave, snowYes, '20000000', null, '0', '0'],
        [bob, snowYes, '100000000', '500000', '-10000000', '200000000'],
      ].map(([user, token_id, amount, avg_price, realized_pnl, total_bought]) => ({
        user,
        token_id,
        amount,
        avg_price,
        realized_pnl,
        total_bought,
        complete: amount !== null,
      })),
    );
    expect(await rows(`condition/${snow.conditionId}/positions?sort=amount&limit=2`)).toEqual([
      [bob, snowNo, '0'],
      [alice, snowYes, '2000000'],
    ]);
    expect(await rows('slug/snow-lisbon-may/positions?sort=volume&limit=1&offset=2')).toEqual([
      [alice, snowYes, '2000000'],
    ]);
    expect(await rows('slug/snow-lisbon-may/positions?status=closed')).toEqual([[carol, snowYes, null]]);
    expect(await rows('slug/snow-lisbon-may/positions?status=open')).toHaveLength(5);
    // By the amount alone: Rain is settled.
    expect(await rows('slug/rain/positions?status=open')).toEqual([[bob, rainNo, '0']]);
    expect(await rows('slug/nowhere/positions')).toEqual([]);
    expect((await get(`markets/${rainYes}/positions`)).data).toEqual([
      {
        user: bob,
        amount: '0',
        avg_price: '500000',
        realized_pnl: '4000000',
        total_bought: '10000000',
        complete: true,
      },
      {
        user: alice,
        amount: '0',
        avg_price: '900000',
        realized_pnl: '990000',
        total_bought: '10000000',
        complete: true,
      },
    ]);
    expect((await get('markets/999999/positions')).data).toEqual([]);
  });

  it('limits pages by plan', async () => {
    const path = `/v3/markets/condition/${snow.conditionId}/positions?limit=5000`;
    const limitOf = async (plan: 'starter' | 'growth' | 'enterprise') =>
      (await api.ok<Body>(path, await api.key(plan))).limit;
    expect([await limitOf('starter'), await limitOf('growth'), await limitOf('enterprise')]).toEqual([300, 1000, 1000]);
    expect((await get(`markets/${snowYes}/positions?limit=5000`)).limit).toBe(300);
    const free = await api.key('free');
    for (const name of [`condition/${snow.conditionId}`, 'slug/rain', snowYes])
      expect((await api.get(`/v3/markets/${name}/positions`, free)).status).toBe(402);
    for (const [name, error] of [
      ['condition/0x1/positions', 'invalid condition_id: use 0x and 64 hex digits'],
      ['x/positions', 'invalid token_id: use a decimal uint256'],
      ['slug/rain/positions?status=won', 'invalid status: use open or closed'],
      ['slug/rain/positions?sort=size', 'invalid sort: use pnl, realized_pnl, amount, volume'],
    ])
      expect(await api.get(`/v3/markets/${name}`, key)).toMatchObject({ status: 400, body: { error } });
  });

  it('lists each holder once over all pages while new ones arrive', async () => {
    const path = `condition/${snow.conditionId}/positions?sort=amount`;
    const all = await rows(path);
    let block = 200;
    const walked = await walkPages<Body>(get, `markets/${path}&limit=2`, async () => {
      await insertAccounts(api.clickhouse, [buy(address(block), block, snowYes, 5000, 2000)]);
      block += 1;
      api.clock.nowMs += 60_000;
    });
    const pages = walked.flatMap((page) => page.data.map((row) => [row.user, row.token_id, row.realized_pnl]));
    expect(pages).toEqual(all);
    expect(await rows(path)).toHaveLength(all.length + 2);
  });
});

describe('GET /v3/wallets/{address}/combos', () => {
  const frank = address(0xf6);
  const comboNo = (BigInt(comboYes) + 1n).toString();
  type Page = Row & { positions: Row[]; activity: Row[]; redemptions: Row[]; next_cursor: string | null };
  const combos = (path: string) => api.ok<Page>(`/v3/wallets/${frank}/combos/${path}`, key);
  const redeem = (block: number, shares: number) =>
    activityOf({
      wallet: frank,
      block_number: block,
      action: 'REDEEM',
      tokens: [comboYes],
      amounts: [units(shares)],
      usdc: units(shares),
    });
  /** Yes: 10 for 5, 90 for 13; 50 sold for 15 against 9, twice 25 paid out in full against 4.50. No: 10 for 5, without a price. */
  const before = [
    activityOf({
      wallet: frank,
      block_number: 130,
      action: 'SPLIT',
      tokens: [comboYes, comboNo],
      amounts: [units(10), units(10)],
      usdc: units(10),
    }),
    buy(frank, 131, comboYes, 90, 13),
    { ...buy(frank, 132, comboYes, 50, 15), action: 'SELL' as const },
    redeem(133, 25),
    redeem(134, 25),
  ];

  beforeAll(async () => {
    await insertAccounts(api.clickhouse, [...before, buy(frank, 129, snowYes, 1, 0.4)]);
    api.clock.nowMs += 60_000;
  });

  it('returns positions and PnL', async () => {
    const { elapsed_ms: _, ...summary } = await combos('summary');
    expect(summary).toEqual({
      address: frank,
      position_type: 'combo',
      realized_pnl: '47',
      gross_profit: '47',
      gross_loss: '0',
      unrealized_pnl: '0',
      total_pnl: '47',
      total_volume: '28',
      wins: 1,
      losses: 0,
      position_count: 2,
      open_positions: 1,
      complete: true,
      source: 'v3.wallet_combos.summary',
    });
    expect(await combos(`summary?position_id=${comboNo}`)).toMatchObject({ realized_pnl: '0', position_count: 1 });
    const of = async (query: string) =>
      (await combos(`positions?${query}`)).positions.map((row) => [row.position_id, row.size, row.status]);
    const [yes, no] = [
      [comboYes, '0', 'redeemed'],
      [comboNo, '10', 'open'],
    ];
    expect(await of('')).toEqual([yes, no]);
    expect(await of('limit=1&offset=1')).toEqual([no]);
    expect(await of('status=open')).toEqual([no]);
    expect(await of(`condition_id=${comboCondition}&position_id=${comboYes}`)).toEqual([yes]);
    expect(await of(`market_id=0x${'03'.repeat(31)}`)).toEqual([]);
  });

  it('lists position changes', async () => {
    const { activity } = await combos('activity');
    expect(
      activity.map((row) => [row.event_kind, row.outcome, row.size, row.amount, row.realized_pnl, row.size_after]),
    ).toEqual([
      ['redeem', 'Yes', '25', '25', '20.5', '0'],
      ['redeem', 'Yes', '25', '25', '20.5', '25'],
      ['sell', 'Yes', '50', '15', '6', '50'],
      ['buy', 'Yes', '90', '-13', '0', '100'],
      ['split', 'No', '10', '-5', '0', '10'],
      ['split', 'Yes', '10', '-5', '0', '10'],
    ]);
    expect(activity[0]).toMatchObject({
      block_number: 134,
      log_index: 0,
      timestamp: T + 68,
      condition_id: comboCondition,
    });
    const { redemptions } = await combos('redemptions');
    expect(redemptions.map((row) => [row.redemption_scope, row.payout, row.size])).toEqual([
      ['full', '25', '25'],
      ['partial', '25', '25'],
    ]);
    expect((await combos('redemptions?redemption_scope=partial')).redemptions).toEqual(redemptions.slice(1));
    const kinds = async (query: string) => (await combos(`activity?${query}`)).activity.map((row) => row.event_kind);
    expect(await kinds('event_kind=sell')).toEqual(['sell']);
    expect(await kinds(`after=${T + 62}&before=${T + 64}`)).toEqual(['sell', 'buy']);
    expect(await kinds(`position_id=${comboNo}`)).toEqual(['split']);
    for (const [path, error] of [
      ['activity?event_kind=gift', 'invalid event_kind: use buy, sell, split, merge, redeem, convert, send, receive'],
      ['activity?cursor=134-0', 'invalid cursor: use next_cursor of an earlier page'],
      ['positions?condition_id=0x1', 'invalid condition_id: use 0x and 62 hex digits'],
    ])
      expect(await api.get(`/v3/wallets/${frank}/combos/${path}`, key)).toMatchObject({ status: 400, body: { error } });
    const free = await api.key('free');
    for (const path of ['positions', 'summary', 'activity', 'redemptions'])
      expect((await api.get(`/v3/wallets/${frank}/combos/${path}`, free)).status).toBe(402);
  });

  it('lists each change once over all pages while changes arrive', async () => {
    const whole = (await combos('activity')).activity.map((row) => row.id);
    let block = 300;
    const arrive = async () => {
      block += 1;
      await insertAccounts(api.clickhouse, [buy(frank, block, comboYes, 5, 1)]);
      api.clock.nowMs += 6_000;
    };
    const pages = await walkPages<Page>(combos, 'activity?limit=1', arrive);
    expect(pages.flatMap((page) => page.activity.map((row) => row.id))).toEqual(whole);
  });
});
