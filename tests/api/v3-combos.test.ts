import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { walkPages } from '../support/page-walk.js';
import { activityOf, insertAccounts } from '../support/positions.js';
import { address } from '../support/rows.js';
import { carol, comboCondition, comboYes, insertVenue, snowYes, T, tx } from '../support/venue.js';

const gina = address(0xf7);
const harry = address(0xf8);
/** Three legs. */
const other = `0x03${'d'.repeat(32)}0003${'0'.repeat(24)}`;
const otherYes = (BigInt(other) << 8n).toString();
const otherNo = ((BigInt(other) << 8n) + 1n).toString();
const units = (usd: number) => BigInt(Math.round(usd * 1e6));
const usdc = (dollars: number) => ({ usdc: units(dollars), exchange_version: 3 });
const one = (token: string, shares: number) => ({ tokens: [token], amounts: [units(shares)] });

/** Gina splits 10 and sells Harry 4 Yes for 1; her No pays. Carol's 80 are a fill of the shared fixtures; her Snow is not a combo. */
const happened = [
  activityOf({ wallet: carol, block_number: 103, action: 'BUY', ...one(snowYes, 5), usdc: units(2) }),
  activityOf({ wallet: carol, block_number: 104, log_index: 41, action: 'BUY', ...one(comboYes, 80), ...usdc(10) }),
  activityOf({
    wallet: gina,
    block_number: 120,
    action: 'SPLIT',
    tokens: [otherYes, otherNo],
    amounts: [units(10), units(10)],
    usdc: units(10),
  }),
  activityOf({ wallet: gina, block_number: 121, action: 'SELL', ...one(otherYes, 4), ...usdc(1) }),
  activityOf({
    wallet: harry,
    id: `${tx(121)}-0-taker`,
    block_number: 121,
    action: 'BUY',
    ...one(otherYes, 4),
    ...usdc(1),
  }),
  activityOf({ wallet: gina, block_number: 125, action: 'REDEEM', ...one(otherNo, 10), usdc: units(10) }),
];

let api: ApiHarness;
let key: string;
beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('starter');
  await insertVenue(api.clickhouse);
  await insertAccounts(api.clickhouse, happened);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
type Page = Row & {
  activity: Row[];
  redemptions: Row[];
  markets: Row[];
  has_more: boolean;
  next_cursor: string | null;
};
const get = (path: string) => api.ok<Page>(`/v3/combos/${path}`, key);

