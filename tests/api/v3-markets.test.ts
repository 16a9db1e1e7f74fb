import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { walkPages } from '../support/page-walk.js';
import { ALWAYS_FRESH_S } from '../support/positions.js';
import { type FillInput, fillRow, hex32, insertFills, marketRow } from '../support/rows.js';
import { builder, hail, insertVenue, rain, rainNo, rainYes, snow, snowNo, snowYes, T } from '../support/venue.js';

let api: ApiHarness;
let key: string;
const BUILDER_2 = hex32(0xbd);
const CANDLE_TOKEN = '9001';
/** 2026-09-21T14:00:00Z. */
const HOUR = T - (T % 3600);

/** Irregular trades over three days, priced 0.30 to 0.50. */
const candleFills: FillInput[] = Array.from({ length: 60 }, (_, index) => ({
  block: 10_000 + index * 3,
  logIndex: index % 5,
  timestampS: HOUR - 3 * 86_400 + Math.floor(((index * index * 73) / 3600) * 1000),
  orderHash: hex32(0x5000 + index),
  txHash: hex32(0x6000 + index),
  side: index % 3 === 0 ? ('SELL' as const) : ('BUY' as const),
  tokenId: CANDLE_TOKEN,
  usdc: BigInt(300_000 + ((index * 7919) % 200_001)) * BigInt(1 + (index % 4)),
  shares: 1_000_000n * BigInt(1 + (index % 4)),
  takerOrder: index % 7 === 6,
}));

beforeAll(async () => {
  api = await startApi({ nowMs: (T + 100) * 1000 });
  key = await api.key('growth');
  await insertVenue(api.clickhouse);
  const hailYes = hail.tokenIds[0];
  const quote = (token_id: string, market: { conditionId: string }, outcome_index: number, book: object) => ({
    token_id,
    condition_id: market.conditionId,
    outcome_index,
    price: 0.41,
    updated_at: ALWAYS_FRESH_S * 1000,
    _offset: 1,
    ...book,
  });
  await api.clickhouse.insertRows('token_quotes', [
    quote(snowYes, snow, 0, { bid: 0.4, ask: 0.44 }),
    quote(snowNo, snow, 1, { bid: 0.56, ask: 0.6 }),
    quote(hailYes, hail, 0, { bid: null, ask: null, price: 0.5, updated_at: T * 1000 }),
  ]);
  await api.clickhouse.insertRows(
    'token_settlements',
    [rainYes, rainNo].map((token_id, index) => ({
      token_id,
      condition_id: rain.conditionId,
      numerator: String(1 - index),
      denominator: '1',
      timestamp: T + 18,
      _offset: 1,
    })),
  );
  // In two inserts, so that candles and sums are states that must be merged.
  await insertFills(api.clickhouse, candleFills.slice(0, 31).map(fillRow));
  await insertFills(api.clickhouse, candleFills.slice(31).map(fillRow));
  await insertFills(api.clickhouse, [
    fillRow({
      ...candleFills[0]!,
      tokenId: '9002',
      block: 20_000,
      builder: BUILDER_2,
      usdc: 90_000_000n,
      shares: 100_000_000n,
      fee: 7n,
    }),
    fillRow({
      ...candleFills[0]!,
      tokenId: '9002',
      block: 20_001,
      builder: BUILDER_2,
      side: 'BUY',
      usdc: 1n,
      shares: 2n,
    }),
  ]);
});
afterAll(() => api.stop());

type Body = Record<string, unknown> & { data: Record<string, unknown>[] };
const get = (path: string) => api.ok<Body>(path, key);
const rejectionOf = async (path: string) => {
  const { status, body } = await api.get(path, key);
  return [status, body];
};

