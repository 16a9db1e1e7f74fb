import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { cursorWith, walkPages } from '../support/page-walk.js';
import { eventRow, fillRow, hex32, insertFills, marketRow } from '../support/rows.js';
import {
  alice,
  bob,
  builder,
  carol,
  fillId,
  fills,
  hail,
  insertVenue,
  negRiskMarket,
  order,
  rain,
  rainYes,
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
  key = await api.key('starter');
  await insertVenue(api.clickhouse);
  // Settled on chain; the catalogue does not know it yet.
  await api.clickhouse.insertRows('markets', [marketRow({ ...rain, closed: false, offset: 2 })]);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
type Body = Row & { trades: Row[]; pagination: Row };
const get = (path: string) => api.ok<Body>(`/clobv2/${path}`, key);
const NO_BUILDER = `0x${'0'.repeat(64)}`;
const title = {
  question: snow.question,
  slug: snow.slug,
  event_title: 'Snow in Lisbon',
  image: snow.image,
  condition_id: snow.conditionId,
};

describe('GET /clobv2/trades', () => {
  // Fills 6 and 7 are V1 fills.
  it.each<[string, number[]]>([
    ['', [8, 5, 4, 3, 2, 1, 0]],
    [`wallet=${bob}`, [1, 0]],
    [`builder=${builder}`, [3]],
    [`builder=${NO_BUILDER}&limit=2`, [8, 5]],
    [`token_id=${snowNo}`, [2]],
    ['token_id=0', []],
    [`condition_id=${rain.conditionId}`, []],
    [`condition_id=${snow.conditionId}&token_id=${snowYes}`, [5, 4, 3, 1, 0]],
    [`start=${T + 2}&end=${T + 2}`, [3, 2]],
    [`start_time=${T + 4}&end_time=${T + 4}`, [5, 4]],
    // USDC of fills 0 to 5: 40, 40, 30, 20, 4, 4; of fill 8: 10; on either side.
    ['min_usd=40', [1, 0]],
    ['min_total=40.01', []],
    ['min_usd=10', [8, 3, 2, 1, 0]],
    ['order=asc&limit=2&offset=1', [1, 2]],
    [`cursor=${cursorWith('/clobv2/trades', 'desc', 101, 2)}`, [2, 1, 0]],
  ])('?%s', async (query, expected) => {
    const { trades } = await get(`trades?${query}`);
    expect(trades.map((row) => [row.tx_hash, row.order_hash])).toEqual(
      expected.map((n) => [fills[n]!.txHash, fills[n]!.orderHash]),
    );
  });

  it('rows have decimal text, ISO times, and a side only with a wallet', async () => {
    const page = await get(`trades?token_id=${snowYes}&builder=${builder}`);
    expect(page).toMatchObject({
      count: 1,
      source: 'onchain-v2',
      pagination: { limit: 100, offset: 0, has_more: false, next_cursor: null },
    });
    const row = {
      ts: '2026-09-21T14:13:22+00:00',
      ts_unix: T + 2,
      tx_hash: tx(2),
      order_hash: order(4),
      maker: alice,
      taker: '0x000000000000000000000000000000000000000e',
      token_id: snowYes,
      amount_usd: '20.0000000000000000',
      shares: '50.0000000000000000',
      price: '0.40000000000000000000',
      fee_usd: '0.250000000000000000000000',
      maker_token_id: '0',
      taker_token_id: snowYes,
      maker_usdc: '20.0000000000000000',
      taker_usdc: '50.0000000000000000',
      fee_usdc: '0.250000000000000000000000',
      builder,
      ...title,
      outcome: 'Yes',
      outcome_index: 0,
      opposite_asset: snowNo,
      neg_risk: false,
    };
    expect(page.trades).toEqual([row]);
    const taken = await get(`trades?wallet=${alice}&token_id=${snowNo}`);
    expect(taken.trades[0]).toMatchObject({
      side: 'taker',
      counterparty: true,
      maker: carol,
      price: '0.60000000000000000000',
      builder: NO_BUILDER,
    });
    expect(await get('trades?limit=3')).toMatchObject({
      pagination: { limit: 3, offset: 0, has_more: true, next_cursor: cursorWith('/clobv2/trades', 'desc', 102, 0) },
    });
  });

  it('lists of a wallet and of a token', async () => {
    const walletList = await get(`wallets/${alice}/trades?limit=2&offset=1`);
    expect(walletList).toMatchObject({ wallet: alice, source: 'onchain-v2', count: 2, offset: 1 });
    expect(walletList.trades.map((row) => [row.order_hash, row.side])).toEqual([
      [order(1), 'maker'],
      [order(4), 'maker'],
    ]);
    expect(walletList.trades.some((row) => 'counterparty' in row)).toBe(false);
    const market = await get(`markets/${snowYes}/trades`);
    expect(market).toMatchObject({ token_id: snowYes, count: 5, market: snow.question, outcome: 'Yes' });
    expect(Object.keys(market.trades[0]!)).not.toContain('side');
    expect(await get('markets/4/trades')).toMatchObject({ count: 0, market: null, trades: [] });
  });
});

describe('GET /clobv2/neg-risk/events', () => {
  it('lists events with their markets, most questions first', async () => {
    expect(await get('neg-risk/events')).toEqual({
      count: 1,
      source: 'onchain-v2',
      pagination: { limit: 50, offset: 0, has_more: false, next_cursor: null },
      events: [
        {
          id: negRiskMarket,
          event_title: 'What falls from the sky?',
          event_slug: 'sky',
          question_count: 2,
          child_market_count: 2,
          image: 'https://img.example/x.jpg',
          end_date: '2027-09-30T00:00:00+00:00',
          outcomes: ['Hail', 'Rain'],
          child_condition_ids: [hail.conditionId, rain.conditionId],
        },
      ],
    });
    const children = (await get(`neg-risk/events/${negRiskMarket}/children`)) as unknown as Row & { children: Row[] };
    expect(children).toMatchObject({ parent_id: negRiskMarket, source: 'onchain-v2', count: 2 });
    expect(children.children[1]).toEqual({
      parent_id: negRiskMarket,
      child_condition_id: rain.conditionId,
      outcome_title: 'Rain',
      question: 'Rain?',
      slug: 'rain',
      event_title: 'What falls from the sky?',
      event_slug: 'sky',
      active: true,
      closed: true,
      end_date: '2027-09-30T00:00:00+00:00',
      volume_all_time: '90.500000',
      image: 'https://img.example/x.jpg',
    });
    expect(await get(`neg-risk/events/${negRiskMarket}/children?limit=1`)).toMatchObject({ count: 1 });
    expect(await get(`neg-risk/events/${hex32(9)}/children`)).toMatchObject({ count: 0, children: [] });
  });

  it('pages neither overlap nor skip while events arrive, and events without a title are omitted', async () => {
    const event = (n: number, questions: number, titleText = `Event ${n}`) =>
      eventRow({
        id: `e${n}`,
        slug: `e${n}`,
        title: titleText,
        conditionIds: Array.from({ length: questions }, (_, index) => hex32(n * 100 + index)),
        negRiskMarketId: hex32(n << 8),
      });
    await api.clickhouse.insertRows('events', [event(1, 5), event(2, 4), event(3, 3), event(4, 9, '')]);
    await api.clickhouse.insertRows('markets', [
      marketRow({ ...hail, conditionId: hex32(100), negRiskMarketId: hex32(1 << 8) }),
    ]);
    api.clock.nowMs += 60_000;
    let arrived = 0;
    const pages = await walkPages<Body & { events: Row[] }>(
      async (path) => (await get(path)) as Body & { events: Row[] },
      'neg-risk/events?limit=1',
      async () => {
        await api.clickhouse.insertRows('events', [event(10 + arrived, 20 + arrived)]);
        arrived += 1;
        api.clock.nowMs += 60_000;
      },
    );
    const seen = pages.flatMap((page) => page.events.map((row) => [row.event_slug, row.child_market_count]));
    expect(seen).toEqual([
      ['e1', 1],
      ['e2', 0],
      ['e3', 0],
      ['sky', 2],
    ]);
  });
});

describe('/clobv2 volumes', () => {
  it('orderbook returns the matched volume of a token as text', async () => {
    expect(await get(`markets/${snowYes}/orderbook`)).toEqual({
      token_id: snowYes,
      source: 'onchain-v2',
      found: true,
      total_trades: '2',
      buys: '2',
      sells: '0',
      volume_usdc: '44.0000000000000000',
      buy_volume_usdc: '44.0000000000000000',
      sell_volume_usdc: '0.0000000000000000',
      volume_shares: '110.0000000000000000',
      trades_quantity: '2',
      buys_quantity: '2',
      sells_quantity: '0',
      collateral_volume: '44000000',
      scaled_collateral_volume: '44',
      collateral_buy_volume: '44000000',
      scaled_collateral_buy_volume: '44',
      collateral_sell_volume: '0',
      scaled_collateral_sell_volume: '0',
      market: snow.question,
      slug: snow.slug,
      outcome: 'Yes',
      image: snow.image,
      condition_id: snow.conditionId,
      order_book: null,
    });
    // A V1-only token and an unknown one.
    for (const token of [rainYes, '12345'])
      expect(await get(`markets/${token}/orderbook`)).toEqual({ token_id: token, source: 'onchain-v2', found: false });
  });

  it('volume counts V2 fills only', async () => {
    expect(await get(`markets/${snowYes}/volume`)).toEqual({
      token_id: snowYes,
      source: 'onchain-v2',
      found: true,
      total_trades: 2,
      buys: 2,
      sells: 0,
      volume_usdc: 44,
      buy_volume_usdc: 44,
      sell_volume_usdc: 0,
      volume_shares: 110,
      market: snow.question,
      slug: snow.slug,
      outcome: 'Yes',
      image: snow.image,
      condition_id: snow.conditionId,
    });
    for (const token of [rainYes, '4', '0'])
      expect(await get(`markets/${token}/volume`)).toMatchObject({
        found: false,
        total_trades: 0,
        volume_shares: 0,
        market: null,
      });
  });

  it('hours, builders and candles', async () => {
    // Makers' rows of V2 and V3: 40 + 30 + 4 + 10 dollars; fees of all rows: 0.5 + 0.25 + 0.05.
    expect(await get('volume/hourly')).toEqual({
      count: 1,
      source: 'onchain-v2',
      buckets: [
        {
          bucket: '2026-09-21T14:00:00+00:00',
          time_unix: T - (T % 3600),
          trades: 4,
          volume_usdc: '84.0000000000000000',
          fee_usdc: '0.800000000000000000000000',
        },
      ],
    });
    expect(await get('builders')).toEqual({
      count: 1,
      source: 'onchain-v2',
      builders: [
        {
          builder,
          fills: 1,
          notional_usdc: '20.0000000000000000',
          fee_collected_usdc: '0.250000000000000000000000',
          avg_fill_usdc: '20.00000000000000000000',
        },
      ],
    });
    const candles = (await get(`candles/${snowYes}?resolution=1d`)) as unknown as Row & { candles: Row[] };
    expect(candles.candles).toEqual([
      {
        bucket: '2026-09-21T00:00:00+00:00',
        time: T - (T % 86_400),
        time_unix: T - (T % 86_400),
        open: '0.40000000000000000000',
        high: '0.40000000000000000000',
        low: '0.40000000000000000000',
        close: '0.40000000000000000000',
        volume_usdc: '44.0000000000000000',
        volume_buy: '44.0000000000000000',
        volume_sell: '0.0000000000000000',
        volume_shares: '110.0000000000000000',
        trades: 2,
        vwap: '0.40000000000000000000',
      },
    ]);
    expect(candles).toMatchObject({
      pagination: { limit: 500, has_more: false, older_end_ts: null, newer_start_ts: null },
      question: snow.question,
      slug: snow.slug,
      outcome: 'Yes',
      image: snow.image,
      condition_id: snow.conditionId,
    });
    const day = T - (T % 86_400);
    expect(await get(`candles/${snowYes}?start=${T + 86_400}&resolution=1d`)).toMatchObject({
      count: 0,
      pagination: { has_more: true, older_end_ts: day + 86_399, newer_start_ts: null },
    });
    expect(await get(`candles/${snowYes}?end=${day - 1}&resolution=1d`)).toMatchObject({
      count: 0,
      pagination: { has_more: false, older_end_ts: null, newer_start_ts: day },
    });
    expect(await get('candles/4')).toMatchObject({
      count: 0,
      candles: [],
      pagination: { has_more: false, older_end_ts: null },
      question: null,
    });
  });
});

describe('/clobv2 inputs', () => {
  it.each([
    ['trades?limit=501', 'invalid integer limit: expected 1..500'],
    ['trades?limit=0', 'invalid integer limit: expected 1..500'],
    ['trades?offset=-1', 'invalid integer offset: expected 0..10000000'],
    ['trades?offset=10000001', 'invalid integer offset: expected 0..10000000'],
    ['trades?wallet=bob', 'invalid wallet address: expected 0x and 40 hex digits'],
    ['trades?token_id=0x1', 'invalid token_id: expected 1 to 78 digits, below 2^256'],
    ['trades?condition_id=1', 'invalid condition_id: expected 0x and 64 hex digits'],
    ['trades?builder=1', 'invalid builder: expected 0x and 64 hex digits'],
    ['trades?start=-1', 'invalid timestamp: expected Unix seconds, 0 or more'],
    ['trades?order=up', 'order must be one of [asc, desc]'],
    ['trades?min_usd=x', 'invalid min_usd'],
    ['wallets/x/trades', 'invalid wallet address: expected 0x and 40 hex digits'],
    [`wallets/${alice}/trades?limit=1001`, 'invalid integer limit: expected 1..1000'],
    ['neg-risk/events?limit=501', 'invalid integer limit: expected 1..500'],
    [
      `neg-risk/events/${negRiskMarket.toUpperCase()}/children`,
      'invalid condition_id: parent_id is 0x and 64 lowercase hex digits',
    ],
    [`neg-risk/events/${negRiskMarket}/children?limit=1001`, 'invalid integer limit: expected 1..1000'],
    ['markets/x/volume', 'invalid token_id: expected 1 to 78 digits, below 2^256'],
    [`markets/${2n ** 256n}/volume`, 'invalid token_id: expected 1 to 78 digits, below 2^256'],
    ['markets/x/orderbook', 'invalid token_id: expected 1 to 78 digits, below 2^256'],
    ['candles/4?resolution=2h', 'resolution must be one of [1m, 5m, 15m, 1h, 4h, 1d]'],
  ])('%s is rejected', async (path, error) => {
    const { status, body } = await api.get(`/clobv2/${path}`, key);
    expect({ status, body }).toEqual({ status: 400, body: { error } });
  });

  it('the free plan gets 402', async () => {
    const free = await api.key('free');
    for (const path of [
      'trades',
      'neg-risk/events',
      `neg-risk/events/${negRiskMarket}/children`,
      `markets/${snowYes}/volume`,
      `markets/${snowYes}/orderbook`,
    ]) {
      expect(await api.get(`/clobv2/${path}`, free)).toMatchObject({
        status: 402,
        body: { error: 'paid plan required', tier: 'free', upgrade_url: 'http://api.test/docs#plans' },
      });
    }
  });
});

describe('/clobv2 pages while fills arrive (last, since it adds fills)', () => {
  it('neither overlap nor skip', async () => {
    let block = 1_000;
    const arrive = async () => {
      block += 1;
      await insertFills(api.clickhouse, [fillRow({ ...fills[2]!, block, txHash: tx(block), timestampS: T + 80 })]);
    };
    const pages = await walkPages<Body>(get, `trades?condition_id=${snow.conditionId}&limit=2`, arrive);
    const seen = pages.flatMap((page) => page.trades.map((row) => `${row.tx_hash}_${row.order_hash}`));
    expect(seen).toEqual([5, 4, 3, 2, 1, 0].map((n) => fillId(n).replace(/_\d+$/, '')));
  });
});
