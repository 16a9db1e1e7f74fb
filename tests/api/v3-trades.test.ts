import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordedTrades } from '../../schemas/primitives/recorded-ids.fixture.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { cursorWith } from '../support/page-walk.js';
import { type FillInput, fillRow, insertFills } from '../support/rows.js';
import {
  alice,
  bob,
  builder,
  carol,
  comboCondition,
  comboYes,
  fillId,
  fills,
  insertVenue,
  order,
  snow,
  snowNo,
  snowYes,
  T,
  tx,
} from '../support/venue.js';

let api: ApiHarness;
let key: string;

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('enterprise');
  await insertVenue(api.clickhouse);
});
afterAll(() => api.stop());

type Body = Record<string, unknown> & { trades: Record<string, unknown>[] };
const get = (path: string) => api.ok<Body>(path, key);
const idsOf = async (path: string) => (await get(path)).trades.map((row) => row.id);
const wallet = (query: string, who = alice) => `/v3/wallets/${who}/trades?${query}`;

describe('GET /v3/wallets/{address}/trades', () => {
  it("returns each fill from the wallet's perspective, direction inverted where it was the taker", async () => {
    const page = await get(wallet('', `0x${alice.slice(2).toUpperCase()}`));
    expect(page).toMatchObject({ address: alice, rows_returned: 6, has_more: false, offset: 0, limit: 100 });
    expect(
      page.trades.map(({ id, role, direction, side, price, outcome }) => [id, role, direction, side, price, outcome]),
    ).toEqual([
      [fillId(7), 'maker', 'BUY', null, 0.9, 'Yes'],
      [fillId(6), 'taker', 'BUY', null, 0.9, 'Yes'],
      [fillId(4), 'maker', 'BUY', 0, 0.4, 'Yes'],
      [fillId(3), 'maker', 'BUY', 0, 0.4, 'Yes'],
      [fillId(2), 'taker', 'SELL', 0, 0.6, 'No'],
      [fillId(0), 'maker', 'BUY', 0, 0.4, 'Yes'],
    ]);
    expect(page.trades[4]).toMatchObject({
      maker: carol,
      taker: alice,
      maker_asset_id: '0',
      maker_amount: 30,
      taker_asset_id: snowNo,
      taker_amount: 50,
      amount_usd: 30,
    });
  });

  it.each<[string, number[]]>([
    ['side=maker', [7, 4, 3, 0]],
    ['side=taker', [6, 2]],
    ['order=asc&limit=2&offset=1', [2, 3]],
    [`token_id=${snowYes}`, [4, 3, 0]],
    [`condition_id=${snow.conditionId}`, [4, 3, 2, 0]],
    ['market_slug=rain', [7, 6]],
    ['event_id=77', [7, 6]],
    ['event_slug=nothing', []],
    [`order_hash=${order(1)}`, [4, 0]],
    ['min_amount_usd=9.000001', [3, 2, 0]],
    ['min_amount=30000000', [2, 0]],
    [`after=${T + 2}&before=${T + 4}`, [4, 3, 2]],
    ['sort_by=order_hash', [7, 6, 4, 0, 3, 2]],
    [`cursor=${cursorWith('/v3/wallets/{address}/trades', 'desc', 101, 2)}`, [2, 0]],
  ])('?%s', async (query, expected) => expect(await idsOf(wallet(query))).toEqual(expected.map(fillId)));

  it('groups fills by own order, and by transaction', async () => {
    const orders = await get(wallet('group_by=order_hash'));
    expect(
      orders.trades.map((row) => [row.order_hash, row.role, row.fill_count, row.total_usd, row.total_shares]),
    ).toEqual([
      [order(7), 'taker', 1, 9, 10],
      [order(1), 'maker', 2, 44, 110],
      [order(4), 'taker', 1, 20, 50],
    ]);
    expect(Object.keys(orders).sort()).toEqual([
      'address',
      'elapsed_ms',
      'grouped_by',
      'next_cursor',
      'rows_returned',
      'trades',
    ]);
    for (const name of ['user_trade', 'transaction_hash']) {
      const trades = await get(wallet(`group_by=${name}`));
      expect(trades.grouped_by).toBe('user_trade');
      expect(
        trades.trades.map((row) => [row.transaction_hash, row.role, row.direction, row.amount_usd, row.fill_count]),
      ).toEqual([
        [tx(4), 'taker', 'BUY', 9, 1],
        [tx(3), 'maker', 'BUY', 4, 1],
        [tx(2), 'taker', 'BUY', 20, 1],
        [tx(1), 'maker', 'BUY', 40, 1],
      ]);
    }
    const roles = async (side: string) =>
      (await get(wallet(`group_by=user_trade&side=${side}`))).trades.map((row) => [row.transaction_hash, row.role]);
    expect(await roles('taker')).toEqual([
      [tx(4), 'taker'],
      [tx(2), 'taker'],
    ]);
    expect(await roles('maker')).toEqual([
      [tx(3), 'maker'],
      [tx(1), 'maker'],
    ]);
    const ordersOf = async (side: string) =>
      (await get(wallet(`group_by=order_hash&side=${side}`))).trades.map((row) => row.order_hash);
    expect(await ordersOf('taker')).toEqual([order(7), order(4)]);
    expect(await ordersOf('maker')).toEqual([order(1)]);
    const bobs = await get(wallet('group_by=user_trade', bob));
    expect(bobs.trades.map((row) => [row.direction, row.amount_usd, row.fee])).toEqual([
      ['SELL', 9, 0],
      ['SELL', 40, 0.5],
    ]);
  });

  it('lists only the combo trades in which the wallet had the requested role', async () => {
    expect(await get(wallet('include_combos=true&side=maker'))).toMatchObject({ combo_trade_count: 1 });
    expect(await get(wallet('include_combos=true&side=taker'))).toMatchObject({ combo_trade_count: 0 });
  });

  it('adds combo trades with include_combos', async () => {
    const page = await get(wallet('include_combos=true&limit=2'));
    expect(page.trades.map((row) => row.id)).toEqual([fillId(7), fillId(6)]);
    expect(page).toMatchObject({
      include_combos: true,
      included_position_types: ['market', 'combo'],
      combo_trade_count: 1,
      combo_has_more: false,
      combo_next_cursor: null,
      combo_source: 'v3.wallet_combos.trades',
    });
    expect(page.combo_trades).toEqual([
      {
        position_type: 'combo',
        wallet_role: 'maker',
        wallet_address: alice,
        counterparty_address: carol,
        combo_condition_id: comboCondition,
        condition_id: comboCondition,
        position_id: comboYes,
        side: 'BUY',
        price: '0.1250',
        size: '80.000000',
        fee: '0.050000',
        tx_hash: tx(5),
        log_index: 41,
        block_number: 104,
        timestamp: T + 8,
        source: 'v3.wallet_combos.trades',
      },
    ]);
    expect(await get(wallet('include_combos=1', bob))).toMatchObject({ combo_trades: [], combo_trade_count: 0 });
  });

  it.each([
    ['/v3/wallets/0x12/trades', 'invalid address: use 0x and 40 hex digits'],
    [wallet('include_combos=true&group_by=order_hash'), 'include_combos cannot be combined with order_hash'],
    [wallet(`include_combos=true&order_hash=${order(1)}`), 'include_combos cannot be combined with order_hash'],
    [wallet('side=buy'), 'invalid side: use maker, taker or both'],
    [wallet('combo_cursor=x'), 'combo_cursor needs include_combos'],
    [wallet('include_combos=true&combo_cursor=x'), 'invalid cursor: use next_cursor of an earlier page'],
    [wallet('order_hash='), 'invalid order_hash: use 0x and 64 hex digits'],
    [wallet('include_combos=perhaps'), 'invalid include_combos: use true or false'],
    ['/v3/markets/0x1/trades', 'invalid token_id: use a decimal uint256'],
    ['/v3/builders/zz/trades', 'invalid builder code: use 64 hex digits'],
    [
      `/v3/wallets/${alice}/combos/trades?condition_id=${snow.conditionId}`,
      'invalid condition_id: use 0x and 62 hex digits',
    ],
    [`/v3/wallets/${alice}/combos/trades?side=both`, 'invalid side: use BUY, SELL or all'],
  ])('rejects %s', async (path, error) => {
    const { status, body } = await api.get(path, key);
    expect({ status, body }).toEqual({ status: 400, body: { error } });
  });
});

