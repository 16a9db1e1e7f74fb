import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createResponseCache } from '../../api/cache/response-cache.js';
import { createReaders } from '../../api/readers.js';
import { createAllTradesRoutes } from '../../api/routes/v2-onchain/all-trades.js';
import { createClickHouseTables } from '../../api/tables/clickhouse-tables.js';
import { plans } from '../../schemas/plans.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { walkPages } from '../support/page-walk.js';
import { type FillInput, fillRow, hex32, insertFills, walletEventRow } from '../support/rows.js';
import {
  alice,
  bob,
  carol,
  insertVenue,
  negRiskMarket,
  order,
  rain,
  snow,
  snowNo,
  snowYes,
  T,
  tx,
  walletEvents,
} from '../support/venue.js';

let api: ApiHarness;
let key: string;

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('enterprise');
  await insertVenue(api.clickhouse);
});
afterAll(() => api.stop());

type Row = Record<string, unknown>;
type Body = Row & { trades: Row[]; pagination: { has_more: boolean; cursor?: string; pagination_key?: string } };
const get = (path: string) => api.ok<Body>(`/v2/onchain/${path}`, key);
const snowTitle = { market: snow.question, slug: snow.slug, outcome: 'Yes', image: snow.image };

describe('/v2/onchain lists of a wallet', () => {
  it("trades from the wallet's perspective, combos included", async () => {
    const page = await get(`wallets/${alice}/trades`);
    expect(page).toMatchObject({
      wallet: alice,
      source: 'onchain',
      count: 7,
      offset: 0,
      pagination: { limit: 100, has_more: false },
    });
    expect(page.pagination.cursor).toBeUndefined();
    expect(page.trades.map((row) => [row.order_hash, row.side, row.direction])).toEqual([
      [order(8), 'maker', 'BUY'],
      [order(7), 'maker', 'BUY'],
      [order(6), 'taker', 'BUY'],
      [order(1), 'maker', 'BUY'],
      [order(4), 'maker', 'BUY'],
      [order(3), 'taker', 'SELL'],
      [order(1), 'maker', 'BUY'],
    ]);
    expect(page.trades[4]).toEqual({
      tx_hash: tx(2),
      order_hash: order(4),
      timestamp: T + 2,
      maker: alice,
      taker: '0x000000000000000000000000000000000000000e',
      maker_asset_id: '0',
      taker_asset_id: snowYes,
      maker_amount: 20,
      taker_amount: 50,
      fee: 0.25,
      side: 'maker',
      direction: 'BUY',
      ...snowTitle,
      condition_id: snow.conditionId,
      outcome_index: 0,
      opposite_asset: snowNo,
      neg_risk: false,
    });
    const second = await get(`wallets/${alice}/trades?limit=2&cursor=`);
    expect(second.pagination).toEqual({ limit: 2, has_more: true, cursor: `${T + 6}:103-1` });
    expect(await get(`wallets/${bob.replace('b', 'B')}/trades?offset=2&limit=5000`)).toMatchObject({
      wallet: bob,
      count: 1,
      offset: 2,
      pagination: { limit: 1000 },
    });
  });

  it('redemptions and activity', async () => {
    expect(await get(`wallets/${alice}/redemptions`)).toEqual({
      wallet: alice,
      source: 'onchain',
      count: 2,
      offset: 0,
      pagination: { limit: 100, has_more: false },
      total_payout: 80,
      redemptions: [
        {
          id: `${tx(114)}_0x0`,
          timestamp: T + 28,
          condition: hex32(0xdead),
          index_sets: ['2'],
          payout: 0,
          market: null,
          slug: null,
          image: null,
        },
        {
          id: `${tx(113)}_0x1f4`,
          timestamp: T + 26,
          condition: rain.conditionId,
          index_sets: ['1', '2'],
          payout: 80,
          market: 'Rain?',
          slug: 'rain',
          image: null,
        },
      ],
    });
    expect(await get(`wallets/${alice}/redemptions?limit=1`)).toMatchObject({ count: 1, total_payout: 0 });
    const { market, slug, image } = snowTitle;
    expect(await get(`wallets/${alice}/activity`)).toEqual({
      wallet: alice,
      source: 'onchain',
      count: 3,
      offset: 0,
      pagination: { limit: 100, has_more: false },
      splits: 1,
      merges: 1,
      conversions: 1,
      events: [
        {
          type: 'merge',
          id: `${tx(112)}_0x3`,
          timestamp: T + 24,
          condition: snow.conditionId,
          amount: 5,
          market,
          slug,
          image,
        },
        {
          type: 'neg_risk_conversion',
          id: `${tx(111)}_0x20`,
          timestamp: T + 22,
          amount: 15,
          neg_risk_market_id: negRiskMarket,
          index_set: '6',
          question_count: 2,
        },
        {
          type: 'split',
          id: `${tx(110)}_0x11`,
          timestamp: T + 20,
          condition: snow.conditionId,
          amount: 50,
          market,
          slug,
          image,
        },
      ],
    });
    expect(await get(`wallets/${alice}/activity?offset=2`)).toMatchObject({
      count: 1,
      splits: 1,
      merges: 0,
      conversions: 0,
    });
    expect(await get(`wallets/${carol}/activity`)).toMatchObject({ count: 0, events: [] });
  });
});

