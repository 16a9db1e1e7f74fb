import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import {
  createLeaderboardRefresher,
  type LeaderboardRefresher,
} from '../../processors/leaderboards/leaderboard-refresher.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { cursorWith, walkPages } from '../support/page-walk.js';
import { activityOf, dave, insertAccounts, insertVenueAccounts, tradeOf } from '../support/positions.js';
import { address } from '../support/rows.js';
import {
  alice,
  bob,
  carol,
  comboYes,
  insertVenue,
  rain,
  rainNo,
  rainYes,
  snow,
  snowNo,
  snowYes,
} from '../support/venue.js';

/** Snapshots expire by the engine's clock. */
const NOW_S = Math.floor(Date.now() / 1000);

let api: ApiHarness;
let key: string;
let refresher: LeaderboardRefresher;

const trade = (wallet: string, block: number, action: 'BUY' | 'SELL', shares: number, usd: number, token = snowYes) =>
  tradeOf(wallet, block, action, token, shares, usd);

beforeAll(async () => {
  api = await startApi({ nowMs: NOW_S * 1000 });
  key = await api.key('starter');
  refresher = createLeaderboardRefresher({
    clickhouse: api.clickhouse,
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => api.clock.nowMs,
  });
  await insertVenue(api.clickhouse);
  await insertVenueAccounts(api.clickhouse);
  // PnL of combos is on no leaderboard: 60 of 80 sold for 30 against 7.50.
  await insertAccounts(api.clickhouse, [
    trade(carol, 104, 'BUY', 80, 10, comboYes),
    trade(carol, 107, 'SELL', 60, 30, comboYes),
  ]);
  // Bob's No of rain comes from a split and was never traded: the chain sink writes both tokens of the split.
  await api.clickhouse.insertRows(
    'chain_tokens',
    rain.tokenIds.map((token_id, outcome_index) => ({
      token_id,
      other_token_id: rain.tokenIds[1 - outcome_index],
      condition_id: rain.conditionId,
      outcome_index,
      neg_risk: false,
      _offset: 1,
    })),
  );
  // Tokens of a worthless collateral sent to a wallet: they are on no list, nor in any total.
  await insertAccounts(
    api.clickhouse,
    Array.from({ length: 20 }, (_, n) =>
      activityOf({
        wallet: address(0xee),
        block_number: 108,
        log_index: n,
        action: 'RECEIVE',
        subject: address(0xef),
        tokens: [String(2n ** 255n + BigInt(n))],
        amounts: [2n ** 61n],
      }),
    ),
  );
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
type Body = Row & { leaderboard: Row[]; data: Row[]; has_more: boolean; next_cursor: string | null };
const get = (query: string) => api.ok<Body>(`/v3/leaderboard?${query}`, key);
const wallets = async (query: string) => (await get(query)).leaderboard.map((row) => row.wallet);

type Largest = Row & { positions: Row[]; pagination: { has_more: boolean; next_cursor: string | null } };
const largest = (query: string) => api.ok<Largest>(`/clobv2/positions?${query}`, key);
const positionIds = (page: Largest) => page.positions.map((row) => `${row.wallet} ${row.token_id}`);

describe('/v3 leaderboards', () => {
  it('are empty before the first snapshot', async () => {
    expect(await get('')).toMatchObject({ leaderboard: [], as_of: null, has_more: false, next_cursor: null });
    expect(await api.ok('/v3/stats', key)).toMatchObject({ total_fills: 0, total_volume: '0', as_of: null });
    expect(await largest('')).toMatchObject({ count: 0, as_of: null, pagination: { has_more: false } });
    await refresher.refresh();
  });

  it('rank all wallets by each metric', async () => {
    // Alice 2.99 and 2; Bob 4 - 10 and -5 - 8 + 16; Carol 0 and -1; Dave 0.
    const page = await get('');
    expect(page.leaderboard.map((row) => [row.rank, row.wallet, row.total_pnl])).toEqual([
      [1, alice, 4.99],
      [2, dave, 0],
      [3, carol, -1],
      [4, bob, -3],
    ]);
    expect(page).toMatchObject({ as_of: NOW_S, rows_returned: 4, has_more: false, offset: 0, limit: 100 });
    const { elapsed_ms: _, address: __, ...summary } = await api.ok<Row>(`/v3/wallets/${bob}`, key);
    expect(page.leaderboard[3]).toEqual({ rank: 4, wallet: bob, ...summary });
    expect(summary).toMatchObject({ net_realized_pnl: -6, unrealized_pnl: 3, position_count: 4, open_positions: 2 });
    expect(await wallets('sort=total_pnl')).toEqual([alice, dave, carol, bob]);
    expect(await wallets('sort=realized')).toEqual([alice, carol, dave, bob]);
    expect(await wallets('sort=unrealized')).toEqual([bob, alice, dave, carol]);
    expect(await wallets('sort=profit')).toEqual([bob, alice, carol, dave]);
    expect((await wallets('sort=loss'))[0]).toBe(bob);
    // 91, 49, 34 and 0.
    expect(await wallets('sort=volume')).toEqual([alice, bob, carol, dave]);
    expect(await wallets('sort=wins')).toEqual([alice, bob, carol, dave]);
    expect(await wallets('sort=positions')).toEqual([bob, alice, carol, dave]);
  });

  it('rank the wallets of selected markets', async () => {
    // Snow: Alice 4, Bob -10 - 8 + 16, Carol -1, Dave 0. Rain: Bob 4 - 5, Alice 0.99.
    expect(
      (await get('market_slug=snow-lisbon-may')).leaderboard.map((row) => [row.rank, row.wallet, row.total_pnl]),
    ).toEqual([
      [1, alice, 4],
      [2, dave, 0],
      [3, carol, -1],
      [4, bob, -2],
    ]);
    expect(await wallets('event_slug=sky')).toEqual([alice, bob]);
    expect(await wallets('event_slug=sky&sort=realized')).toEqual([bob, alice]);
    expect(await wallets('tags=europe&sort=loss&limit=1')).toEqual([bob]);
    const longest = Array.from({ length: 19 }, (_, n) => String(n).padStart(300, 'x'));
    expect(await wallets(`tags=${longest},europe&sort=loss&limit=1`)).toEqual([bob]);
    expect(await wallets('tag_slug=weather&market=rain&sort=unrealized')).toEqual([alice, bob]);
    expect(await wallets('tag_slug=nowhere')).toEqual([]);
    expect(await get('market=rain&limit=1&offset=1')).toMatchObject({
      leaderboard: [{ rank: 2, wallet: bob }],
      as_of: null,
    });
    const ofTag = await api.ok<Body>('/v3/tags/weather/leaderboard?sort=profit', key);
    expect(ofTag.data.slice(0, 2)).toEqual([
      {
        wallet: bob,
        net_pnl: '-6',
        gross_profit: '4',
        gross_loss: '-10',
        total_volume: '49',
        position_count: 4,
        complete: true,
      },
      {
        wallet: alice,
        net_pnl: '2.99',
        gross_profit: '2.99',
        gross_loss: '0',
        total_volume: '91',
        position_count: 2,
        complete: true,
      },
    ]);
    expect(await api.get('/v3/tags/nowhere/leaderboard', key)).toMatchObject({
      status: 404,
      body: { error: 'tag not found', tag: 'nowhere' },
    });
  });

  it('/v3/stats returns the totals of the venue', async () => {
    // Nine logs; matches: 40, 30, 4, 9 and the combo's 10. Positions: Alice 2, Bob 4, Carol 3, Dave 1.
    const { elapsed_ms: _, ...stats } = await api.ok<Row>('/v3/stats', key);
    expect(stats).toEqual({
      total_fills: 9,
      total_redemptions: 2,
      total_wallets: 4,
      total_positions: '10',
      total_realized_pnl: '19490000',
      total_gross_profit: '29490000',
      total_gross_loss: '-10000000',
      total_volume: '93000000',
      as_of: NOW_S,
    });
  });

  it('reject ranks that are too deep, invalid parameters and the free plan', async () => {
    expect(await api.get('/v3/leaderboard?offset=9901', key)).toMatchObject({
      status: 400,
      body: { error: 'leaderboard_offset_too_deep', max_rank: 10_000, max_offset: 9_900, limit: 100, offset: 9901 },
    });
    expect(await get('offset=9900')).toMatchObject({ leaderboard: [], has_more: false });
    for (const [query, error] of [
      ['sort=luck', expect.stringContaining('invalid sort')],
      [
        `cursor=${cursorWith('/v3/leaderboard', 'total', 1, 1)}`,
        'snapshot expired: the snapshot of the first page is no longer retained; restart from the first page',
      ],
      [
        `cursor=${cursorWith('/v3/leaderboard', 'total', 1, 1)}&market=rain`,
        'invalid cursor: it belongs to another sort or order',
      ],
      [
        `cursor=${cursorWith('/v3/leaderboard', 'total', 1, 1)}&sort=wins`,
        'invalid cursor: it belongs to another sort or order',
      ],
      ['offset=x', 'invalid offset: use a whole number, 0 or more'],
    ])
      expect(await api.get(`/v3/leaderboard?${query}`, key)).toMatchObject({ status: 400, body: { error } });
    const free = await api.key('free');
    for (const path of ['leaderboard', 'stats', 'tags/weather/leaderboard'])
      expect((await api.get(`/v3/${path}`, free)).status).toBe(402);
  });
});

const open = [
  [bob, snowNo, 200],
  [alice, snowYes, 100],
  // Shares from a split have no cost.
  [bob, snowYes, 100],
  [carol, snowNo, 50],
  [carol, comboYes, 20],
  [dave, snowYes, 20],
] as const;
const redeemable = [[bob, rainNo, 10]] as const;
const closed = [
  [alice, rainYes, 0],
  [bob, rainYes, 0],
  [carol, snowYes, 0],
] as const;
const named = (rows: readonly (readonly [string, string, number])[]) =>
  rows.map(([wallet, token]) => `${wallet} ${token}`);

describe('GET /clobv2/positions', () => {
  it('lists positions by size, with realized PnL', async () => {
    const page = await largest('');
    expect(positionIds(page)).toEqual(named([...open, ...redeemable, ...closed]));
    expect(page.positions.map((row) => Number(row.size))).toEqual(
      [...open, ...redeemable, ...closed].map(([, , size]) => size),
    );
    expect(page).toMatchObject({
      count: 10,
      source: 'onchain-v2',
      as_of: NOW_S,
      pagination: { limit: 100, offset: 0, has_more: false, next_cursor: null },
    });
    // 160 bought for 64, 20 sent away, 40 sold for 18 against 16.
    expect(page.positions[1]).toEqual({
      wallet: alice,
      token_id: snowYes,
      size: '100.0000000000000000',
      avg_price: '0.40000000000000000000',
      total_bought_usdc: '64.0000000000000000',
      realized_pnl_usdc: '2.0000000000000000',
      status: 'open',
      complete: true,
      question: snow.question,
      slug: snow.slug,
      event_title: snow.eventTitle,
      image: snow.image,
      condition_id: snow.conditionId,
      outcome: 'Yes',
    });
    expect(page.positions[2]).toMatchObject({ realized_pnl_usdc: '-10.0000000000000000' });
    // A combo has no title.
    expect(page.positions[4]).toMatchObject({
      avg_price: '0.12500000000000000000',
      realized_pnl_usdc: '22.5000000000000000',
      question: null,
      outcome: null,
    });
  });

  const all = [...open, ...redeemable, ...closed];

  it('filters by wallet, token and market', async () => {
    const [snowNo] = snow.tokenIds.slice(1);
    const of = (
      list: readonly (readonly [string, string, number])[],
      keep: (wallet: string, token: string) => boolean,
    ) => list.filter(([wallet, token]) => keep(wallet, token));
    const ofBob = (wallet: string) => wallet === bob;
    const ofSnow = (_wallet: string, token: string) => token === snowYes || token === snowNo;
    for (const [query, rows] of [
      [`wallet=${bob}`, of(all, ofBob)],
      [`wallet=${bob.toUpperCase().replace('X', 'x')}&order=asc`, of(all, ofBob).reverse()],
      [`wallet=${bob}&status=closed`, of(closed, ofBob)],
      [`wallet=${bob}&status=redeemable`, of(redeemable, ofBob)],
      [
        `wallet=${bob}&condition_id=${snow.conditionId}`,
        of(all, (wallet, token) => ofBob(wallet) && ofSnow(wallet, token)),
      ],
      [`wallet=${bob}&limit=1&offset=1`, of(all, ofBob).slice(1, 2)],
      [
        `wallet=${bob}&min_size=50`,
        of(
          all.filter(([, , size]) => size >= 50),
          ofBob,
        ),
      ],
      [`token_id=${snowYes}`, of(all, (_wallet, token) => token === snowYes)],
      [
        `token_id=${snowYes}&status=open&minSize=50`,
        of(
          open.filter(([, , size]) => size >= 50),
          (_wallet, token) => token === snowYes,
        ),
      ],
      [`condition_id=${snow.conditionId}&status=closed`, of(closed, ofSnow)],
      [`condition_id=${snow.conditionId}&status=redeemable`, of(redeemable, ofSnow)],
      [`condition_id=0x${'12'.repeat(32)}`, []],
      [`wallet=0x${'12'.repeat(20)}`, []],
    ] as const) {
      const page = await largest(query);
      expect([query, positionIds(page)]).toEqual([query, named(rows)]);
      expect([page.as_of, page.pagination.next_cursor === null]).toEqual([null, page.pagination.has_more !== true]);
    }
    // The row is the same with every filter.
    const { positions } = await largest('');
    for (const row of (await largest(`wallet=${bob}`)).positions) expect(positions).toContainEqual(row);
  });

  it('equals GET /v3/positions by size', async () => {
    const of = async (query: string) =>
      (await api.ok<{ positions: Row[] }>(`/v3/positions?sort=size${query}`, key)).positions.map(
        (row) => `${row.wallet} ${row.token_id}`,
      );
    expect(await of('')).toEqual(named(all));
    // Here a row has one status: the closed positions of /clobv2 are closed or redeemed.
    const ended = [...(await of('&status=closed')), ...(await of('&status=redeemed'))];
    expect(ended.sort()).toEqual([...named(closed)].sort());
    expect(await of('&status=redeemable')).toEqual(named(redeemable));
    expect(await of('&min_size=50&limit=2&offset=1')).toEqual(named(open.slice(1, 3)));
  });

  it('pages ascending by cursor', async () => {
    const listed = (await walkPages<Largest>(largest, 'order=asc&limit=3')).flatMap(positionIds);
    expect(listed).toEqual(named([...all].reverse()));
  });

  it('filters by status and size', async () => {
    for (const [query, rows] of [
      ['status=open', open],
      ['status=redeemable', redeemable],
      ['status=closed', closed],
      ['status=closed&min_size=0.000001', []],
      ['min_size=50', open.slice(0, 4)],
      ['min_size=50.000001', open.slice(0, 3)],
      ['status=open&limit=2&offset=3', open.slice(3, 5)],
      ['offset=10000000', []],
      ['status=all&limit=1', open.slice(0, 1)],
      ['order=asc', [...all].reverse()],
      ['order=asc&status=open&limit=2&offset=1', [...open].reverse().slice(1, 3)],
    ] as const)
      expect([query, positionIds(await largest(query))]).toEqual([query, named(rows)]);
    for (const [query, error] of [
      ['status=won', 'status must be one of [open, redeemable, closed, all]'],
      ['order=up', 'order must be one of [asc, desc]'],
      [
        `wallet=${alice}&cursor=${cursorWith('/clobv2/positions', 'desc', 1, 1)}`,
        'invalid cursor: it belongs to another sort or order',
      ],
      ['min_size=-1', 'invalid min_size: expected a decimal number, 0 or more'],
      ['limit=501', 'invalid integer limit: expected 1..500'],
      ['offset=10000001', 'invalid integer offset: expected 0..10000000'],
      [
        `cursor=${cursorWith('/clobv2/positions', 'desc', 1, 1)}`,
        'snapshot expired: the snapshot of the first page is no longer retained; restart from the first page',
      ],
    ])
      expect(await api.get(`/clobv2/positions?${query}`, key)).toMatchObject({ status: 400, body: { error } });
    expect((await api.get('/clobv2/positions', await api.key('free'))).status).toBe(402);
  });
});

it('leaderboard pages by cursor read the snapshot of the first page while new ones are taken', async () => {
  const all = [alice, dave, carol, bob];
  let block = 200;
  /** A wallet that ranks first in the next snapshot, and in the market at once. */
  const arrive = async () => {
    block += 1;
    const wallet = address(block);
    await insertAccounts(api.clickhouse, [
      trade(wallet, block, 'BUY', 100, 10),
      trade(wallet, block + 1, 'SELL', 100, 90),
    ]);
    api.clock.nowMs += 61_000;
    await refresher.refresh();
  };
  const walk = async (query: string) =>
    (await walkPages<Body>(get, query, arrive)).flatMap((page) => page.leaderboard.map((row) => row.wallet));
  expect(await walk('sort=total&limit=1')).toEqual(all);
  // Three wallets rank above.
  const above = [201, 202, 203].map(address);
  expect(await wallets('limit=4')).toEqual(above.concat(alice));
  expect((await wallets('market=snow-lisbon-may')).slice(0, 3)).toEqual(above);
  expect(await walk('limit=2')).toEqual([...above, ...all]);
  expect(await walk('market=rain&limit=1')).toEqual([alice, bob]);

  // A cursor whose snapshot was deleted gets the error, a page after the last rank does not.
  const { next_cursor: cursor } = await get('limit=1');
  expect(await get('limit=1&offset=9000')).toMatchObject({ leaderboard: [], has_more: false });
  await api.clickhouse.command('TRUNCATE TABLE leaderboards');
  api.clock.nowMs += 61_000;
  await refresher.refresh();
  expect(await api.get(`/v3/leaderboard?limit=1&cursor=${cursor}`, key)).toMatchObject({
    status: 400,
    body: {
      error: 'snapshot expired: the snapshot of the first page is no longer retained; restart from the first page',
    },
  });
  expect((await get('limit=1')).leaderboard).toHaveLength(1);
});

it('/clobv2/positions pages read the snapshot of the first page and return its age', async () => {
  api.clock.nowMs += 90_000;
  const { headers } = await api.get('/clobv2/positions', key);
  expect([headers.get('age'), headers.get('cache-control')]).toEqual(['90', 'private, max-age=90']);
  let block = 150;
  /** A position larger than all others in the next snapshot. */
  const arrive = async () => {
    block += 1;
    await insertAccounts(api.clickhouse, [trade(address(block), block, 'BUY', block * 10, 0)]);
    api.clock.nowMs += 61_000;
    await refresher.refresh();
  };
  const byCursor = (await walkPages<Largest>(largest, 'status=open&limit=3', arrive)).flatMap(positionIds);
  expect(byCursor).toEqual(named(open));
  expect((await api.get('/clobv2/positions', key)).headers.get('age')).toBe('0');
});