describe('/v3 markets', () => {
  it('search matches every word case-insensitively, largest volume first', async () => {
    const slugs = async (query: string) => (await get(`/v3/markets/search?${query}`)).data.map((row) => row.slug);
    expect(await slugs('q=sky')).toEqual(['hail', 'rain']);
    expect(await slugs('q=SNOW%20lisbon')).toEqual(['snow-lisbon-may']);
    expect(await slugs('q=snow%20rain')).toEqual([]);
    expect(await slugs('q=%3F')).toEqual(['snow-lisbon-may', 'hail', 'rain']);
    expect(await slugs('q=%25')).toEqual([]);
    // Parts of words; the open market that is traded before the others.
    expect(await slugs('q=now%20lisb&sort=current')).toEqual(['snow-lisbon-may']);
    const current = await slugs('q=%3F&sort=current');
    expect([current[0], current.toSorted()]).toEqual(['snow-lisbon-may', ['hail', 'rain', 'snow-lisbon-may']]);
    expect(await slugs('q=%3F&limit=1&offset=1')).toEqual(['hail']);
    expect((await get('/v3/markets/search?q=may')).data).toEqual([
      {
        condition_id: snow.conditionId,
        question: snow.question,
        slug: snow.slug,
        category: null,
        volume_all_time: '5120.250000',
        active: true,
        closed: false,
        resolved: false,
        winning_outcome_index: null,
        tag_slugs: ['Weather', 'Europe'],
      },
    ]);
    const settled = { closed: true, resolved: true, winning_outcome_index: 0 };
    expect((await get('/v3/markets/search?q=rain')).data[0]).toMatchObject(settled);
    // Settled on chain; the catalogue does not know it yet.
    await api.clickhouse.insertRows('markets', [marketRow({ ...rain, closed: false, offset: 2 })]);
    expect((await get('/v3/markets/search?q=rain')).data[0]).toMatchObject(settled);
    expect(await get(`/v3/conditions/${rain.conditionId}`)).toMatchObject({ closed: true });
    await api.clickhouse.insertRows('markets', [marketRow({ ...rain, offset: 3 })]);
    expect(await rejectionOf('/v3/markets/search')).toEqual([400, { error: "Missing required query parameter 'q'" }]);
    expect(await rejectionOf('/v3/markets/search?q=rain&sort=zz')).toEqual([
      400,
      { error: 'invalid sort: use volume, current' },
    ]);
    expect(await rejectionOf('/v3/markets/search?q=')).toEqual([
      400,
      { error: "Missing required query parameter 'q'" },
    ]);
  });

  it('search pages neither overlap nor skip while volumes change', async () => {
    const pages = await walkPages(get, '/v3/markets/search?q=%3F&limit=1', async () => {
      // A market moves from behind the page to the top while the page after it is read: it is not listed again, nor is any other left out.
      await api.clickhouse.insertRows('markets', [marketRow({ ...snow, volume: 1e6, offset: 2 })]);
      api.clock.nowMs += 60_000;
    });
    expect(pages.flatMap((page) => page.data.map((row) => row.slug))).toEqual(['snow-lisbon-may', 'hail', 'rain']);
    await api.clickhouse.insertRows('markets', [
      marketRow({ ...snow, offset: 3 }),
      marketRow({ ...rain, volume: 1e9, offset: 4 }),
    ]);
    api.clock.nowMs += 60_000;
    const again = await get('/v3/markets/search?q=%3F');
    expect(again.data.map((row) => row.slug)).toEqual(['rain', 'snow-lisbon-may', 'hail']);
  });

  it('market by condition, slug or token', async () => {
    const market = {
      condition_id: snow.conditionId,
      outcomes: ['Yes', 'No'],
      liquidity: '300.100000',
      end_date: '2027-05-01 00:00:00+00',
      event_title: 'Snow in Lisbon',
      token_ids: [snowYes, snowNo],
      token_outcomes: ['Yes', 'No'],
      neg_risk: false,
    };
    for (const path of [`condition/${snow.conditionId}`, `slug/${snow.slug}`, snowNo])
      expect((await get(`/v3/markets/${path}`)).data).toEqual([expect.objectContaining(market)]);
    for (const path of [`condition/${hex32(1)}`, 'slug/none', '4'])
      expect(await get(`/v3/markets/${path}`)).toMatchObject({ data: [] });
  });

  it('prices from settlement, order book mid, catalogue and newest fill', async () => {
    const price = async (token: string) => {
      const { price, resolved, source, updated_at } = await get(`/v3/markets/${token}/price`);
      return [price, resolved, source, updated_at];
    };
    expect(await price(rainYes)).toEqual([1, true, 'settlement', '2026-09-21 14:13:38']);
    expect(await price(rainNo)).toEqual([0, true, 'settlement', '2026-09-21 14:13:38']);
    // Bid 0.40, ask 0.44.
    expect(await price(snowYes)).toEqual([0.42, false, 'clob_mid', '2100-01-01 00:00:00']);
    expect(await price(snowNo)).toEqual([0.58, false, 'clob_mid', '2100-01-01 00:00:00']);
    expect(await price('701')).toEqual([0.5, false, 'v1_condition', '2026-09-21 14:13:20']);
    const last = candleFills.findLast((fill) => fill.takerOrder === false)!;
    expect(await price(CANDLE_TOKEN)).toEqual([
      Number(((Number(last.usdc) / Number(last.shares)) as number).toFixed(6)),
      false,
      'last_fill',
      new Date(last.timestampS * 1000).toISOString().slice(0, 19).replace('T', ' '),
    ]);
    expect(await price('4')).toEqual([0, false, null, null]);
    expect((await get(`/v3/tokens/${snowNo}`)).data).toEqual([
      {
        token_id: snowNo,
        price: 0.58,
        resolved: false,
        source: 'clob_mid',
        updated_at: '2100-01-01 00:00:00',
        condition_id: snow.conditionId,
        outcome: 'No',
        outcome_index: 1,
        opposite_asset: snowYes,
        neg_risk: false,
        question: snow.question,
        slug: snow.slug,
        category: null,
        tag_slugs: ['Weather', 'Europe'],
      },
    ]);
    expect(await get('/v3/tokens/4')).toMatchObject({ data: [] });
  });

  it('conditions, resolutions, tags', async () => {
    expect(await get(`/v3/conditions/${rain.conditionId}`)).toMatchObject({
      id: rain.conditionId,
      position_ids: [rainYes, rainNo],
      payout_numerators: [1, 0],
      payout_denominator: '1',
      winning_outcome_index: 0,
      tags: ['Weather'],
      resolved_at: expect.stringMatching(/^\d{13}$/),
      oracle: expect.stringMatching(/^0x[0-9a-f]{40}$/),
      resolution_tx: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    expect(await get(`/v3/conditions/${hail.conditionId}`)).toMatchObject({
      payout_numerators: [],
      payout_denominator: '0',
      resolved_at: null,
      oracle: null,
      resolution_tx: null,
    });
    expect(await rejectionOf(`/v3/conditions/${hex32(5)}`)).toEqual([404, { error: 'condition not found' }]);
    expect((await get('/v3/resolutions')).data).toEqual([
      {
        condition_id: rain.conditionId,
        payout_numerators: ['1', '0'],
        payout_denominator: '1',
        resolved_at: `${T + 18}000`,
        created_at: `${T - 1000}000`,
        question: 'Rain?',
        slug: 'rain',
        outcomes: ['Yes', 'No'],
        category: null,
      },
    ]);
    expect(await get('/v3/tags')).toMatchObject({
      tags: [
        { tag: 'weather', market_count: 2 },
        { tag: 'europe', market_count: 1 },
      ],
    });
    expect((await get('/v3/tags/weather?sort=liquidity')).data).toHaveLength(2);
    expect((await get('/v3/tags/europe')).data.map((row) => row.slug)).toEqual(['snow-lisbon-may']);
    for (const query of ['', '?offset=1'])
      expect(await rejectionOf(`/v3/tags/none${query}`)).toEqual([404, { error: 'tag not found', tag: 'none' }]);
    expect((await get('/v3/tags/europe?offset=1')).data).toEqual([]);
  });

  it('builders by fills, volume and fees', async () => {
    const codes = async (query: string) => {
      const { builders } = (await get(`/v3/builders?${query}`)) as unknown as { builders: Record<string, unknown>[] };
      return builders.map((row) => [row.builder, row.rank]);
    };
    expect(await codes('')).toEqual([
      [BUILDER_2, 1],
      [builder, 2],
    ]);
    expect(await codes('sort=fees')).toEqual([
      [builder, 1],
      [BUILDER_2, 2],
    ]);
    expect(await codes('sort=volume&limit=1&offset=1')).toEqual([[builder, 2]]);
    // A sale of 100 shares for 90 dollars, and a purchase of two millionths for one.
    expect(await get(`/v3/builders/${BUILDER_2.slice(2)}`)).toMatchObject({
      fill_count: 2,
      volume_e6: '90000001',
      volume_usdc: '90.000001',
      total_maker_volume: '100000001',
      total_taker_volume: '90000002',
      sell_volume: '100000000',
      sell_volume_e6: '100000000',
      sell_volume_usdc: '100',
      buy_volume: '2',
      buy_volume_e6: '2',
      buy_volume_usdc: '0.000002',
      total_fees: '7',
      rank: 1,
    });
    // A single builder has its rank in the list.
    for (const sort of ['fills', 'volume', 'fees']) {
      const list = (await get(`/v3/builders?sort=${sort}`)) as unknown as { builders: Record<string, unknown>[] };
      for (const [index, { builder }] of list.builders.entries())
        expect(await get(`/v3/builders/${builder}?sort=${sort}`)).toMatchObject({ builder, rank: index + 1 });
    }
    expect(await rejectionOf(`/v3/builders/${hex32(1)}`)).toEqual([404, { error: 'builder not found' }]);
  });
});

describe('/v3 candles', () => {
  interface Candle {
    time: number;
    open: number;
    high: number;
    low: number;
    close: number;
    trades: number;
    volume: number;
    volume_buy: number;
    volume_shares: number;
    vwap: number;
    gap_filled: boolean;
    first_block: number | null;
    last_log_index: number | null;
  }
  const candles = async (query: string, token = CANDLE_TOKEN) =>
    (await get(`/v3/markets/${token}/candles?${query}`)) as unknown as {
      candles: Candle[];
      count: number;
      window: Record<string, unknown>;
      pagination: {
        older_end_ts: number | null;
        newer_start_ts: number | null;
        has_older: boolean;
        has_newer: boolean;
      };
    };
  const six = (value: number) => Number(value.toFixed(6));
  /** Computed from the trades without takers' own rows. */
  const naive = (seconds: number) => {
    const buckets = new Map<number, FillInput[]>();
    for (const fill of candleFills.filter((row) => row.takerOrder === false)) {
      const start = fill.timestampS - (fill.timestampS % seconds);
      buckets.set(start, [...(buckets.get(start) ?? []), fill]);
    }
    return [...buckets]
      .sort(([a], [b]) => a - b)
      .map(([time, rows]) => {
        const prices = rows.map((row) => six(Number(row.usdc) / Number(row.shares)));
        const usd = rows.reduce((sum, row) => sum + Number(row.usdc), 0);
        const shares = rows.reduce((sum, row) => sum + Number(row.shares), 0);
        const bought = rows.filter((row) => row.side === 'BUY').reduce((sum, row) => sum + Number(row.usdc), 0);
        return {
          time,
          open: prices[0],
          high: Math.max(...prices),
          low: Math.min(...prices),
          close: prices.at(-1),
          trades: rows.length,
          volume: usd / 1e6,
          volume_buy: bought / 1e6,
          volume_shares: shares / 1e6,
          vwap: six(usd / shares),
          first_block: rows[0]!.block,
          last_log_index: rows.at(-1)!.logIndex,
          gap_filled: false,
        };
      });
  };

  it.each([
    ['1m', 60, 120],
    ['5m', 300, 180],
    ['15m', 900, 240],
    ['1h', 3600, 300],
    ['4h', 14_400, 360],
    ['1d', 86_400, 500],
  ])('%s equal an independent computation', async (resolution, seconds, max) => {
    const page = await candles(`resolution=${resolution}&limit=${max + 1}`);
    const expected = naive(seconds).slice(-max);
    expect(page.candles).toEqual(expected.map((candle) => expect.objectContaining(candle)));
    expect(page).toMatchObject({
      count: expected.length,
      pagination: { max_limit: max, limit: max, has_newer: false },
    });
  });

  it('page to older and newer ones without gap or overlap', async () => {
    const all = naive(3600).map((candle) => candle.time);
    const older: number[] = [];
    let end: number | null = T + 1_000_000;
    while (end !== null) {
      const page = await candles(`limit=4&end=${end}`);
      older.unshift(...page.candles.map((candle) => candle.time));
      end = page.pagination.older_end_ts;
    }
    expect(older).toEqual(all);
    const newer: number[] = [];
    let anchor: number | null = all[0]!;
    while (anchor !== null) {
      const page = await candles(`limit=4&direction=after&anchor_ts=${anchor}`);
      newer.push(...page.candles.map((candle) => candle.time));
      anchor = page.pagination.newer_start_ts;
    }
    expect(newer).toEqual(all);
    expect((await candles('limit=3&order=desc')).candles.map((candle) => candle.time)).toEqual(all.slice(-3).reverse());
  });

  it('fill gaps with the previous close', async () => {
    const traded = naive(3600);
    const page = await candles('limit=30&gap_fill=true');
    const last = traded.at(-1)!.time;
    expect(page.candles.map((candle) => candle.time)).toEqual(
      Array.from({ length: 30 }, (_, index) => last - (29 - index) * 3600).filter((time) => time >= traded[0]!.time),
    );
    let close = traded.findLast((candle) => candle.time < page.candles[0]!.time)?.close;
    for (const candle of page.candles) {
      const real = traded.find((other) => other.time === candle.time);
      if (real === undefined) {
        expect(candle).toMatchObject({
          open: close,
          high: close,
          low: close,
          close,
          trades: 0,
          volume: 0,
          gap_filled: true,
        });
      } else expect(candle).toMatchObject(real);
      close = candle.close;
    }
  });

  it('of a market: one series per outcome', async () => {
    const page = await get(`/v3/markets/slug/${snow.slug}/candles`);
    expect(page).toMatchObject({ condition_id: snow.conditionId, slug: snow.slug, series_count: 2 });
    // Yes: maker fills of 40 and 4 dollars for 100 and 10 shares; No: 30 for 50. Takers' own rows do not count.
    expect(
      (page.series as { candles: Candle[]; outcome: string }[]).map((row) => [row.outcome, row.candles[0]]),
    ).toEqual([
      ['Yes', expect.objectContaining({ trades: 2, volume: 44, volume_shares: 110, open: 0.4, close: 0.4 })],
      ['No', expect.objectContaining({ trades: 1, volume: 30, volume_shares: 50, open: 0.6 })],
    ]);
    const one = await get(`/v3/markets/condition/${snow.conditionId}/candles?token_id=${snowNo}&resolution=1d`);
    expect(one).toMatchObject({ series_count: 1 });
  });

  it.each([
    [`/v3/markets/${CANDLE_TOKEN}/candles?resolution=2h`, 400, 'resolution must be one of [1m, 5m, 15m, 1h, 4h, 1d]'],
    [
      `/v3/markets/${CANDLE_TOKEN}/candles?start=1790000000000`,
      400,
      'invalid start: use Unix seconds (1790000000000 looks like milliseconds)',
    ],
    [`/v3/markets/${CANDLE_TOKEN}/candles?direction=after`, 400, 'direction=after needs anchor_ts'],
    [`/v3/markets/${CANDLE_TOKEN}/candles?start=10&end=5`, 400, 'invalid range: start is after end'],
    [`/v3/markets/${CANDLE_TOKEN}/candles?start=0&end=1790000000`, 400, 'invalid range: at most 300 buckets of 1h'],
    ['/v3/markets/4/candles', 404, 'market token not found'],
    ['/v3/markets/slug/none/candles', 404, 'market not found'],
    [`/v3/markets/condition/${hex32(4)}/candles`, 404, 'market not found'],
  ])('%s is %i', async (path, status, error) => {
    expect(await api.get(path, key)).toMatchObject({ status, body: { error } });
  });
});