describe('the other /v3 fill lists', () => {
  it('token, market and builder', async () => {
    expect(await get(`/v3/markets/${snowYes}/trades`)).toMatchObject({ token_id: snowYes, rows_returned: 5 });
    expect(await idsOf(`/v3/markets/${snowYes}/trades?order=asc&limit=2`)).toEqual([fillId(0), fillId(1)]);
    expect(await idsOf('/v3/markets/slug/snow-lisbon-may/trades')).toEqual([5, 4, 3, 2, 1, 0].map(fillId));
    expect(await idsOf('/v3/markets/slug/snow-lisbon-may/trades?limit=2&offset=2')).toEqual([3, 2].map(fillId));
    expect(
      await idsOf(
        '/v3/markets/slug/snow-lisbon-may/trades?' +
          `cursor=${cursorWith('/v3/markets/slug/{slug}/trades', 'desc', 101, 2)}`,
      ),
    ).toEqual([2, 1, 0].map(fillId));
    expect(await get('/v3/markets/slug/nothing/trades')).toMatchObject({
      slug: 'nothing',
      trades: [],
      has_more: false,
    });
    expect(await get('/v3/markets/12345/trades')).toMatchObject({ token_id: '12345', trades: [], has_more: false });
    const grouped = await get(`/v3/markets/${snowYes}/trades?group_by=order_hash`);
    expect(grouped.trades.map((row) => row.order_hash)).toEqual([5, 1, 4, 2].map(order));
  });

  it('builder with and without 0x, by tag', async () => {
    const own = { builder_code: builder, builder_name: null, builder_logo: null, builder_verified: null };
    for (const code of [builder, builder.slice(2)]) {
      const page = await get(`/v3/builders/${code}/trades`);
      expect(page).toMatchObject({ builder, ...own, rows_returned: 1 });
      expect(page.trades[0]).toMatchObject({ id: fillId(3), builder, ...own });
    }
    expect(await idsOf(`/v3/builders/${builder}/trades?tag_slug=europe&side=buy`)).toEqual([fillId(3)]);
    expect(await idsOf(`/v3/builders/${builder}/trades?category=weather`)).toEqual([fillId(3)]);
    expect(await idsOf(`/v3/builders/${builder}/trades?tag_slug=nothing`)).toEqual([]);
    expect(await idsOf(`/v3/builders/${builder}/trades?side=sell`)).toEqual([]);
    expect(await idsOf(`/v3/builders/${order(9)}/trades`)).toEqual([]);
  });

  it('combos by condition, position and side', async () => {
    const of = async (query: string, who = alice) =>
      (await get(`/v3/wallets/${who}/combos/trades?${query}`)).trades.map((row) => [row.wallet_role, row.tx_hash]);
    expect(await of('')).toEqual([['maker', tx(5)]]);
    expect(await of('', carol)).toEqual([['taker', tx(5)]]);
    expect(await of('', bob)).toEqual([]);
    expect(await of(`condition_id=${comboCondition}&side=BUY`)).toHaveLength(1);
    expect(await of(`market_id=${comboCondition}&position_id=${comboYes}`)).toHaveLength(1);
    expect(await of(`position_id=${BigInt(comboYes) + 1n}`)).toEqual([]);
    expect(await of(`condition_id=${comboCondition}&position_id=7`)).toEqual([]);
    expect(await of('side=SELL')).toEqual([]);
    expect(await of('side=all&limit=900')).toHaveLength(1);
  });

  it('require a paid plan and count as heavy, all six', async () => {
    const free = await api.key('free');
    const paths = [
      '/v3/trades',
      `/v3/wallets/${alice}/trades`,
      `/v3/wallets/${alice}/combos/trades`,
      `/v3/markets/${snowYes}/trades`,
      '/v3/markets/slug/rain/trades',
      `/v3/builders/${builder}/trades`,
    ];
    const starter = await api.key('growth');
    for (const path of paths) {
      expect((await api.get(path)).status).toBe(401);
      expect((await api.get(path, free)).status).toBe(402);
      // Per minute 1,500 heavy and 2,000 standard requests.
      expect((await api.get(path, starter)).headers.get('x-ratelimit-limit')).toBe('1500');
    }
  });

  it('finds the fills of a condition that neither the catalogue nor a log of the condition names', async () => {
    const [recorded] = recordedTrades;
    const { conditionId, tokenId } = recorded as (typeof recordedTrades)[number];
    const other = order(0xc0);
    for (const id of [conditionId, other]) expect(await idsOf(`/v3/trades?condition_id=${id}`)).toEqual([]);
    const [like] = fills;
    await insertFills(api.clickhouse, [fillRow({ ...(like as FillInput), tokenId, block: 105 })]);
    expect((await get(`/v3/trades?condition_id=${conditionId}`)).trades).toMatchObject([{ token_id: tokenId }]);
    expect((await get(wallet(`condition_id=${conditionId}`))).trades).toHaveLength(1);
    for (const query of [`condition_id=${other}`, `condition_id=${conditionId}&market_slug=snow-lisbon-may`])
      expect(await idsOf(`/v3/trades?${query}`)).toEqual([]);
  });
});
