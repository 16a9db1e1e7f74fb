import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { cursorWith, walkPages } from '../support/page-walk.js';
import { address, type FillInput, fillRow, hex32, insertFills, marketRow, tokenRows } from '../support/rows.js';

const T = 1_790_000_000;
const BUILDER = hex32(0xbc);
/** 78 digits. */
const BIG_TOKEN = '71000000000000000000000000000000000000000000000000000000000000000000000000001';

let api: ApiHarness;
let key: string;

interface Page {
  trades: Record<string, unknown>[];
  rows_returned: number;
  has_more: boolean;
  next_cursor: string | null;
}

const trades = async (query: string) => {
  const { status, body } = await api.get(`/v3/trades?${query}`, key);
  expect({ status, error: (body as { error?: string }).error }).toEqual({ status: 200, error: undefined });
  return body as Page;
};
const ids = (page: Page) => page.trades.map((row) => row.id);

const fills: FillInput[] = [
  {
    block: 100,
    logIndex: 5,
    timestampS: T,
    orderHash: hex32(0xa1),
    txHash: hex32(0x71),
    side: 'BUY',
    tokenId: BIG_TOKEN,
    usdc: 585_671_225n,
    shares: 2_028_240_000n,
    fee: 331_000n,
    builder: BUILDER,
  },
  {
    block: 100,
    logIndex: 77,
    timestampS: T,
    orderHash: hex32(0xa2),
    txHash: hex32(0x71),
    side: 'SELL',
    tokenId: '502',
    usdc: 66_275_000n,
    shares: 120_500_000n,
  },
  {
    block: 101,
    logIndex: 1,
    timestampS: T + 2,
    orderHash: hex32(0xa1),
    txHash: hex32(0x72),
    side: 'BUY',
    tokenId: BIG_TOKEN,
    usdc: 1n,
    shares: 3n,
    builder: BUILDER,
  },
  {
    block: 102,
    logIndex: 9,
    timestampS: T + 4,
    orderHash: hex32(0xa3),
    txHash: hex32(0x73),
    side: 'SELL',
    tokenId: '601',
    usdc: 900_000_000n,
    shares: 1_000_000_000n,
    version: 1,
  },
  {
    block: 103,
    logIndex: 2,
    timestampS: T + 6,
    orderHash: hex32(0xa4),
    txHash: hex32(0x74),
    side: 'BUY',
    tokenId: '999',
    usdc: 18_446_744_073_709_551_615n,
    shares: 18_446_744_073_709_551_615n,
  },
];
const id = (index: number) => `${fills[index]!.txHash}_${fills[index]!.orderHash}_${fills[index]!.logIndex}`;
/** sha256('x-1') begins with e0f26c5c9275. */
const RAIN_EVENT = 1e15 + 0xe0f26c5c9275;
const ORDER = [4, 3, 2, 1, 0].map(id);

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('enterprise');
  await insertFills(api.clickhouse, fills.map(fillRow));
  const snow = {
    conditionId: hex32(0xc1),
    id: 'm1',
    slug: 'snow-lisbon-may',
    question: 'Will it snow in Lisbon by May?',
    tokenIds: [BIG_TOKEN, '502'] as const,
    eventId: '4242',
    eventSlug: 'snow-lisbon',
    image: 'https://img.example/snow.png',
  };
  const rain = {
    conditionId: hex32(0xc2),
    id: 'm2',
    slug: 'rain',
    question: 'Rain?',
    tokenIds: ['601', '602'] as const,
    eventId: 'x-1',
    eventSlug: 'rain-event',
  };
  await api.clickhouse.insertRows('markets', [snow, rain].map(marketRow));
  await api.clickhouse.insertRows('tokens', [snow, rain].flatMap(tokenRows));
});
afterAll(() => api.stop());