describe('/v2/onchain lists of a market', () => {
  it("trades with the market in the envelope, from the maker's perspective", async () => {
    const page = await get(`markets/${snowYes}/trades`);
    expect(page).toMatchObject({ token_id: snowYes, count: 5, ...snowTitle, condition_id: snow.conditionId });
    expect(page.trades.map((row) => [row.order_hash, row.side, row.direction])).toEqual([
      [order(5), 'maker', 'SELL'],
      [order(1), 'maker', 'BUY'],
      [order(4), 'maker', 'BUY'],
      [order(2), 'maker', 'SELL'],
      [order(1), 'maker', 'BUY'],
    ]);
    expect(Object.keys(page.trades[0]!)).not.toContain('market');
    expect(await get('markets/4/trades')).toMatchObject({ count: 0, market: null, condition_id: null });
  });

  it('volume counts each match once', async () => {
    // Alice's bid was matched for 40 and 4 dollars; the takers' own rows and her minted 50 Yes repeat other fills.
    expect(await get(`markets/${snowYes}/volume`)).toEqual({
      token_id: snowYes,
      source: 'onchain',
      found: true,
      ...snowTitle,
      condition_id: snow.conditionId,
      total_trades: 2,
      buys: 2,
      sells: 0,
      volume_usdc: 44,
      buy_volume_usdc: 44,
      sell_volume_usdc: 0,
    });
    expect(await get(`markets/${rain.tokenIds[0]}/volume`)).toMatchObject({
      total_trades: 1,
      sells: 1,
      sell_volume_usdc: 9,
    });
    expect(await get('markets/4/volume')).toMatchObject({
      found: false,
      total_trades: 0,
      volume_usdc: 0,
      market: null,
    });
    expect(await get('markets/701/volume')).toMatchObject({ found: true, total_trades: 0, slug: 'hail' });
  });

  it('tags', async () => {
    expect(await get('tags')).toEqual({ count: 2, tags: ['weather', 'europe'] });
    expect(await get('tags?sort=alpha&min_markets=1')).toEqual({ count: 2, tags: ['europe', 'weather'] });
    expect(await get('tags?details=true&prefix=w')).toEqual({
      count: 1,
      tags: [{ slug: 'weather', markets: 2, events: 2, first_seen_at: null, last_seen_at: null }],
    });
  });
});

