import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { publishViews } from '../../processors/public-views/publish.js';
import { publicViews } from '../../processors/public-views/views.js';
import type { ApiHarness } from '../support/api.js';
import { walkPages } from '../support/page-walk.js';
import { ALWAYS_FRESH_S, activityOf, dave, insertAccounts } from '../support/positions.js';
import { NOW_S, type PositionsApi, startPositionsApi } from '../support/positions-api.js';
import { address, fillRow, hex32, insertFills } from '../support/rows.js';
import { alice, bob, carol, exchange, rain, rainNo, snow, snowNo, snowYes, T } from '../support/venue.js';

let api: ApiHarness;
let key: string;
let later: PositionsApi['later'];

beforeAll(async () => {
  ({ api, key, later } = await startPositionsApi());
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;

describe('/v1/wallets/{wallet}/summary', () => {
  const summary = (wallet: string) => api.ok<Row>(`/v1/wallets/${wallet}/summary`, key);
  const empty = {
    realized_pnl: 0,
    unrealized_pnl: 0,
    net_pnl: 0,
    realized_pnl_1d: 0,
    realized_pnl_7d: 0,
    realized_pnl_30d: 0,
    volume: 0,
    fees: 0,
    fees_in_shares: 0,
    positions: 0,
    open_positions: 0,
    open_value: 0,
    redeemable_value: 0,
    fills: 0,
    first_trade_at: null,
    last_trade_at: null,
    complete: true,
  };

  it('adds up the positions of a wallet, and equals the newest point of its PnL series', async () => {
    // 100 Yes at 0.40 are worth 0.42 each; 40 were sold 0.05 above cost, 9.9 Rain shares of 0.90 redeemed for 1, a tenth of a share was the fee.
    expect(await summary(alice.toUpperCase().replace('0X', '0x'))).toEqual({
      wallet: alice,
      realized_pnl: 2 + 0.99,
      unrealized_pnl: 42 - 40,
      net_pnl: 2 + 0.99 + 2 - 0.25 - 0.09,
      realized_pnl_1d: 2.99,
      realized_pnl_7d: 2.99,
      realized_pnl_30d: 2.99,
      volume: 40 + 20 + 4 + 9 + 18,
      fees: 0.25,
      fees_in_shares: 0.09,
      positions: 2,
      open_positions: 1,
      open_value: 42,
      redeemable_value: 0,
      fills: 4,
      first_trade_at: T,
      last_trade_at: T + 6,
      complete: true,
    });
    const { series } = await api.ok<{ series: Row[] }>(`/v1/trader/${alice}/pnl?period=1D`, key);
    expect(series.at(-1)?.pnl).toBe(4.65);
  });

  it('is what the documented SQL formula of total profit sums, for a wallet that sent shares', async () => {
    await publishViews({
      client: api.clickhouse,
      database: 'market',
      views: publicViews,
      logger: silentLogger(),
    });
    const rows = await api.clickhouse.query<{ net: string; sent: string }>(
      `SELECT toString(sum(realized_pnl_usd + (shares - shares_without_cost) * ifNull(q.price, 0) - cost_usd - fees_usd - fee_cost_usd)) AS net,
        toString(sum(sent_cost_usd)) AS sent
       FROM market.positions AS p LEFT JOIN (SELECT token_id, price FROM market.prices_now) AS q ON q.token_id = p.token_id
       WHERE p.wallet = {wallet:String}`,
      { wallet: alice },
    );
    // Alice sent 20 Yes at a cost of 0.40 each.
    expect(rows.map(({ net, sent }) => [Number(net), Number(sent)])).toEqual([[4.65, 8]]);
  });

  it('says that changes are missing, and has zeros for a wallet without history', async () => {
    expect(await summary(carol)).toMatchObject({ realized_pnl: 0, open_positions: 1, open_value: 29, complete: false });
    expect(await summary(dave)).toEqual({ wallet: dave, ...empty, positions: 1, open_positions: 1, open_value: 8.4 });
    const untraded = `0x${'12'.repeat(20)}`;
    expect(await summary(untraded)).toEqual({ wallet: untraded, ...empty });
    expect((await api.get('/v1/wallets/0x12/summary', key)).status).toBe(400);
  });
});

describe('/v1/wallets/{addr}/positions', () => {
  type Body = { wallet: string; count: number; positions: Row[] };
  const get = (path: string) => api.ok<Body>(`/v1/wallets/${path}`, key);
  const assets = async (path: string) => (await get(path)).positions.map((row) => row.asset);

  it('lists open positions with cost and value', async () => {
    expect(await get(`${alice.replace('a', 'A')}/positions`)).toEqual({
      wallet: alice,
      count: 1,
      next_cursor: null,
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
          complete: true,
          curPrice: 0.42,
          priceSource: 'clob_mid',
          priceUpdatedAt: ALWAYS_FRESH_S,
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

  it('returns several wallets', async () => {
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
      const { status, body: response } = await api.get(`/v1/wallets/${path}`, key);
      return [status, (response as { error: string }).error];
    };
    expect(await errorOf('positions')).toEqual([400, "Missing required query parameter 'wallets'"]);
    expect(await errorOf('0x12/positions')).toEqual([400, 'Invalid wallet: 0x12']);
    expect(await errorOf(`${bob}/positions?redeemable=maybe`)).toEqual([400, 'Invalid redeemable. Use: true, false']);
  });

  it('counts each of several wallets as a request, per minute and for the bill', async () => {
    const own = await api.key('free');
    const path = (wallets: readonly string[]) => `/v1/wallets/positions?wallets=${wallets.join(',')}`;
    const many = Array.from({ length: 20 }, (_, n) => address(0x5000 + n));
    const asked: unknown[] = [];
    for (const wallets of [many, [carol, alice, carol.toUpperCase().replace('0X', '0x'), ''], many, many, [bob]]) {
      const { status, headers } = await api.get(path(wallets), own);
      asked.push([status, headers.get('x-ratelimit-remaining')]);
    }
    // 60 per minute: 20, 2 and 20 are served, 20 more are not, one is.
    expect(asked).toEqual([
      [200, '40'],
      [200, '38'],
      [200, '18'],
      [429, '18'],
      [200, '17'],
    ]);
    await expect
      .poll(() => api.metered.slice(-5).map(({ requests, billable }) => [requests, billable]))
      .toEqual([
        [20, true],
        [2, true],
        [20, true],
        [20, false],
        [1, true],
      ]);
  });

  it('pages neither overlap nor skip while the wallet trades, and cached responses have an age', async () => {
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
    const pages = await walkPages<Body>(
      (path) => api.ok<Body>(`/v1/wallets/${path}`, key),
      `${frank}/positions?limit=2`,
      async () => {
        later(16);
        await insertAccounts(api.clickhouse, [...first, bought(110, 9009, 35), bought(111, 9010, 500)]);
      },
    );
    expect(pages.map(({ positions }) => positions.map((row) => row.asset))).toEqual([
      ['9004', '9003'],
      ['9002', '9001'],
    ]);
    expect(await assets(`${frank}/positions?limit=2`)).toEqual(['9010', '9004']);
    later(7);
    const { headers } = await api.get(`/v1/wallets/${frank}/positions`, key);
    expect([headers.get('cache-control'), headers.get('age')]).toEqual(['private, max-age=15', '7']);
  });
});

describe('/v1/trader/{wallet}/pnl', () => {
  type Body = { wallet: string; period: string; series: { timestamp: number; pnl: number }[]; count: number };
  const get = (path: string) => api.ok<Body>(`/v1/trader/${path}`, key);
  const newest = async (wallet: string, points: number) =>
    (await get(`${wallet}/pnl?period=1D`)).series.slice(-points).map(({ pnl }) => pnl);

  it('is cash received minus cash paid plus the market value at every point', async () => {
    // An hour and a half later No trades at 0.50, against a Yes of the same price.
    const traded = {
      side: 'BUY',
      tokenId: snowNo,
      usdc: 5_000_000n,
      shares: 10_000_000n,
      maker: hex32(9).slice(0, 42),
      taker: exchange,
    } as const;
    await insertFills(api.clickhouse, [
      fillRow({ ...traded, block: 2_600, logIndex: 0, timestampS: T + 5_000, orderHash: hex32(9), txHash: hex32(9) }),
    ]);
    api.clock.nowMs = (T + 100 + 2 * 3_600 + 30) * 1000;
    // 0; at cost before the first full hour; Yes 0.40 and No 0.60 traded; both 0.50; quotes 0.42 and 0.58. The events are those of fillAccounts.
    // Cash of Alice: 18 + 9.9 + 8 sent away at cost - 64 - 9 - 0.25 = -37.35, and 100 Yes of cost 40.
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

  it('rejects a cursor with places for another number of outcomes', async () => {
    const { next_cursor: cursor } = await get(`${snow.slug}/positions?limit=1`);
    const values = JSON.parse(Buffer.from(String(cursor), 'base64url').toString('utf8')) as string[];
    const longer = Buffer.from(JSON.stringify([...values, '0', alice])).toString('base64url');
    expect(await api.get(`/v1/markets/${snow.slug}/positions?limit=1&cursor=${longer}`, key)).toMatchObject({
      status: 400,
      body: { error: 'invalid cursor: use next_cursor of an earlier page' },
    });
  });

  it('ranks current and former holders of each outcome', async () => {
    const body = await get(`${snow.slug}/positions`);
    expect({ ...body, outcomes: body.outcomes.map(({ token }) => token) }).toEqual({
      condition_id: snow.conditionId,
      market_title: snow.question,
      slug: snow.slug,
      image: snow.image,
      outcome_names: ['Yes', 'No'],
      next_cursor: null,
      outcomes: [snowYes, snowNo],
    });
    // Alice 2 + 2, Carol and Dave 0, Bob -10 - 8; of No Bob 200 x 0.08, Carol 50 x -0.02.
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
      priceSource: 'clob_mid',
      priceUpdatedAt: ALWAYS_FRESH_S,
      currentValue: 42,
      totalBought: 160,
      realizedPnl: 2,
      cashPnl: 2,
      totalPnl: 4,
      complete: true,
    });
    // Carol sold shares of Yes that never came in.
    expect(body.outcomes[0]?.positions[1]).toMatchObject({
      proxyWallet: carol,
      size: null,
      avgPrice: null,
      currentValue: null,
      totalBought: null,
      realizedPnl: null,
      cashPnl: null,
      totalPnl: null,
      complete: false,
    });
    expect(body.outcomes[1]?.positions).toMatchObject([
      { totalPnl: 16, outcome: 'No', outcomeIndex: 1 },
      { totalPnl: -1 },
    ]);
  });

  it('filters, sorts and returns the times of trades', async () => {
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

  it('limits includeTrades to 60 requests per minute and key', async () => {
    const starterKey = await api.key('starter');
    const requested = Array.from({ length: 60 }, () =>
      api.get('/v1/markets/nowhere/positions?includeTrades=1', starterKey),
    );
    expect(new Set((await Promise.all(requested)).map(({ status }) => status))).toEqual(new Set([404]));
    const rejected = await api.get(`/v1/markets/${rain.slug}/positions?includeTrades=1`, starterKey);
    const retryAtS = Math.ceil(api.clock.nowMs / 1000) + 60;
    expect(rejected).toMatchObject({
      status: 429,
      body: { error: `includeTrades is limited to 60 requests per minute per key. Retry after ${retryAtS}` },
    });
    expect((await api.get(`/v1/markets/${rain.slug}/positions`, starterKey)).status).toBe(200);
  });
});

// The last test: its wallet would be in the lists of the others.
describe('/v1/wallets/{wallet}/summary of a wallet with open shares', () => {
  it('counts shares that were taken as fees as lost, like its PnL series', async () => {
    const wallet = address(0xfe);
    const units = (shares: number) => BigInt(shares * 1e6);
    await insertAccounts(api.clickhouse, [
      activityOf({
        wallet,
        block_number: 103,
        action: 'BUY',
        exchange_version: 1,
        tokens: [snowYes],
        amounts: [units(100)],
        usdc: units(40),
        fee_shares: units(1),
      }),
    ]);
    // 40 USD were paid for 100 shares, of which 99 are left and worth 0.42 each.
    expect(await api.ok<Row>(`/v1/wallets/${wallet}/summary`, key)).toMatchObject({
      realized_pnl: 0,
      unrealized_pnl: 1.98,
      net_pnl: 1.58,
      fees: 0,
      fees_in_shares: 0.4,
      open_value: 41.58,
      complete: true,
    });
    const { series } = await api.ok<{ series: Row[] }>(`/v1/trader/${wallet}/pnl?period=1D`, key);
    expect(series.at(-1)?.pnl).toBe(1.58);
  });
});