describe('rows', () => {
  it('lists every fill newest first with exact fields', async () => {
    const page = await trades('');
    expect(ids(page)).toEqual(ORDER);
    expect(page).toMatchObject({ rows_returned: 5, has_more: false, offset: 0, limit: 100, next_cursor: null });
    expect(page.trades[4]).toEqual({
      id: id(0),
      maker: address(0xa),
      taker: address(0xb),
      maker_asset_id: '0',
      taker_asset_id: BIG_TOKEN,
      maker_amount: 585.671225,
      taker_amount: 2028.24,
      amount_usd: 585.671225,
      fee: 0.331,
      token_id: BIG_TOKEN,
      asset: BIG_TOKEN,
      price: 0.2888,
      size: 2028.24,
      amount: 2028.24,
      timestamp: String(T),
      transaction_hash: hex32(0x71),
      order_hash: hex32(0xa1),
      builder: BUILDER,
      side: 0,
      role: 'maker',
      direction: 'BUY',
      market: 'Will it snow in Lisbon by May?',
      slug: 'snow-lisbon-may',
      outcome: 'Yes',
      outcome_index: 0,
      image: 'https://img.example/snow.png',
      condition_id: hex32(0xc1),
      opposite_asset: '502',
      neg_risk: false,
      event_slug: 'snow-lisbon',
      event_id: 4242,
    });
    expect(page.trades[3]).toMatchObject({
      maker_asset_id: '502',
      taker_asset_id: '0',
      maker_amount: 120.5,
      taker_amount: 66.275,
      amount_usd: 66.275,
      price: 0.55,
      fee: 0,
      side: 1,
      direction: 'SELL',
      outcome: 'No',
      outcome_index: 1,
      builder: `0x${'0'.repeat(64)}`,
    });
    // V1: no signed side. The event id is no number: one is derived.
    expect(page.trades[1]).toMatchObject({
      side: null,
      direction: 'SELL',
      event_slug: 'rain-event',
      event_id: RAIN_EVENT,
      image: null,
    });
    // A token that the catalogue does not know; amounts beyond 2^53.
    expect(page.trades[0]).toMatchObject({
      market: null,
      slug: null,
      outcome: null,
      outcome_index: null,
      condition_id: null,
      event_slug: null,
      event_id: null,
      amount_usd: 18446744073709.55,
      price: 1,
    });
    expect(page.trades[2]).toMatchObject({ amount_usd: 0.000001, size: 0.000003, price: 0.3333 });
  });
});