describe('GET /v2/onchain/trades', () => {
  const orders = async (query: string) => (await get(`trades?${query}`)).trades.map((row) => row.order_hash);

  it.each<[string, number[]]>([
    ['', [8, 7, 6, 5, 1, 4, 3, 2, 1]],
    [`wallet=${bob}`, [6, 2, 1]],
    ['market_slug=rain', [7, 6]],
    [`condition_id=${snow.conditionId}&token_id=${snowNo}`, [3]],
    [`market_slug=rain&token_id=${snowNo}`, []],
    [`start_time=${T + 2}&end_time=${T + 3}`, [4, 3]],
    ['min_total=30.01', [2, 1]],
    [`order=asc&token_id=${snowYes}&limit=2`, [1, 2]],
    [`sort_by=order_hash&token_id=${snowYes}`, [5, 1, 1, 4, 2]],
  ])('?%s', async (query, expected) => expect(await orders(query)).toEqual(expected.map(order)));

  it('returns rows and grouped rows', async () => {
    const [row] = (await get(`trades?wallet=${carol}&token_id=${snowNo}`)).trades;
    expect(row).toEqual({
      timestamp: T + 2,
      tx_hash: tx(2),
      order_hash: order(3),
      maker: carol,
      taker: alice,
      token_id: snowNo,
      price: 0.6,
      amount_usd: 30,
      fee_usd: 0,
      shares: 50,
      side: 'maker',
      direction: 'BUY',
      market: snow.question,
      market_slug: snow.slug,
      outcome: 'No',
      outcome_index: 1,
      condition_id: snow.conditionId,
      opposite_asset: snowYes,
      neg_risk: false,
      image: snow.image,
    });
    const grouped = await get(`trades?group_by=order_hash&wallet=${alice}`);
    expect(grouped.source).toBe('onchain-v2-grouped');
    expect(
      grouped.trades.map((one) => [one.order_hash, one.side, one.fill_count, one.total_amount_usd, one.total_fee_usd]),
    ).toEqual([
      [order(8), 'maker', 1, 10, 0.05],
      [order(7), 'taker', 1, 9, 0.09],
      [order(1), 'maker', 2, 44, 0],
      [order(4), 'taker', 1, 20, 0.25],
    ]);
    expect(grouped.trades[2]).toMatchObject({
      tx_hashes: [tx(1), tx(3)],
      first_fill_at: T,
      last_fill_at: T + 4,
      timestamp: T + 4,
    });
  });

  it('covers 24 hours without a filter', async () => {
    const before = api.clock.nowMs;
    api.clock.nowMs = (T + 86_400 + 5) * 1000;
    expect(await orders('')).toEqual([8, 7, 6].map(order));
    api.clock.nowMs = before;
  });

  it.each([
    ['trades?order=asc', 400, 'order=asc requires at least one filter'],
    ['trades?market_slug=none', 400, 'market_slug not found'],
    [`trades?condition_id=${hex32(4)}`, 400, 'condition_id not found'],
    ['trades?pagination_key=x', 400, 'Invalid pagination_key'],
    ['trades?pagination_key=1-1~2', 400, 'Invalid pagination_key'],
    ['trades?group_by=order_hash&pagination_key=1-1', 400, 'Invalid pagination_key'],
    ['trades?min_total=-1', 400, 'Invalid min_total'],
    [`wallets/${alice}/trades?limit=ten`, 400, 'Invalid limit. Use a whole number, 1 or more'],
    [`wallets/${alice}/trades?cursor=5`, 400, 'Invalid cursor'],
    ['wallets/0x1/redemptions', 400, 'Invalid wallet address'],
    [`markets/${snow.conditionId}/trades`, 400, 'Invalid token id. Use 1 to 78 digits, below 2^256'],
    [`markets/${2n ** 256n}/volume`, 400, 'Invalid token id. Use 1 to 78 digits, below 2^256'],
    ['markets/x/volume', 400, 'Invalid token id. Use 1 to 78 digits, below 2^256'],
  ])('%s is %i', async (path, status, error) => {
    expect(await api.get(`/v2/onchain/${path}`, key)).toMatchObject({ status, body: { error } });
  });

  it('is rejected with 403 for the free plan, like the whole prefix', async () => {
    const free = await api.key('free');
    for (const path of [
      'trades',
      'tags',
      `wallets/${alice}/trades`,
      `wallets/${alice}/activity`,
      `markets/${snowYes}/volume`,
    ])
      expect((await api.get(`/v2/onchain/${path}`, free)).status).toBe(403);
  });
});

describe('/v2/onchain caches', () => {
  it('return a response for a minute with its age, and share one load', async () => {
    const path = `/v2/onchain/markets/${snowNo}/volume`;
    const first = await api.get(path, key);
    expect([first.headers.get('cache-control'), first.headers.get('age')]).toEqual(['private, max-age=60', '0']);
    await insertFills(api.clickhouse, [
      fillRow({
        block: 300,
        logIndex: 0,
        timestampS: T,
        orderHash: order(9),
        txHash: tx(9),
        side: 'SELL',
        tokenId: snowNo,
        usdc: 1n,
        shares: 2n,
      }),
    ]);
    const before = api.clock.nowMs;
    api.clock.nowMs += 59_000;
    const kept = await api.get(path, key);
    expect([kept.body, kept.headers.get('age')]).toEqual([first.body, '59']);
    api.clock.nowMs += 1_000;
    expect(await get(`markets/${snowNo}/volume`)).toMatchObject({ total_trades: 2, volume_usdc: 30.000001 });
    api.clock.nowMs = before;
  });
});

