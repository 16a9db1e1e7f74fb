import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { activityOf, dave, fillAccounts, insertAccounts } from '../support/positions.js';
import { fillRow, hex32 } from '../support/rows.js';
import {
  alice,
  bob,
  carol,
  exchange,
  fillWorld,
  hail,
  rain,
  rainNo,
  rainYes,
  snow,
  snowNo,
  snowYes,
  T,
} from '../support/world.js';

let api: ApiHarness;
let key: string;
let paid: string;
const NOW_S = T + 100;

beforeAll(async () => {
  api = await startApi({ nowMs: NOW_S * 1000 });
  key = await api.key('free');
  paid = await api.key('starter');
  await fillWorld(api.clickhouse);
  await fillAccounts(api.clickhouse);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
const later = (seconds: number) => {
  api.clock.nowMs += seconds * 1000;
};

describe('/v1/wallets/{addr}/positions', () => {
  type Body = { wallet: string; count: number; positions: Row[] };
  const get = (path: string) => api.ok<Body>(`/v1/wallets/${path}`, key);
  const assets = async (path: string) => (await get(path)).positions.map((row) => row.asset);

  it('lists what a wallet holds, with what it cost and what it is worth', async () => {
    expect(await get(`${alice.replace('a', 'A')}/positions`)).toEqual({
      wallet: alice,
      count: 1,
      positions: [
        {
          proxyWallet: alice,
          asset: snowYes,
          conditionId: snow.conditionId,
          size: 100,
          avgPrice: 0.4,
          initialValue: 40,
          currentValue: 42,
          cashPnl: 2,
          percentPnl: 5,
          totalBought: 160,
          realizedPnl: 2,
          percentRealizedPnl: 6.25,
          curPrice: 0.42,
          redeemable: false,
          mergeable: false,
          title: snow.question,
          slug: snow.slug,
          icon: '',
          eventSlug: 'snow-lisbon',
          outcome: 'Yes',
          outcomeIndex: 0,
          oppositeOutcome: 'No',
          oppositeAsset: snowNo,
          endDate: '2027-05-01',
          negativeRisk: false,
        },
      ],
    });
    const { positions } = await get(`${dave}/positions`);
    expect(positions).toMatchObject([{ size: 20, initialValue: 0, currentValue: 8.4, cashPnl: 0, percentPnl: 0 }]);
    expect(await get(`${hex32(5).slice(0, 42)}/positions`)).toMatchObject({ count: 0, positions: [] });
  });

  it('filters and sorts', async () => {
    // Bob: 100 Yes at 0.50, 200 No at 0.50, 10 Rain No at 0.50, which lost.
    expect(await assets(`${bob}/positions`)).toEqual([snowNo, snowYes, rainNo]);
    expect(await assets(`${bob}/positions?sortBy=CASH_PNL&sortDirection=asc`)).toEqual([rainNo, snowYes, snowNo]);
    // -8 of 50, 16 of 100, -5 of 5.
    expect(await assets(`${bob}/positions?sortBy=percentpnl`)).toEqual([snowNo, snowYes, rainNo]);
    expect(await assets(`${bob}/positions?sortBy=TITLE&sortDirection=ASC`)).toEqual([rainNo, snowNo, snowYes]);
    expect(await assets(`${bob}/positions?sortBy=RESOLVING&sortDirection=DESC`)).toEqual([rainNo, snowNo, snowYes]);
    expect(await assets(`${bob}/positions?sizeThreshold=100.000001`)).toEqual([snowNo]);
    expect(await assets(`${bob}/positions?redeemable=false`)).toEqual([snowNo, snowYes]);
    expect(await assets(`${bob}/positions?condition_id=${rain.conditionId}&redeemable=false`)).toEqual([]);
    const { positions } = await get(
      `${bob}/positions?redeemable=true&condition_id=${rain.conditionId.toUpperCase().replace('X', 'x')}`,
    );
    expect(positions).toMatchObject([
      {
        asset: rainNo,
        redeemable: true,
        redeemed: false,
        unredeemed_balance: 10,
        unredeemed_usd: 0,
        cashPnl: -5,
        negativeRisk: true,
      },
    ]);
    expect((await get(`${bob}/positions?limit=2`)).positions).toMatchObject([{ mergeable: true }, { mergeable: true }]);
  });

  it('answers for several wallets at once', async () => {
    const body = await api.ok<{ wallet_count: number; wallets: Body[] }>(
      `/v1/wallets/positions?wallets=${carol},${alice}&limit=1`,
      key,
    );
    expect(body).toMatchObject({
      wallet_count: 2,
      wallets: [
        { wallet: carol, count: 1 },
        { wallet: alice, count: 1 },
      ],
    });
    const errorOf = async (path: string) => {
      const { status, body: answer } = await api.get(`/v1/wallets/${path}`, key);
      return [status, (answer as { error: string }).error];
    };
    expect(await errorOf('positions')).toEqual([400, "Missing required query parameter 'wallets'"]);
    expect(await errorOf('0x12/positions')).toEqual([400, 'Invalid wallet']);
    expect(await errorOf(`${bob}/positions?redeemable=maybe`)).toEqual([400, 'Invalid redeemable. Use: true, false']);
  });

  it('walks a list without a gap while the wallet trades, and tells the age of copies', async () => {
    const frank = `0x${'f0'.repeat(20)}`;
    const bought = (block: number, token: number, shares: number) =>
      activityOf({
        wallet: frank,
        block_number: block,
        action: 'BUY',
        tokens: [String(token)],
        amounts: [BigInt(shares) * 1_000_000n],
        usdc: 1_000_000n,
      });
    const first = [1, 2, 3, 4].map((n) => bought(100 + n, 9000 + n, n * 10));
    await insertAccounts(api.clickhouse, first);
    expect(await assets(`${frank}/positions?limit=2`)).toEqual(['9004', '9003']);
    later(16);
    await insertAccounts(api.clickhouse, [...first, bought(110, 9009, 25), bought(111, 9010, 500)]);
    expect(await assets(`${frank}/positions?limit=2&offset=2`)).toEqual(['9002', '9001']);
    expect(await assets(`${frank}/positions?limit=2&offset=4`)).toEqual([]);
    expect(await assets(`${frank}/positions?limit=2`)).toEqual(['9010', '9004']);
    later(7);
    const { headers } = await api.get(`/v1/wallets/${frank}/positions`, key);
    expect([headers.get('cache-control'), headers.get('age')]).toEqual(['private, max-age=15', '7']);
  });
});

describe('/v2/trader/{wallet}/equity', () => {
  const get = (path: string) => {
    later(11);
    return api.ok<Row & { raw: Row; normalized?: Row }>(`/v2/trader/${path}`, paid);
  };

  it('cumulates the profits of positions in the order they were begun', async () => {
    // Alice: Snow Yes from T, 2 realized and 2 on paper, 160 bought; Rain from T + 6, 0.99 realized, 10 bought.
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
        final_pnl: 0.1115,
        curve: [
          { t: T, pnl: 0.0125 },
          { t: T + 6, pnl: 0.1115 },
        ],
      },
    });
    const { raw, normalized } = await get(`${alice}/equity?include_unrealized=1`);
    expect([raw.final_pnl, normalized]).toEqual([4.99, undefined]);
    // Bob: four positions in two markets; Rain was touched last.
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

  it('lets a key in once per 10 s, paid plans only', async () => {
    const own = await api.key('starter');
    const sibling = await api.siblingKey(own);
    later(20);
    expect((await api.get(`/v2/trader/${alice}/equity`, own)).status).toBe(200);
    expect((await api.get(`/v2/trader/${alice}/equity`, sibling)).status).toBe(200);
    later(4);
    const refused = await api.get(`/v2/trader/${alice}/equity`, own);
    expect(refused).toMatchObject({
      status: 429,
      body: { error: 'Rate limited. 1 request per 10 s per key.', retryAfterMs: 6_000 },
    });
    expect(refused.headers.get('retry-after')).toBe('6');
    later(6);
    const again = await api.get(`/v2/trader/${alice}/equity`, own);
    expect([again.status, again.headers.get('age')]).toEqual([200, '10']);
    expect((await api.get(`/v2/trader/${alice}/equity`, key)).status).toBe(403);
    later(11);
    expect(await api.get(`/v2/trader/${alice}/equity?from=2026-02-30`, own)).toMatchObject({
      status: 400,
      body: { error: 'Invalid from. Use YYYY-MM-DD or Unix seconds' },
    });
  });
});

describe('/v1/trader/{wallet}/pnl', () => {
  type Body = { wallet: string; period: string; series: { timestamp: number; pnl: number }[]; count: number };
  const get = (path: string) => api.ok<Body>(`/v1/trader/${path}`, key);
  const newest = async (wallet: string, points: number) =>
    (await get(`${wallet}/pnl?period=1D`)).series.slice(-points).map(({ pnl }) => pnl);

  it('marks to market at every moment: cash in less cash out plus what is held', async () => {
    // An hour and a half later No trades at 0.50, against a Yes of the same price.
    const traded = {
      side: 'BUY',
      tokenId: snowNo,
      usdc: 5_000_000n,
      shares: 10_000_000n,
      maker: hex32(9).slice(0, 42),
      taker: exchange,
    } as const;
    await api.clickhouse.insertRows('fills', [
      fillRow({ ...traded, block: 2_600, logIndex: 0, timestampS: T + 5_000, orderHash: hex32(9), txHash: hex32(9) }),
    ]);
    api.clock.nowMs = (T + 100 + 2 * 3_600 + 30) * 1000;
    // Nothing; at cost while no hour is over; Yes 0.40 and No 0.60 traded; both 0.50; quotes 0.42 and 0.58. See fillAccounts for what was done.
    // Cash of Alice: 18 + 9.9 + 8 given away at cost - 64 - 9 - 0.25 = -37.35, and 100 Yes of cost 40.
    expect(await newest(alice, 4)).toEqual([0, 2.65, 2.65, 4.65]);
    api.clock.nowMs += 3_600_000;
    expect(await newest(alice, 5)).toEqual([0, 2.65, 2.65, 12.65, 4.65]);
    // Cash of Bob -161.50; 100 Yes and 200 No of cost 150, and 10 lost Rain No.
    expect(await newest(bob, 5)).toEqual([0, -11.5, -1.5, -11.5, -3.5]);
    expect(await newest(carol, 5)).toEqual([0, 0, 0, -5, -1]);
    expect(await newest(dave, 5)).toEqual([0, 0, 0, 0, 0]);
    api.clock.nowMs = NOW_S * 1000;
  });

  it('has the points of its period', async () => {
    const spacing = async (period: string, path = alice) => {
      const { series, count } = await get(`${path}/pnl?period=${period}`);
      expect(count).toBe(series.length);
      expect(series.at(-1)?.timestamp).toBe(Math.floor(api.clock.nowMs / 60_000) * 60);
      const steps = new Set(series.slice(1).map((point, i) => point.timestamp - (series[i]?.timestamp ?? 0)));
      return [count, ...steps];
    };
    expect(await spacing('1D')).toEqual([25, 3_600]);
    expect(await spacing('1w')).toEqual([57, 10_800]);
    expect(await spacing('1M')).toEqual([41, 64_800]);
    expect((await get(`${alice}/pnl`)).period).toBe('1M');
    expect(await spacing('ALL')).toEqual([1]);
    api.clock.nowMs = (T + 111 * 86_400 + 20_000) * 1000;
    expect(await spacing('ALL')).toEqual([223, 43_200]);
    api.clock.nowMs = NOW_S * 1000;
    expect(await get(`${hex32(5).slice(0, 42)}/pnl`)).toMatchObject({ period: '1M', series: [], count: 0 });
    expect(await api.get(`/v1/trader/${alice}/pnl?period=1Y`, key)).toMatchObject({
      status: 400,
      body: { error: 'Invalid period. Use: 1D, 1W, 1M, ALL' },
    });
    expect((await api.get(`/v1/trader/${alice}/pnl`, key)).headers.get('cache-control')).toBe('private, max-age=60');
  });
});

describe('/v1/markets/{id}/positions', () => {
  type Body = Row & { outcomes: { token: string; positions: Row[] }[] };
  const get = (path: string) => api.ok<Body>(`/v1/markets/${path}`, key);
  const walletsOf = ({ outcomes }: Body) => outcomes.map(({ positions }) => positions.map((row) => row.proxyWallet));

  it('ranks who has or had each outcome', async () => {
    const body = await get(`${snow.slug}/positions`);
    expect({ ...body, outcomes: body.outcomes.map(({ token }) => token) }).toEqual({
      condition_id: snow.conditionId,
      market_title: snow.question,
      slug: snow.slug,
      image: snow.image,
      outcome_names: ['Yes', 'No'],
      outcomes: [snowYes, snowNo],
    });
    // Alice 2 + 2, Carol and Dave nothing, Bob -10 - 8; of No Bob 200 x 0.08, Carol 50 x -0.02.
    expect(walletsOf(body)).toEqual([
      [alice, carol, dave, bob],
      [bob, carol],
    ]);
    expect(body.outcomes[0]?.positions[0]).toEqual({
      proxyWallet: alice,
      name: '',
      profileImage: '',
      verified: false,
      asset: snowYes,
      conditionId: snow.conditionId,
      outcome: 'Yes',
      outcomeIndex: 0,
      size: 100,
      avgPrice: 0.4,
      currPrice: 0.42,
      currentValue: 42,
      totalBought: 160,
      realizedPnl: 2,
      cashPnl: 2,
      totalPnl: 4,
    });
    expect(body.outcomes[1]?.positions).toMatchObject([
      { totalPnl: 16, outcome: 'No', outcomeIndex: 1 },
      { totalPnl: -1 },
    ]);
  });

  it('filters, sorts and tells the times of trades', async () => {
    const path = `${snow.conditionId}/positions`;
    expect(walletsOf(await get(`${path}?sortBy=TOKENS&sortDirection=ASC`))[0]).toEqual([carol, dave, alice, bob]);
    expect(walletsOf(await get(`${path}?min_size=0.0001&sortBy=CASH_PNL`))[0]).toEqual([alice, dave, bob]);
    expect(walletsOf(await get(`${path}?status=closed`))).toEqual([[carol], []]);
    expect(walletsOf(await get(`${path}?user=${bob},${carol}&limit=1&offset=1`))).toEqual([[bob], [carol]]);
    const { outcomes } = await get(`${path}?includeTrades=true`);
    const times = outcomes.map(({ positions }) => positions.map((row) => [row.firstTradeAt, row.lastTradeAt]));
    // Dave only received, Bob only split.
    expect(times).toEqual([
      [
        [T, T + 12],
        [T + 4, T + 4],
        [null, null],
        [T, T],
      ],
      [
        [null, null],
        [T + 2, T + 2],
      ],
    ]);
    const errorOf = async (rest: string) => {
      const { status, body } = await api.get(`/v1/markets/${rest}`, key);
      return [status, (body as { error: string }).error];
    };
    expect(await errorOf(`${snowYes}/positions`)).toEqual([404, `Market ${snowYes} not found`]);
    expect(await errorOf(`${snow.slug}/positions?limit=501`)).toEqual([400, 'Invalid limit. Use 1 to 500']);
    const many = Array.from({ length: 21 }, (_, n) => hex32(n).slice(-40)).map((hex) => `0x${hex}`);
    expect(await errorOf(`${snow.slug}/positions?user=${many.join()}`)).toEqual([
      400,
      "Too many wallets in 'user'. Max 20",
    ]);
  });

  it('lets a key in 60 times a minute with times of trades', async () => {
    const own = await api.key('starter');
    const asked = Array.from({ length: 60 }, () => api.get('/v1/markets/nowhere/positions?includeTrades=1', own));
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([404]));
    const refused = await api.get(`/v1/markets/${rain.slug}/positions?includeTrades=1`, own);
    const retryAtS = Math.ceil(api.clock.nowMs / 1000) + 60;
    expect(refused).toMatchObject({
      status: 429,
      body: { error: `includeTrades is limited to 60 requests per minute per key. Retry after ${retryAtS}` },
    });
    expect((await api.get(`/v1/markets/${rain.slug}/positions`, own)).status).toBe(200);
  });
});