describe('filters', () => {
  it.each<[string, number[]]>([
    [`after=${T + 2}`, [4, 3, 2]],
    [`before=${T + 2}`, [2, 1, 0]],
    [`after=${T + 2}&before=${T + 2}`, [2]],
    ['after=9999999999', []],
    ['order=asc', [0, 1, 2, 3, 4]],
    ['order=ASC&limit=2&offset=1', [1, 2]],
    [`token_id=${BIG_TOKEN}`, [2, 0]],
    ['token_id=0000502', [1]],
    ['token_id=0', []],
    [`token_id=${2n ** 256n - 1n}`, []],
    [`condition_id=${hex32(0xc1).toUpperCase().replace('0X', '0x')}`, [2, 1, 0]],
    ['market_slug=rain', [3]],
    ['event_slug=snow-lisbon', [2, 1, 0]],
    ['event_id=4242', [2, 1, 0]],
    [`event_id=${RAIN_EVENT}`, [3]],
    [`event_id=${RAIN_EVENT + 1}`, []],
    [`event_id=4242&token_id=502`, [1]],
    [`market_slug=rain&token_id=502`, []],
    ['market_slug=nothing-like-it', []],
    [`order_hash=${hex32(0xa1)}`, [2, 0]],
    [`order_hash=${hex32(0xdead)}`, []],
    ['min_amount_usd=66.275', [4, 3, 1, 0]],
    ['min_amount_usd=66.2750001', [4, 3, 0]],
    ['min_amount=120500000', [4, 3, 1, 0]],
    ['min_amount=585671226', [4, 3]],
    [`builder=${BUILDER}`, [2, 0]],
    [`builder=0x${'0'.repeat(64)}`, [4, 3, 1]],
    [`builder=${BUILDER}&token_id=${BIG_TOKEN}&min_amount_usd=1`, [0]],
    ['side=buy', [4, 2, 0]],
    ['side=1', [3, 1]],
    ['side=SELL&market_slug=rain', [3]],
    ['limit=2', [4, 3]],
    ['limit=2&offset=4', [0]],
    ['limit=0', [4]],
  ])('?%s', async (query, expected) => {
    expect(ids(await trades(query))).toEqual(expected.map(id));
  });

  it('clamps the limit and returns the applied one', async () => {
    expect(await trades('limit=5000')).toMatchObject({ limit: 300 });
    expect(await trades('limit=99999999999999999999999999')).toMatchObject({ limit: 300 });
    expect(await trades('limit=2')).toMatchObject({
      limit: 2,
      has_more: true,
      next_cursor: cursorWith('/v3/trades', 'desc', 102, 9),
    });
  });

  it.each([
    ['limit=-3', 'invalid limit: use a whole number, 1 or more'],
    ['offset=-5&limit=1', 'invalid offset: use a whole number, 0 or more'],
    ['after=1790000000000', 'invalid after: use Unix seconds (1790000000000 looks like milliseconds)'],
    ['end=1790000000000', 'invalid end: use Unix seconds (1790000000000 looks like milliseconds)'],
    ['limit=abc', 'invalid limit: use a whole number, 1 or more'],
    ['limit=1.5', 'invalid limit: use a whole number, 1 or more'],
    ['limit=', 'invalid limit: use a whole number, 1 or more'],
    [
      'unknown=1&limit=1',
      "unknown query parameter 'unknown': use after, before, order, limit, offset, cursor, token_id, condition_id, market_slug, event_slug, event_id, order_hash, min_amount_usd, min_amount, builder, side, sort_by, group_by, matches_only",
    ],
    [
      'walet=0x1',
      "unknown query parameter 'walet': use after, before, order, limit, offset, cursor, token_id, condition_id, market_slug, event_slug, event_id, order_hash, min_amount_usd, min_amount, builder, side, sort_by, group_by, matches_only",
    ],
    ['start_time=5&after=6', "Query parameters 'after' and 'start_time' are the same and differ: give one"],
    ['limit=1&limit=2', "Query parameter 'limit' must be given once"],
    ['offset=x', 'invalid offset: use a whole number, 0 or more'],
    ['offset=100001', 'invalid offset: at most 100000'],
    ['order=up', 'invalid order: use asc or desc'],
    ['after=soon', 'invalid after: use Unix seconds'],
    ['before=-1', 'invalid before: use Unix seconds'],
    ['token_id=0x1', 'invalid token_id: use a decimal uint256'],
    [`token_id=${2n ** 256n}`, 'invalid token_id: use a decimal uint256'],
    ['condition_id=0x12', 'invalid condition_id: use 0x and 64 hex digits'],
    ['order_hash=', 'invalid order_hash: use 0x and 64 hex digits'],
    ["order_hash=' OR 1=1 --", 'invalid order_hash: use 0x and 64 hex digits'],
    ['builder=abc', 'invalid builder: use 0x and 64 hex digits'],
    ['min_amount_usd=-1', 'invalid min_amount_usd: use a decimal number, 0 or more'],
    ['min_amount_usd=1e3', 'invalid min_amount_usd: use a decimal number, 0 or more'],
    ['min_amount=1.5', 'invalid min_amount: use a whole number of base units, 0 or more'],
    ['side=both', 'invalid side: use buy, sell, 0, 1'],
    ['event_id=x', 'invalid event_id: use a whole number'],
    ['market_slug=', 'invalid market_slug'],
    ['sort_by=time', 'invalid sort_by: use order_hash'],
    ['group_by=maker', 'invalid group_by: use order_hash'],
    ['cursor=abc', 'invalid cursor: use next_cursor of an earlier page'],
    [`cursor=${cursorWith('/v3/resolutions', 'desc', 102, 9)}`, 'invalid cursor: it belongs to another endpoint'],
    [`cursor=${cursorWith('/v3/trades', 'asc', 102, 9)}`, 'invalid cursor: it belongs to another sort or order'],
    [`cursor=${cursorWith('/v3/trades', 'desc', 102)}`, 'invalid cursor: use next_cursor of an earlier page'],
    [
      `group_by=order_hash&cursor=${cursorWith('/v3/trades', 'desc', 102, 9)}`,
      'invalid cursor: it belongs to another sort or order',
    ],
  ])('rejects ?%s', async (query, error) => {
    const { status, body } = await api.get(`/v3/trades?${encodeURI(query)}`, key);
    expect({ status, body }).toEqual({ status: 400, body: { error } });
  });

  it('treats SQL and HTML in parameters as text', async () => {
    for (const text of [
      "' OR 1=1 --",
      '{x:String}',
      '日本\u2028',
      '%00'.replace('%00', 'a\\0b'),
      '\\',
      "');DROP TABLE fills;--",
    ]) {
      expect(ids(await trades(`market_slug=${encodeURIComponent(text)}`))).toEqual([]);
    }
    expect(ids(await trades(''))).toEqual(ORDER);
  });
});