describe('/v2/onchain pages while rows arrive', () => {
  const TOKEN = '66000';
  const wallet = `0x${'5a'.repeat(20)}`;
  let block = 50_000;
  const inserted: FillInput[] = [];
  const arrive = async (count: number) => {
    const fresh = Array.from({ length: count }, (_, logIndex): FillInput => {
      if (logIndex % 3 === 0) block += 1;
      return {
        block,
        logIndex,
        timestampS: T + 90,
        orderHash: hex32(0x9000 + (block % 5)),
        txHash: hex32(block),
        side: 'BUY',
        tokenId: TOKEN,
        usdc: 1_000_000n,
        shares: 2_000_000n,
        maker: logIndex % 2 === 0 ? wallet : carol,
        taker: logIndex % 2 === 0 ? carol : wallet,
      };
    });
    if (fresh.length > 0) await insertFills(api.clickhouse, fresh.map(fillRow));
    inserted.push(...fresh);
  };
  const name = (row: Row | FillInput) =>
    'txHash' in row ? `${row.txHash} ${row.maker} ${row.timestampS}` : `${row.tx_hash} ${row.maker} ${row.timestamp}`;

  it('neither overlap nor skip by cursor and key, cached or not', async () => {
    await arrive(9);
    const step = fc.record({ count: fc.integer({ min: 0, max: 3 }), laterMs: fc.constantFrom(0, 5_000, 61_000) });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 5 }), fc.array(step, { maxLength: 5 }), async (limit, steps) => {
        const queue = [...steps];
        const between = async () => {
          const next = queue.shift();
          if (next === undefined) return;
          api.clock.nowMs += next.laterMs;
          await arrive(next.count);
        };
        for (const list of [`wallets/${wallet}/trades`, `markets/${TOKEN}/trades`]) {
          api.clock.nowMs += 61_000;
          const expected = inserted.map(name).reverse();
          const byCursor: string[] = [];
          for (let cursor: string | undefined = ''; cursor !== undefined; ) {
            const page: Body = await get(`${list}?limit=${limit}&cursor=${cursor}`);
            byCursor.push(...page.trades.map(name));
            cursor = page.pagination.cursor;
            await between();
          }
          expect(byCursor).toEqual(expected);
        }
        for (const mode of ['', '&sort_by=order_hash', '&group_by=order_hash']) {
          queue.push(...steps);
          const before = inserted.length;
          const seen: Row[] = [];
          for (let next: string | undefined = ''; next !== undefined; ) {
            const suffix: string = next === '' ? '' : `&pagination_key=${next}`;
            const page: Body = await get(`trades?token_id=${TOKEN}&limit=${limit}${mode}${suffix}`);
            seen.push(...page.trades);
            next = page.pagination.pagination_key;
            await between();
          }
          const count = mode.includes('group')
            ? seen.reduce((sum, row) => sum + Number(row.fill_count), 0)
            : seen.length;
          expect([mode, count]).toEqual([mode, before]);
          const names = mode.includes('group')
            ? seen.map((row) => row.order_hash)
            : seen.map((row) => name(row) + row.taker);
          if (mode.includes('group')) expect(new Set(names).size).toBe(names.length);
        }
      }),
      { numRuns: 3 },
    );
  });

  it('of events neither overlap nor skip', async () => {
    const own = walletEvents
      .filter((event) => event.kind !== 'redemption')
      .map((event) => event.txHash)
      .reverse();
    api.clock.nowMs += 61_000;
    let block = 900;
    type Events = Body & { events: Row[] };
    const pages = await walkPages<Events>(
      async (path) => (await get(path)) as unknown as Events,
      `wallets/${alice}/activity?limit=1`,
      async () => {
        api.clock.nowMs += 61_000;
        await api.clickhouse.insertRows('wallet_events', [
          walletEventRow({ ...walletEvents[0]!, block, txHash: tx(block) }),
        ]);
        block += 1;
      },
    );
    const seen = pages.flatMap(({ events }) => events.map((event) => String(event.id).split('_')[0]));
    expect(seen).toEqual(own);
  });
});