describe('/v3/combos', () => {
  it('lists position changes', async () => {
    const page = await get('activity');
    expect(page).toMatchObject({ position_type: 'combo', source: 'v3.combos.activity', rows_returned: 6 });
    expect(
      page.activity.map((row) => [row.wallet, row.event_kind, row.outcome, row.size, row.amount, row.realized_pnl]),
    ).toEqual([
      [gina, 'redeem', 'No', '10', '10', '5'],
      [harry, 'buy', 'Yes', '4', '-1', '0'],
      [gina, 'sell', 'Yes', '4', '1', '-1'],
      [gina, 'split', 'No', '10', '-5', '0'],
      [gina, 'split', 'Yes', '10', '-5', '0'],
      [carol, 'buy', 'Yes', '80', '-10', '0'],
    ]);
    // As in the wallet's list.
    const own = await api.ok<Page>(`/v3/wallets/${gina}/combos/activity`, key);
    expect(page.activity.filter((row) => row.wallet === gina)).toEqual(
      own.activity.map((row) => ({ wallet: gina, ...row })),
    );
    const kinds = async (query: string) =>
      (await get(`activity?${query}`)).activity.map((row) => `${row.wallet === gina ? 'gina ' : ''}${row.event_kind}`);
    expect(await kinds('event_kind=buy')).toEqual(['buy', 'buy']);
    expect(await kinds(`position_id=${otherNo}`)).toEqual(['gina redeem', 'gina split']);
    expect(await kinds(`condition_id=${comboCondition}`)).toEqual(['buy']);
    expect(await kinds(`after=${T + 42}&before=${T + 42}`)).toEqual(['buy', 'gina sell']);
    expect(await kinds('limit=2&offset=1')).toEqual(['buy', 'gina sell']);
    expect(await kinds(`wallet=${gina}`)).toEqual(['gina redeem', 'gina sell', 'gina split', 'gina split']);
    expect(await kinds(`wallet=${harry.toUpperCase().replace('X', 'x')}&event_kind=buy`)).toEqual(['buy']);
    expect(await kinds(`address=${carol}`)).toEqual(['buy']);
    expect(await kinds(`wallet=${gina}&limit=2&offset=1`)).toEqual(['gina sell', 'gina split']);
    expect(await kinds(`wallet=${address(0xabc)}`)).toEqual([]);
  });

  it('lists redemptions', async () => {
    const page = await get('redemptions');
    expect(page).toMatchObject({ source: 'v3.combos.redemptions', rows_returned: 1, has_more: false });
    expect(page.redemptions).toEqual([
      {
        wallet: gina,
        id: `${tx(125)}-0-0`,
        position_type: 'combo',
        combo_condition_id: other,
        condition_id: other,
        position_id: otherNo,
        outcome: 'No',
        outcome_index: 1,
        redemption_scope: 'full',
        size: '10',
        payout: '10',
        realized_pnl: '5',
        tx_hash: tx(125),
        log_index: 0,
        block_number: 125,
        timestamp: T + 50,
      },
    ]);
    for (const path of ['combos', `wallets/${gina}/combos`])
      for (const [query, count] of [
        [`condition_id=${comboCondition}`, 0],
        [`tx_hash=${tx(125)}&redemption_scope=full`, 1],
        ['redemption_scope=all', 1],
        ['redemption_scope=partial', 0],
        ['redemption_scope=transformation', 0],
        [`tx_hash=${tx(121)}`, 0],
      ] as const) {
        const { redemptions } = await api.ok<Page>(`/v3/${path}/redemptions?${query}`, key);
        expect([path, query, redemptions.length]).toEqual([path, query, count]);
      }
  });

  it('lists redemptions of one wallet', async () => {
    const of = async (query: string) => (await get(`redemptions?${query}`)).redemptions.map((row) => row.wallet);
    expect(await of(`wallet=${gina}`)).toEqual([gina]);
    expect(await of(`wallet=${harry}`)).toEqual([]);
    expect(await of(`wallet=${gina}&redemption_type=full`)).toEqual([gina]);
    expect(await of(`wallet=${gina}&redemption_type=partial`)).toEqual([]);
  });

  it('pages of one wallet by cursor are its rows', async () => {
    const all = (await get(`activity?wallet=${gina}`)).activity;
    const pages = await walkPages<Page>(get, `activity?wallet=${gina}&limit=1`);
    const listed = pages.flatMap((page) => page.activity);
    expect(listed).toEqual(all);
    expect(listed).toHaveLength(4);
  });

  it('lists combo markets', async () => {
    const page = await get('markets');
    expect(page).toMatchObject({ source: 'v3.combos.markets', rows_returned: 2, has_more: false, next_cursor: null });
    const [newer, older] = page.markets;
    expect(newer).toEqual({
      position_type: 'combo',
      combo_condition_id: other,
      condition_id: other,
      module: 'CombinatorialModule',
      leg_count: 3,
      position_ids: [otherYes, otherNo],
      outcomes: ['Yes', 'No'],
      outcome_prices: [null, null],
      price_sources: [null, null],
      prices_updated_at: [null, null],
      trades: 0,
      volume: '0',
      event_count: 5,
      redemption_count: 1,
      first_activity_at: T + 40,
      last_activity_at: T + 50,
    });
    // From the fill: 80 for 10.
    expect(older).toMatchObject({
      condition_id: comboCondition,
      leg_count: 2,
      outcome_prices: ['0.125', null],
      price_sources: ['last_fill', null],
      prices_updated_at: [T + 8, null],
      trades: 1,
      volume: '10',
      event_count: 1,
      redemption_count: 0,
    });
    const ids = async (query: string) => (await get(`markets?${query}`)).markets.map((row) => row.condition_id);
    expect(await ids('sort=volume')).toEqual([comboCondition, other]);
    expect(await ids(`position_id=${otherNo}`)).toEqual([other]);
    expect(await ids('position_id=5')).toEqual([]);
    expect(await ids('status=open')).toEqual([other, comboCondition]);
    expect(await ids('status=all')).toEqual([other, comboCondition]);
    expect(await ids(`status=closed&condition_id=${other}`)).toEqual([]);
    expect(await ids(`market_id=0x${'03'.repeat(31)}`)).toEqual([]);
  });

  it('rejects invalid parameters and the free plan', async () => {
    for (const [path, error] of [
      ['activity?event_kind=gift', 'invalid event_kind: use buy, sell, split, merge, redeem, convert, send, receive'],
      ['activity?cursor=134-0', 'invalid cursor: use next_cursor of an earlier page'],
      ['activity?cursor=134-0-70000-x', 'invalid cursor: use next_cursor of an earlier page'],
      ['redemptions?redemption_scope=some', 'invalid redemption_scope: use full, partial, transformation or all'],
      ['redemptions?tx_hash=0x1', 'invalid tx_hash: use 0x and 64 hex digits'],
      ['redemptions?condition_id=0x1', 'invalid condition_id: use 0x and 62 hex digits'],
      ['markets?sort=luck', 'invalid sort: use recent or volume'],
      ['markets?status=won', 'invalid status: use open, closed, resolved or all'],
      ['activity?wallet=0x1', 'invalid wallet: use 0x and 40 hex digits'],
      [
        `activity?condition_id=${comboCondition}&market_id=${other}`,
        "Query parameters 'condition_id' and 'market_id' are the same and differ: give one",
      ],
    ])
      expect(await api.get(`/v3/combos/${path}`, key)).toMatchObject({ status: 400, body: { error } });
    const free = await api.key('free');
    for (const path of ['markets', 'activity', 'redemptions'])
      expect((await api.get(`/v3/combos/${path}`, free)).status).toBe(402);
  });
});