describe('order groups', () => {
  it('lists the fills of an order adjacent, orders by most recent fill', async () => {
    expect(ids(await trades('sort_by=order_hash'))).toEqual([4, 3, 2, 0, 1].map(id));
    expect(ids(await trades('sort_by=order_hash&limit=2&offset=2'))).toEqual([2, 0].map(id));
    expect(ids(await trades('sort_by=order_hash&order=asc'))).toEqual([1, 0, 2, 3, 4].map(id));
    const pages = await walkPages<Page>((path) => trades(path), 'sort_by=order_hash&limit=2');
    expect(pages.flatMap(ids)).toEqual([4, 3, 2, 0, 1].map(id));
  });

  it('sums the fills of an order in one row', async () => {
    const { body } = await api.get('/v3/trades?group_by=order_hash', key);
    const page = body as { trades: Record<string, unknown>[]; elapsed_ms: number };
    expect({ ...page, trades: page.trades.map((row) => row.order_hash), elapsed_ms: 0 }).toEqual({
      trades: [0xa4, 0xa3, 0xa1, 0xa2].map(hex32),
      next_cursor: null,
      rows_returned: 4,
      grouped_by: 'order_hash',
      elapsed_ms: 0,
    });
    expect(page.trades[2]).toEqual({
      order_hash: hex32(0xa1),
      fill_count: 2,
      avg_price: 0.2888,
      total_amount_usd: 585.671226,
      total_usd: 585.671226,
      total_shares: 2028.240003,
      total_fee: 0.331,
      total_maker_amount: 585.671226,
      total_taker_amount: 2028.240003,
      first_fill_at: T,
      last_fill_at: T + 2,
      timestamp: String(T + 2),
      tx_hashes: [hex32(0x71), hex32(0x72)],
      market: 'Will it snow in Lisbon by May?',
      slug: 'snow-lisbon-may',
      outcome: 'Yes',
      outcome_index: 0,
      image: 'https://img.example/snow.png',
      condition_id: hex32(0xc1),
      opposite_asset: '502',
      neg_risk: false,
      direction: 'BUY',
      role: 'maker',
      side: 0,
      maker: address(0xa),
      taker: address(0xb),
    });
  });

  it('filters before grouping and pages over orders', async () => {
    const of = async (query: string) =>
      ((await api.get(`/v3/trades?group_by=order_hash&${query}`, key)).body as Page).trades.map((row) => [
        row.order_hash,
        row.fill_count,
      ]);
    expect(await of(`before=${T}`)).toEqual([
      [hex32(0xa2), 1],
      [hex32(0xa1), 1],
    ]);
    expect(await of('limit=2&offset=1')).toEqual([
      [hex32(0xa3), 1],
      [hex32(0xa1), 2],
    ]);
    expect(await of('order=asc&limit=2')).toEqual([
      [hex32(0xa2), 1],
      [hex32(0xa1), 2],
    ]);
    expect(await of('offset=50')).toEqual([]);
    expect(await of('market_slug=nope')).toEqual([]);
  });
});