describe('/v2/onchain candles', () => {
  type Page = {
    count: number;
    window: Row;
    candles: { time: number; trades: number; close: number; volume: number }[];
    pagination: { older_end_ts: number | null; newer_start_ts: number | null };
  };
  const page = (path: string) => api.ok<Page>(`/v2/onchain/candles${path}`, key);
  const token = '8800';
  /** From a full minute on, 300 trades of one dollar, one every 30 s. */
  const from = T + 100_000 - ((T + 100_000) % 60);
  const trade = (n: number) =>
    fillRow({
      block: 50_000 + n,
      logIndex: 1,
      timestampS: from + n * 30,
      orderHash: hex32(n),
      txHash: hex32(0x880000 + n),
      side: n % 4 === 0 ? 'SELL' : 'BUY',
      tokenId: token,
      usdc: 1_000_000n,
      shares: BigInt(2_000_000 + (n % 2) * 3_000_000),
    });

  it('have whole buckets, and pages without gap or overlap', async () => {
    await insertFills(
      api.clickhouse,
      Array.from({ length: 300 }, (_, n) => trade(n)),
    );
    const first = await page(`/${token}?resolution=1m&limit=99`);
    expect(first).toMatchObject({
      token_id: token,
      resolution: '1m',
      count: 50,
      window: { start_ts: from + 200 * 30, end_ts: from + 299 * 30, trade_count: 100, duration_seconds: 99 * 30 },
      pagination: { older_end_ts: from + 200 * 30 - 1, newer_start_ts: null },
    });
    // Minute 100: 1 USD sold at 0.50, 1 USD bought at 0.20.
    expect(first.candles[0]).toEqual({
      time: (from + 6_000) * 1000,
      open: 0.5,
      high: 0.5,
      low: 0.2,
      close: 0.2,
      volume: 2,
      volume_shares: 7,
      volume_buy: 1,
      volume_sell: 1,
      trades: 2,
      vwap: 0.285714,
    });
    await insertFills(api.clickhouse, [trade(300), trade(301)]);
    const listed = [...first.candles];
    let older = first.pagination.older_end_ts;
    while (older !== null) {
      const next = await page(`/${token}?resolution=1m&limit=100&anchor_ts=${older}`);
      listed.unshift(...next.candles);
      older = next.pagination.older_end_ts;
    }
    expect(listed.map(({ time, trades }) => [time, trades])).toEqual(
      Array.from({ length: 150 }, (_, n) => [(from + n * 60) * 1000, 2]),
    );
    const forward = await page(`/${token}?resolution=1m&limit=100&direction=after&anchor_ts=${from + 8_950}`);
    expect(forward).toMatchObject({
      count: 2,
      window: { trade_count: 4 },
      pagination: { older_end_ts: from + 8_940 - 1, newer_start_ts: null },
    });
  });

  it('accept a block or a transaction as anchor', async () => {
    await api.clickhouse.insertRows('blocks', [
      { block_number: 50_100, block_hash: hex32(1), parent_hash: hex32(2), timestamp: from + 3_000, _offset: 1 },
    ]);
    const last = ({ window }: Page) => window.end_ts;
    // Trade 101 is in the minute of trade 100.
    expect(last(await page(`/${token}?resolution=1m&anchor_block=50100`))).toBe(from + 3_030);
    const anchors = `anchor_tx=${hex32(0x880000 + 40)}&anchor_block=50100&anchor_ts=${from}`;
    expect(last(await page(`?token_id=${token}&resolution=1m&${anchors}`))).toBe(from + 1_230);
    const filled = await page(`/${token}?resolution=5m&gap_fill=true`);
    expect(filled.count).toBe(31);
    const errorOf = async (path: string) => {
      const { status, body } = await api.get(`/v2/onchain/candles${path}`, key);
      return [status, (body as { error: string }).error];
    };
    expect(await errorOf(`/${token}?anchor_block=9`)).toEqual([400, 'anchor_block not found']);
    expect(await errorOf(`/${token}?anchor_tx=${hex32(9)}`)).toEqual([400, 'anchor_tx not found']);
    expect(await errorOf('')).toEqual([400, 'Missing token_id, condition_id or market_slug']);
    expect(await errorOf('?market_slug=nowhere')).toEqual([400, 'market_slug not found']);
    expect(await errorOf(`?condition_id=${snow.conditionId}`)).toEqual([
      400,
      'condition_id has several outcomes: use token_id',
    ]);
    for (const path of [`/${snow.tokenIds[0]}?`, `?token_id=${snow.tokenIds[0]}&`]) {
      expect((await page(`${path}condition_id=${snow.conditionId}&market_slug=${snow.slug}`)).count).toBeGreaterThan(0);
      expect(await errorOf(`${path}market=nowhere`)).toEqual([400, 'market_slug not found']);
    }
    expect(await errorOf(`/${token}?market_slug=${snow.slug}`)).toEqual([400, 'token_id is not of this market_slug']);
    expect(await errorOf(`?condition_id=${snow.conditionId}&slug=rain`)).toEqual([
      400,
      'condition_id is not of this market_slug',
    ]);
    expect(await errorOf(`/${token}?limit=-1`)).toEqual([400, 'Invalid limit. Use a whole number, 1 or more']);
    expect(await errorOf(`/${token}?anchor_ts=1790000000000`)).toEqual([
      400,
      'Invalid anchor_ts. Use Unix seconds (1790000000000 looks like milliseconds)',
    ]);
    expect(await page('/424242')).toMatchObject({ count: 0, candles: [], window: { start_ts: null, trade_count: 0 } });
  });
});