it('/v3/combos pages list each event once while events arrive at the end and in between', async () => {
  const whole = (await get('activity')).activity.map((row) => row.id);
  const markets = (await get('markets')).markets.map((row) => row.condition_id);
  let [arrived, skipped] = [0, 0];
  /** The newest event, of a new combo; and a late one of another wallet, directly after the formerly newest one. */
  const arrive = async () => {
    arrived += 1;
    const fresh = (
      BigInt(`0x03${'e'.repeat(28)}${arrived.toString(16).padStart(4, '0')}0002${'0'.repeat(24)}`) << 8n
    ).toString();
    await insertAccounts(api.clickhouse, [
      activityOf({
        wallet: address(arrived),
        block_number: 300 + arrived,
        action: 'BUY',
        ...one(fresh, 5),
        ...usdc(1),
      }),
      activityOf({
        wallet: address(arrived),
        block_number: 124,
        log_index: arrived,
        action: 'BUY',
        ...one(otherYes, 1),
        ...usdc(1),
      }),
    ]);
    api.clock.nowMs += 31_000;
  };
  const activity = await walkPages<Page>(get, 'activity?limit=1', async () => {
    // The second page starts before the place at which late events arrive.
    if (skipped > 0) await arrive();
    skipped += 1;
  });
  expect(activity.flatMap((page) => page.activity.map((row) => row.id))).toEqual(whole);
  // Late events after the place of the last row are listed.
  const first = await get(`activity?limit=${arrived}`);
  const late = Array.from({ length: arrived }, (_, i) => `${tx(124)}-${arrived - i}-0`);
  const rest = await get(`activity?cursor=${first.next_cursor}`);
  expect(rest.activity.map((row) => row.id)).toEqual([whole[0], ...late, ...whole.slice(1)]);

  const listed = (await get('markets')).markets.map((row) => row.condition_id);
  expect(listed.slice(-2)).toEqual(markets);
  const pages = await walkPages<Page>(get, 'markets?limit=1', arrive);
  expect(pages.flatMap((page) => page.markets.map((row) => row.condition_id))).toEqual(listed);
});

it('/v3/combos status is closed once the positions are settled', async () => {
  await api.clickhouse.command(`INSERT INTO token_settlements (token_id, condition_id, outcome_index, numerator, denominator, timestamp, _offset)
    SELECT toUInt256('${otherYes}') + number, '${other}', number, number, 1, ${T + 60}, number FROM numbers(2)`);
  api.clock.nowMs += 120_000;
  const ids = async (query: string) => (await get(`markets?${query}`)).markets.map((row) => row.condition_id);
  await expect.poll(() => ids('status=closed')).toEqual([other]);
  expect(await ids('status=resolved')).toEqual([other]);
  expect(await ids('status=open')).not.toContain(other);
  expect(await ids('status=open')).toContain(comboCondition);
  expect(await ids(`status=closed&condition_id=${other}`)).toEqual([other]);
});