describe('pages while fills arrive', () => {
  const TOKEN = '777000';
  let block = 200_000;
  const inserted: FillInput[] = [];
  const arrive = async (counts: readonly number[]) => {
    const fresh: FillInput[] = [];
    for (const count of counts) {
      block += 1;
      for (let logIndex = 0; logIndex < count; logIndex += 1) {
        // Several blocks share a second, several fills a block.
        fresh.push({
          block,
          logIndex,
          timestampS: T + 1000 + Math.floor(block / 4),
          orderHash: hex32(0xf000 + (block % 7)),
          txHash: hex32(block),
          side: 'BUY',
          tokenId: TOKEN,
          usdc: 1_000_000n,
          shares: 2_000_000n,
        });
      }
    }
    if (fresh.length > 0) await insertFills(api.clickhouse, fresh.map(fillRow));
    inserted.push(...fresh);
  };
  const idOf = (fill: FillInput) => `${fill.txHash}_${fill.orderHash}_${fill.logIndex}`;
  const counts = fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 5 });

  it('never overlap or skip, by cursor newest first, and by offset oldest first', async () => {
    await arrive([3, 1, 4, 2]);
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 7 }), fc.array(counts, { maxLength: 4 }), async (limit, arrivals) => {
        const before = inserted.map(idOf).reverse();
        const down: unknown[] = [];
        const queue = [...arrivals];
        let cursor: string | null = '';
        while (cursor !== null) {
          const page: Page = await trades(
            `token_id=${TOKEN}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          );
          down.push(...ids(page));
          cursor = page.next_cursor;
          await arrive(queue.shift() ?? []);
        }
        expect(down).toEqual(before);

        const up: unknown[] = [];
        queue.push(...arrivals);
        for (let offset = 0; ; offset += limit) {
          const page = await trades(`token_id=${TOKEN}&order=asc&limit=${limit}&offset=${offset}`);
          up.push(...ids(page));
          if (!page.has_more) break;
          await arrive(queue.shift() ?? []);
        }
        expect(up).toEqual(inserted.slice(0, up.length).map(idOf));
        expect(up.length).toBeGreaterThanOrEqual(before.length);
      }),
      { numRuns: 6 },
    );
    // With a fixed end in the past, offsets are stable newest first too.
    const bound = inserted[0]!.timestampS;
    const expected = inserted
      .filter((fill) => fill.timestampS <= bound)
      .map(idOf)
      .reverse();
    const seen: unknown[] = [];
    for (let offset = 0; ; offset += 2) {
      const page = await trades(`token_id=${TOKEN}&before=${bound}&limit=2&offset=${offset}`);
      seen.push(...ids(page));
      if (!page.has_more) break;
      await arrive([1]);
    }
    expect(seen).toEqual(expected);
  });
});

describe('newest page', () => {
  it('is the same whether the last 15 minutes fill it or not', async () => {
    const before = api.clock.nowMs;
    const end = T + 1_000_000;
    const burst = Array.from({ length: 12 }, (_, index) => ({
      block: 900_000 + index,
      logIndex: index % 3,
      timestampS: end - (11 - index) * 200,
      orderHash: hex32(0xe000 + index),
      txHash: hex32(0xe100 + index),
      side: index % 2 === 0 ? ('BUY' as const) : ('SELL' as const),
      tokenId: '888000',
      usdc: 1_000_000n,
      shares: 2_000_000n,
    }));
    await insertFills(api.clickhouse, burst.map(fillRow));
    const newest = burst.map((fill) => `${fill.txHash}_${fill.orderHash}_${fill.logIndex}`).reverse();
    try {
      // Five of them are within 15 minutes before `end`, none long after.
      for (const nowS of [end, end + 100_000]) {
        api.clock.nowMs = nowS * 1000;
        for (const [query, expected] of [
          ['limit=3', newest.slice(0, 3)],
          ['limit=4', newest.slice(0, 4)],
          ['limit=5', newest.slice(0, 5)],
          ['limit=9', newest.slice(0, 9)],
          ['limit=2&offset=2', newest.slice(2, 4)],
          ['limit=2&offset=3', newest.slice(3, 5)],
          ['limit=3&offset=8', newest.slice(8, 11)],
          ['limit=2&side=sell', [newest[0], newest[2]]],
          [`limit=4&before=${end - 300}`, newest.slice(2, 6)],
        ] as const) {
          const page = await trades(query);
          expect(ids(page), `${query} at ${nowS}`).toEqual(expected);
          expect(page.has_more).toBe(true);
        }
      }
    } finally {
      api.clock.nowMs = before;
    }
  });

  it("matches_only leaves out the takers' own orders", async () => {
    const [maker, taker] = [0, 1].map((index) => ({
      block: 950_000,
      logIndex: index,
      timestampS: T + 2_000_000,
      orderHash: hex32(0xf000 + index),
      txHash: hex32(0xf100),
      side: index === 0 ? ('SELL' as const) : ('BUY' as const),
      tokenId: '889000',
      usdc: 1_000_000n,
      shares: 2_000_000n,
      takerOrder: index === 1,
    }));
    await insertFills(
      api.clickhouse,
      [maker, taker].map((fill) => fillRow(fill as FillInput)),
    );
    const hashes = async (query: string) =>
      (await trades(query)).trades.map((row) => (row as { order_hash?: string }).order_hash);
    expect(await hashes('token_id=889000')).toEqual([taker?.orderHash, maker?.orderHash]);
    expect(await hashes('token_id=889000&matches_only=true')).toEqual([maker?.orderHash]);
    expect((await hashes('limit=1&matches_only=true'))[0]).toBe(maker?.orderHash);
  });
});