describe('/v2/onchain trades/all', () => {
  it('equals the pages, newest first, from the growth plan on', async () => {
    type All = Row & { trades: Row[] };
    const all = await api.ok<All>(`/v2/onchain/wallets/${alice}/trades/all`, key);
    const paged = await get(`wallets/${alice}/trades?limit=1000`);
    expect(all).toMatchObject({ wallet: alice, from_ts: 0, count: paged.count, partial: false, partial_reason: null });
    const keyOf = (row: Row) => [row.tx_hash, row.order_hash, row.timestamp];
    expect(all.trades.map(keyOf)).toEqual(paged.trades.map(keyOf));
    expect(all.trades.at(-1)).toEqual({
      tx_hash: tx(1),
      order_hash: order(1),
      timestamp: T,
      maker: alice,
      taker: bob,
      token_id: snowYes,
      direction: 'BUY',
      price: 0.4,
      shares: 100,
      usd: 40,
      fee: 0,
    });
    expect(await api.ok<All>(`/v2/onchain/wallets/${alice}/trades/all`, key)).toEqual({ ...all, cache: 'hit' });
    expect(await api.ok<All>(`/v2/onchain/markets/${snowYes}/trades/all?from=${T}&to=${T + 2}`, key)).toMatchObject({
      token_id: snowYes,
      from_ts: T,
      to_ts: T + 2,
      count: 3,
      cache: 'miss',
    });
    const starter = await api.key('starter');
    expect(await api.get(`/v2/onchain/wallets/${alice}/trades/all`, starter)).toMatchObject({
      status: 403,
      body: { error: 'trades/all requires the growth plan or higher. Your tier: starter.' },
    });
    expect((await api.get(`/v2/onchain/wallets/${alice}/trades/all?from=9&to=8`, key)).status).toBe(400);
  });

  it('sets partial beyond the cap, and is not cached then', async () => {
    const nowMs = () => api.clock.nowMs;
    const tables = createClickHouseTables(api.clickhouse);
    const readers = createReaders({ tables, cache: createResponseCache({ nowMs }), nowMs, cachedMarkets: 1_000 });
    const [ofWallet] = createAllTradesRoutes(readers, 3);
    const caller = {
      accountId: 'a',
      keyHash: 'k',
      poolKeyHash: 'k',
      limitKeyHash: 'k',
      plan: 'growth',
      terms: plans.growth,
    } as const;
    const context = {
      endpoint: '/v2/onchain/wallets/{address}/trades/all',
      requestId: '',
      clientIp: '',
      headers: {},
      rawQuery: new URLSearchParams(),
      rawBody: null,
      closed: () => new AbortController().signal,
      nowMs: api.clock.nowMs,
      elapsedMs: () => 0,
      caller,
      session: null,
    };
    const tradesOf = async (address: string) =>
      (await ofWallet?.handle({ params: { address }, query: new URLSearchParams(), body: undefined }, context))?.body;
    for (let n = 0; n < 2; n++) {
      expect(await tradesOf(alice)).toMatchObject({
        count: 3,
        partial: true,
        partial_reason: 'hard_cap_250000',
        cache: 'miss',
      });
    }
  });
});