describe('/v2/wallets', () => {
  const get = (path: string) => api.ok<Row & { positions: Row[] }>(`/v2/wallets/${path}`, paid);

  it('has all positions of a wallet with their sums', async () => {
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
      positions: [
        {
          token_id: snowYes,
          size: 100,
          avg_price: 0.4,
          realized_pnl: 2,
          unrealized_pnl: 2,
          current_price: 0.42,
          market_status: 'live',
          total_bought: 160,
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
          market_status: 'resolved-win',
          total_bought: 10,
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
      positions: [
        {
          proxy_wallet: alice,
          asset: rainYes,
          condition_id: rain.conditionId,
          avg_price: 0.9,
          total_bought: 10,
          realized_pnl: 0.99,
          cur_price: 1,
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
    expect(await assets('limit=2')).toEqual(['9103', '9102']);
    later(301);
    await insertAccounts(api.clickhouse, [...first, ...closed(130, 9104, 500_000n)]);
    expect(await assets('limit=2&offset=2')).toEqual(['9101']);
    expect(await assets('limit=2')).toEqual(['9104', '9103']);
  });

  it('knows no wallet without a history, and no free plan', async () => {
    const nobody = hex32(5).slice(0, 42);
    for (const path of ['positions/onchain', 'closed-positions']) {
      expect(await api.get(`/v2/wallets/${nobody}/${path}`, paid)).toMatchObject({
        status: 404,
        body: { error: 'Wallet not found' },
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

describe('/v2/onchain', () => {
  type Page = Row & { pagination: { has_more: boolean; pagination_key?: string }; positions: Row[] };
  const get = (path: string) => api.ok<Page>(`/v2/onchain/${path}`, paid);
  const idsOf = ({ positions }: Page) => positions.map((row) => `${row.wallet}-${row.token_id}`);

  it('adds up the collateral of full sets', async () => {
    const event = (conditionId: string, token_id: string, kind: string, collateral: bigint) => ({
      condition_id: conditionId,
      block_number: 90,
      log_index: Number(token_id.slice(-1)) + (kind === 'split' ? 0 : 50),
      timestamp: T,
      kind,
      wallet: bob,
      token_id,
      amount: collateral < 0n ? -collateral : collateral,
      collateral,
    });
    await api.clickhouse.insertRows('condition_events', [
      event(snow.conditionId, snowYes, 'split', 200_000_000n),
      event(rain.conditionId, rainYes, 'split', 10_000_000n),
      event(rain.conditionId, rainYes, 'redemption', -9_900_000n),
      event(hail.conditionId, hail.tokenIds[0], 'merge', -7_000_000n),
    ]);
    // Split 200, and 50 minted by a match. Of Hail only the end was seen.
    expect(await get(`markets/${snow.conditionId}/oi`)).toEqual({
      condition_id: snow.conditionId,
      source: 'onchain',
      found: true,
      market: snow.question,
      slug: snow.slug,
      image: snow.image,
      open_interest_usdc: 250,
    });
    expect(await get('oi')).toEqual({ source: 'onchain', open_interest_usdc: 250.1 });
    expect(await get(`markets/${hex32(0xdead)}/oi`)).toMatchObject({
      found: false,
      market: null,
      open_interest_usdc: 0,
    });
    expect(await get(`markets/${hail.conditionId}/oi`)).toMatchObject({ found: true, open_interest_usdc: 0 });
    expect((await api.get('/v2/onchain/oi', key)).status).toBe(403);
  });

  it('lists the positions of a wallet, the latest first', async () => {
    const page = await get(`positions?wallet=${alice}&limit=2000`);
    expect(page).toMatchObject({ count: 2, pagination: { limit: 500, has_more: false } });
    expect(page.positions.map((row) => row.token_id)).toEqual([rainYes, snowYes]);
    expect(page.positions[0]).toEqual({
      wallet: alice,
      token_id: rainYes,
      size: 0,
      avg_price: 0.9,
      realized_pnl: 0.99,
      unrealized_pnl: 0,
      current_price: null,
      market_status: 'resolved-win',
      total_bought: 10,
      market: 'Rain?',
      market_slug: 'rain',
      event_slug: 'sky',
      outcome: 'Yes',
      image: null,
      condition_id: rain.conditionId,
      last_trade_at: T + 6,
      closed_at: T + 26,
      resolved_at: T + 18,
      won: true,
      winning_outcome_index: 0,
      outcome_index: 0,
      initial_value: 0,
      redeemable: false,
      opposite_asset: rainNo,
      last_activity: T + 26,
    });
    expect(idsOf(await get(`positions?wallet=${bob}&status=open&tag_slug=europe&min_size=150`))).toEqual([
      `${bob}-${snowNo}`,
    ]);
    const { positions } = await get(`positions?wallet=${bob}&market_slug=rain&status=open`);
    expect(positions).toMatchObject([{ won: false, redeemable: true, unrealized_pnl: -5 }]);
    expect((await get(`positions?wallet=${dave}`)).positions[0]).not.toHaveProperty('last_activity');
  });

  it('walks positions by their ids, whatever arrives meanwhile', async () => {
    const all = [
      `${alice}-${snowYes}`,
      `${bob}-${snowNo}`,
      `${bob}-${snowYes}`,
      `${carol}-${snowNo}`,
      `${carol}-${snowYes}`,
      `${dave}-${snowYes}`,
    ];
    const list = `positions?condition_id=${snow.conditionId}`;
    expect(idsOf(await get(`${list}&order=asc`))).toEqual(all);
    expect(idsOf(await get(`${list}&token_id=${snowNo}`))).toEqual([`${carol}-${snowNo}`, `${bob}-${snowNo}`]);
    const first = await get(`${list}&order=asc&limit=2`);
    expect(first.pagination).toEqual({ limit: 2, has_more: true, pagination_key: all[1] });
    const early = `0x${'01'.repeat(20)}`;
    const bought = (wallet: string) =>
      activityOf({
        wallet,
        block_number: 120,
        action: 'BUY',
        tokens: [snowYes],
        amounts: [1_000_000n],
        usdc: 400_000n,
      });
    await insertAccounts(api.clickhouse, [bought(early), bought(`0x${'fe'.repeat(20)}`)]);
    const walked = idsOf(first);
    let at = first.pagination.pagination_key;
    while (at !== undefined) {
      const page = await get(`${list}&order=asc&limit=2&pagination_key=${at}`);
      walked.push(...idsOf(page));
      at = page.pagination.pagination_key;
    }
    expect(walked).toEqual([...all, `${early}-${snowYes}`, `0x${'fe'.repeat(20)}-${snowYes}`]);
    expect(idsOf(await get(`${list}&limit=3`))).toEqual([...walked].reverse().slice(0, 3));
    const errorOf = async (rest: string) => {
      const { status, body } = await api.get(`/v2/onchain/positions?${rest}`, paid);
      return [status, (body as { error: string }).error];
    };
    expect(await errorOf('market_slug=nowhere')).toEqual([400, 'market_slug not found']);
    expect(await errorOf(`condition_id=${hex32(0xdead)}`)).toEqual([400, 'condition_id not found']);
    expect(await errorOf('pagination_key=5')).toEqual([400, 'Invalid pagination_key']);
    expect((await get('positions?limit=1&order=asc&min_size=199')).positions).toMatchObject([
      { wallet: bob, token_id: snowNo },
    ]);
  });
});
