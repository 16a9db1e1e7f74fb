import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { eventRow, hex32, marketRow, tickRow, tokenRows } from '../support/rows.js';

const MINUTE = 60_000;
/** 2027-05-22T15:40:00Z, a boundary of five minutes. */
const W = Date.UTC(2027, 4, 22, 15, 40);
const S = W / 1000;

let api: ApiHarness;
let key: string;

beforeAll(async () => {
  api = await startApi({ nowMs: W + 66_512 });
  key = await api.key('free');
  const ch = api.clickhouse;
  const up = (slug: string, conditionId: string, first: string, second: string) => ({
    conditionId,
    id: `m-${slug}`,
    slug,
    question: `${slug}?`,
    tokenIds: [first, second] as const,
    outcomes: ['Up', 'Down'] as const,
    prices: ['0.48', '0.52'] as const,
    eventId: `e-${slug}`,
    eventSlug: slug,
    eventTitle: `Title of ${slug}`,
    startMs: W - 86_400_000 + 500,
    endMs: W + 5 * MINUTE,
  });
  const btc = up(`btc-updown-5m-${S}`, hex32(1), '11', '12');
  const sol = up(`sol-updown-5m-${S}`, hex32(2), '21', '22');
  const next = up(`btc-updown-5m-${S + 300}`, hex32(3), '31', '32');
  await ch.insertRows('markets', [btc, sol, next].map(marketRow));
  await ch.insertRows('tokens', [btc, sol, next].flatMap(tokenRows));
  await ch.insertRows('events', [
    eventRow({
      id: 'e-btc',
      slug: btc.slug,
      title: 'Bitcoin Up or Down',
      conditionIds: [hex32(1)],
      startMs: W - 1,
      endMs: W + 300_000,
    }),
    eventRow({
      id: '9',
      slug: 'bitcoin-weekly',
      title: 'BTC week',
      conditionIds: [hex32(12), hex32(11)],
      seriesSlug: 'btc-multi-strikes-weekly',
      volume24h: 5,
      startMs: W,
      endMs: W + 1,
    }),
    eventRow({
      id: '8',
      slug: 'eth-may',
      title: 'ETH May',
      conditionIds: [],
      seriesSlug: 'ethereum-hit-price-monthly',
      volume24h: 90,
    }),
    eventRow({ id: '7', slug: 'nba', title: 'NBA', conditionIds: [], seriesSlug: 'nba-weekly' }),
    eventRow({ id: '6', slug: 'btc-old', title: 'closed', conditionIds: [], seriesSlug: 'btc-weekly', closed: true }),
    eventRow({ id: '5', slug: 'btc-5m-x', title: 'five', conditionIds: [], seriesSlug: 'btc-up-or-down-5m' }),
    eventRow({ id: '4', slug: 'xrp-d', title: 'XRP day', conditionIds: [], seriesSlug: 'xrp-price', volume24h: 5 }),
    eventRow({ id: '2', slug: 'bitcoin-above-on-april-5', title: 'no series', conditionIds: [], volume24h: 1 }),
    eventRow({ id: '1', slug: 'bitcoin-up-or-down-april-5-2026-11am-et', title: 'hour', conditionIds: [] }),
    eventRow({ id: '0', slug: 'rain-on-april-5', title: 'no coin, no series', conditionIds: [] }),
    eventRow({ id: '3', slug: 'methane', title: 'no coin', conditionIds: [], seriesSlug: 'methane-weekly' }),
  ]);
  const strike = (n: number, title: string) => ({
    conditionId: hex32(n),
    id: String(n),
    slug: `strike-${n}`,
    question: title,
    tokenIds: [`${n}01`, `${n}02`] as const,
    eventId: '9',
    eventSlug: 'bitcoin-weekly',
    groupItemTitle: title,
  });
  await ch.insertRows('markets', [strike(11, 'low'), strike(12, 'high')].map(marketRow));
  // A newer version of a row replaces the older one.
  await ch.insertRows('markets', [marketRow({ ...strike(11, 'low'), prices: ['0.12', '0.88'], offset: 2 })]);
  await ch.insertRows('series', [
    {
      id: '20501',
      slug: 'sol-up-or-down-5m',
      title: 'SOL Up or Down 5m',
      recurrence: '5m',
      active: true,
      closed: false,
      event_count: null,
      _offset: 1,
    },
    {
      id: '20502',
      slug: 'bitcoin-hourly',
      title: 'BTC hourly',
      recurrence: 'hourly',
      active: false,
      closed: false,
      event_count: 7,
      _offset: 1,
    },
    {
      id: '20503',
      slug: 'xrp-price',
      title: 'XRP',
      recurrence: 'daily',
      active: true,
      closed: false,
      event_count: null,
      _offset: 1,
    },
    {
      id: '20504',
      slug: 'nba',
      title: 'NBA',
      recurrence: 'weekly',
      active: true,
      closed: false,
      event_count: null,
      _offset: 1,
    },
    {
      id: '20505',
      slug: 'eth-gone',
      title: 'gone',
      recurrence: 'daily',
      active: false,
      closed: true,
      event_count: null,
      _offset: 1,
    },
  ]);
});
afterAll(() => api.stop());

/** Fields of prices that only the catalogue states. */
const asStated = { priceSources: [null, null], pricesUpdatedAt: [null, null] };

describe('/v1/crypto/active', () => {
  it('lists the coins of the current window in coin order, with outcomes as JSON text', async () => {
    api.clock.nowMs = W + 66_512;
    const { status, body, headers } = await api.get('/v1/crypto/active', key);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, max-age=30');
    expect(body).toEqual({
      markets: [
        {
          // 10^15 and the first 12 hex digits of sha256('e-btc'): the recorded id is not numeric.
          id: '1271369384920486',
          slug: `btc-updown-5m-${S}`,
          title: 'Bitcoin Up or Down',
          active: true,
          closed: false,
          startDate: '2027-05-22T15:39:59.999Z',
          endDate: '2027-05-22T15:45:00Z',
          markets: [
            {
              question: `btc-updown-5m-${S}?`,
              conditionId: hex32(1),
              outcomes: '["Up", "Down"]',
              outcomePrices: [0.48, 0.52],
              ...asStated,
              tokenId: '11',
              active: true,
              closed: false,
            },
          ],
        },
        {
          id: '1195885528077679',
          slug: `sol-updown-5m-${S}`,
          title: `Title of sol-updown-5m-${S}`,
          active: true,
          closed: false,
          startDate: '2027-05-21T15:40:00.500Z',
          endDate: '2027-05-22T15:45:00Z',
          markets: [
            {
              question: `sol-updown-5m-${S}?`,
              conditionId: hex32(2),
              outcomes: '["Up", "Down"]',
              outcomePrices: [0.48, 0.52],
              ...asStated,
              tokenId: '21',
              active: true,
              closed: false,
            },
          ],
        },
      ],
      count: 2,
      windowStart: S,
    });
  });

  it('never returns a finished window from the cache', async () => {
    api.clock.nowMs = W + 299_999;
    const last = await api.get('/v1/crypto/active', key);
    expect(last.body).toMatchObject({ windowStart: S, count: 2 });
    // An HTTP cache must not return it afterwards either.
    expect(last.headers.get('cache-control')).toBe('private, max-age=0');
    api.clock.nowMs = W + 300_000;
    const { body } = await api.get('/v1/crypto/active', key);
    expect(body).toMatchObject({ windowStart: S + 300, count: 1 });
  });
});

describe('/v1/crypto/markets and /series', () => {
  it('lists open daily, weekly and monthly events of the coins, busiest first, newest version of each row', async () => {
    const { body } = (await api.get('/v1/crypto/markets', key)) as {
      body: { events: { slug: string; markets: unknown[] }[] };
    };
    expect(body.events.map((event) => event.slug)).toEqual([
      'eth-may',
      'xrp-d',
      'bitcoin-weekly',
      'bitcoin-above-on-april-5',
    ]);
    expect(body.events[2]).toEqual({
      id: '9',
      slug: 'bitcoin-weekly',
      title: 'BTC week',
      startDate: '2027-05-22T15:40:00Z',
      endDate: '2027-05-22T15:40:00.001Z',
      active: true,
      volume: 40211.4,
      volume24hr: 5,
      liquidity: 9120.2,
      openInterest: 3001,
      seriesSlug: 'btc-multi-strikes-weekly',
      markets: [
        {
          id: '12',
          question: 'high',
          conditionId: hex32(12),
          outcomes: ['Yes', 'No'],
          outcomePrices: [0.5, 0.5],
          ...asStated,
          volume: 1200.5,
          liquidity: 300.1,
          active: true,
          closed: false,
          groupItemTitle: 'high',
        },
        {
          id: '11',
          question: 'low',
          conditionId: hex32(11),
          outcomes: ['Yes', 'No'],
          outcomePrices: [0.12, 0.88],
          ...asStated,
          volume: 1200.5,
          liquidity: 300.1,
          active: true,
          closed: false,
          groupItemTitle: 'low',
        },
      ],
    });
  });

  it('returns the age of a cached response', async () => {
    await api.get('/v1/crypto/series', key);
    api.clock.nowMs += 42_000;
    const { headers } = await api.get('/v1/crypto/series', key);
    expect(headers.get('age')).toBe('42');
    expect(headers.get('cache-control')).toBe('private, max-age=300');
  });

  it('lists the coins’ series by slug, hourly as 1h', async () => {
    const { body } = await api.get('/v1/crypto/series', key);
    expect(body).toEqual({
      series: [
        { id: '20502', slug: 'bitcoin-hourly', title: 'BTC hourly', recurrence: '1h', active: false, eventCount: 7 },
        {
          id: '20501',
          slug: 'sol-up-or-down-5m',
          title: 'SOL Up or Down 5m',
          recurrence: '5m',
          active: true,
          eventCount: null,
        },
        { id: '20503', slug: 'xrp-price', title: 'XRP', recurrence: 'daily', active: true, eventCount: null },
      ],
      count: 3,
    });
  });
});

describe('/v1/crypto/candles', () => {
  it('returns the newest 30 buckets, oldest first, including the open one, without gaps filled', async () => {
    const feed = 'ETH/USD';
    const ticks = [];
    for (let bucket = 0; bucket < 33; bucket += 1) {
      if (bucket === 31) continue;
      const at = W + bucket * 300_000;
      ticks.push(tickRow({ feed, ms: at + 1000, price: `${100 + bucket}.5` }));
      ticks.push(tickRow({ feed, ms: at + 2000, price: `${90 + bucket}` }));
      ticks.push(tickRow({ feed, ms: at + 3000, price: `${110 + bucket}.000000000000000001` }));
      ticks.push(tickRow({ feed, ms: at + 4000, price: `${101 + bucket}` }));
      ticks.push(tickRow({ feed, ms: at + 4000, price: '1', twapWindowS: 60 }));
    }
    await api.clickhouse.insertRows('ticks', ticks);
    const { body, headers } = (await api.get('/v1/crypto/candles?symbol=eth', key)) as unknown as {
      body: { candles: { time: number }[] };
      headers: Headers;
    };
    expect(headers.get('cache-control')).toBe('private, max-age=5');
    expect(body.candles).toHaveLength(30);
    expect(body.candles.map((candle) => candle.time)).toEqual(
      Array.from({ length: 33 }, (_, bucket) => bucket)
        .filter((bucket) => bucket !== 31)
        .slice(-30)
        .map((bucket) => S + bucket * 300),
    );
    expect(body.candles.at(-1)).toEqual({ time: S + 32 * 300, open: 132.5, high: 142, low: 122, close: 133 });
  });

  it('opens a candle at the previous close when a tick is on the boundary', async () => {
    const feed = 'SOL/USD';
    await api.clickhouse.insertRows('ticks', [
      tickRow({ feed, ms: W - 1000, price: '9' }),
      tickRow({ feed, ms: W, price: '10' }),
      tickRow({ feed, ms: W + 1000, price: '11' }),
    ]);
    expect((await api.get('/v1/crypto/candles?symbol=SOL%2FUSD', key)).body).toEqual({
      candles: [
        { time: S - 300, open: 9, high: 10, low: 9, close: 10 },
        { time: S, open: 10, high: 11, low: 10, close: 11 },
      ],
    });
  });

  it('is empty for a feed without ticks', async () => {
    expect((await api.get('/v1/crypto/candles?symbol=hype', key)).body).toEqual({ candles: [] });
  });
});

describe('/v1/crypto/ticks', () => {
  const feed = 'DOGE/USD';
  const spot = { is_twap: false, twap_window_seconds: null };
  beforeAll(async () => {
    await api.clickhouse.insertRows('ticks', [
      tickRow({ feed, ms: W, price: '0.123456789012345678', bid: '0.12', ask: '0.13' }),
      tickRow({ feed, ms: W + 1000, price: '0.2' }),
      tickRow({ feed, ms: W + 1000, price: '0.9', twapWindowS: 30 }),
      tickRow({ feed, ms: W + 2000, price: '0.3' }),
      tickRow({ feed, ms: W + 3000, price: '0.4' }),
    ]);
  });
  const range = (from: number, to: number, rest = '') => `/v1/crypto/ticks?symbol=doge&from=${from}&to=${to}${rest}`;

  it('includes both ends, spot ticks only, and unrounded doubles', async () => {
    api.clock.nowMs = W + 10 * MINUTE;
    const { body, headers } = await api.get(range(W, W + 2000), key);
    expect(body).toEqual({
      symbol: 'DOGE',
      feed,
      from: W,
      to: W + 2000,
      limit: 10_000,
      count: 3,
      truncated: false,
      ticks: [
        {
          id: `DOGE/USD-${W}-0`,
          type: 'price_feed',
          feed,
          timestamp: S,
          timestamp_ms: W,
          ...spot,
          data: { feed, price: 0.12345678901234568, bid: 0.12, ask: 0.13, timestamp: S, ...spot },
        },
        {
          id: `DOGE/USD-${W + 1000}-0`,
          type: 'price_feed',
          feed,
          timestamp: S + 1,
          timestamp_ms: W + 1000,
          ...spot,
          data: { feed, price: 0.2, bid: 0.2, ask: 0.2, timestamp: S + 1, ...spot },
        },
        {
          id: `DOGE/USD-${W + 2000}-0`,
          type: 'price_feed',
          feed,
          timestamp: S + 2,
          timestamp_ms: W + 2000,
          ...spot,
          data: { feed, price: 0.3, bid: 0.3, ask: 0.3, timestamp: S + 2, ...spot },
        },
      ],
    });
    expect(headers.get('cache-control')).toBe('private, max-age=60');
  });

  it('sets truncated exactly if more ticks exist', async () => {
    expect((await api.get(range(W, W + 2000, '&limit=2'), key)).body).toMatchObject({
      count: 2,
      truncated: true,
      limit: 2,
    });
    expect((await api.get(range(W, W + 2000, '&limit=3'), key)).body).toMatchObject({ count: 3, truncated: false });
    expect((await api.get(range(1000, 2000), key)).body).toMatchObject({ count: 0, truncated: false, ticks: [] });
  });

  it('caches a range only once the table has a later spot tick of the feed, however late it arrives', async () => {
    api.clock.nowMs = W + 10 * MINUTE;
    const read = async () => {
      const { body, headers } = await api.get(range(W + 2000, W + 5000), key);
      return [(body as { count: number }).count, headers.get('cache-control')];
    };
    // A tick of the time at which the range ends may be followed by others of that time.
    await api.clickhouse.insertRows('ticks', [
      tickRow({ feed, ms: W + 5000, price: '0.5' }),
      tickRow({ feed, ms: W + 6000, price: '0.5', twapWindowS: 30 }),
      tickRow({ feed: 'BTC/USD', ms: W + 20 * MINUTE, price: '1' }),
    ]);
    expect(await read()).toEqual([3, 'no-store']);
    await api.clickhouse.insertRows('ticks', [tickRow({ feed, ms: W + 4000, price: '0.6' })]);
    expect(await read()).toEqual([4, 'no-store']);
    await api.clickhouse.insertRows('ticks', [tickRow({ feed, ms: W + 6000, price: '0.7' })]);
    expect(await read()).toEqual([4, 'private, max-age=60']);
  });

  it.each([
    ['', "Missing required query parameter 'symbol'"],
    ['symbol=', "Missing required query parameter 'symbol'"],
    ['symbol=DOT&from=1&to=2', 'Invalid symbol. Use: BTC, ETH, SOL, BNB, XRP, DOGE, HYPE'],
    ['symbol=BTC&to=2', "Missing required query parameter 'from'"],
    ['symbol=BTC&from=1', "Missing required query parameter 'to'"],
    ['symbol=BTC&from=x&to=2', 'Invalid time range'],
    ['symbol=BTC&from=-1&to=2', 'Invalid time range'],
    ['symbol=BTC&from=3&to=2', 'Invalid time range'],
    ['symbol=BTC&from=1&to=1811000400000000', 'Invalid time range (1811000400000000 looks like microseconds)'],
    ['symbol=BTC&from=1811000400&to=1811000460', 'Invalid time range (1811000400 looks like seconds)'],
    ['symbol=BTC&from=0&to=86400001', 'Range exceeds 24 hours'],
    ['symbol=BTC&from=0&to=1&limit=0', 'Invalid limit. Max 100000'],
    ['symbol=BTC&from=0&to=1&limit=100001', 'Invalid limit. Max 100000'],
    ['symbol=BTC&from=0&to=1&limit=1.5', 'Invalid limit. Max 100000'],
    ['symbol=BTC&symbol=ETH&from=0&to=1', "Query parameter 'symbol' must be given once"],
    ["symbol=BTC'; DROP TABLE ticks --&from=0&to=1", 'Invalid symbol. Use: BTC, ETH, SOL, BNB, XRP, DOGE, HYPE'],
  ])('rejects ?%s', async (query, error) => {
    const reply = await api.get(`/v1/crypto/ticks?${encodeURI(query)}`, key);
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 400, body: { error } });
  });

  it('accepts a range of 24 hours and not more', async () => {
    expect((await api.get('/v1/crypto/ticks?symbol=BTC&from=0&to=86400000', key)).status).toBe(200);
  });
});

describe('/v1/crypto/price', () => {
  const feed = 'XRP/USD';
  const price = (rest = '') => api.get(`/v1/crypto/price?symbol=XRP&window=${S}${rest}`, key);

  it('returns a window from before its start to its final close', async () => {
    api.clock.nowMs = W - 1000;
    expect((await price()).body).toEqual({
      openPrice: null,
      closePrice: null,
      timestamp: W - 1000,
      completed: false,
      incomplete: true,
      cached: false,
    });

    await api.clickhouse.insertRows('ticks', [
      tickRow({ feed, ms: W - 1000, price: '1' }),
      tickRow({ feed, ms: W + 1000, price: '2.123456789012345678' }),
      tickRow({ feed, ms: W + 100_000, price: '3' }),
      tickRow({ feed, ms: W + 100_000, price: '77', twapWindowS: 30 }),
    ]);
    api.clock.nowMs = W + 120_000;
    expect((await price()).body).toEqual({
      openPrice: 2.1234567890123457,
      closePrice: 3,
      timestamp: W + 120_000,
      completed: false,
      incomplete: true,
      cached: false,
    });
    expect((await price()).body).toMatchObject({ cached: true, closePrice: 3 });

    await api.clickhouse.insertRows('ticks', [tickRow({ feed, ms: W + 299_000, price: '4' })]);
    api.clock.nowMs = W + 299_500;
    expect((await price()).body).toMatchObject({ closePrice: 4, completed: false, incomplete: true });

    // The window has ended but its last tick may still arrive: no close yet.
    api.clock.nowMs = W + 300_200;
    expect((await price()).body).toMatchObject({
      openPrice: 2.1234567890123457,
      closePrice: null,
      completed: false,
      incomplete: true,
      cached: false,
    });

    await api.clickhouse.insertRows('ticks', [tickRow({ feed, ms: W + 300_000, price: '5' })]);
    api.clock.nowMs = W + 300_300;
    const final = await price();
    expect(final.body).toEqual({
      openPrice: 2.1234567890123457,
      closePrice: 5,
      timestamp: W + 300_300,
      completed: true,
      incomplete: false,
      cached: false,
    });
    expect(final.headers.get('cache-control')).toBe('private, max-age=10');
    api.clock.nowMs = W + 303_300;
    const again = await price();
    expect(again.body).toMatchObject({ closePrice: 5, completed: true, cached: true });
    expect(again.headers.get('age')).toBe('3');
  });

  it('opens the next window at the boundary tick, and supports longer intervals', async () => {
    api.clock.nowMs = W + 301_000;
    expect((await api.get(`/v1/crypto/price?symbol=xrp/usd&window=${S + 300}`, key)).body).toMatchObject({
      openPrice: 5,
      closePrice: 5,
      completed: false,
    });
    expect((await price('&interval=15M')).body).toMatchObject({
      openPrice: 2.1234567890123457,
      closePrice: 5,
      completed: false,
    });
  });

  it('completes a window with a gap at its end by the first later tick, and reports a missing open as incomplete', async () => {
    const bnb = 'BNB/USD';
    await api.clickhouse.insertRows('ticks', [
      tickRow({ feed: bnb, ms: W + 200_000, price: '6' }),
      tickRow({ feed: bnb, ms: W + 420_000, price: '7' }),
    ]);
    api.clock.nowMs = W + 1_000_000;
    const of = async (window: number) => (await api.get(`/v1/crypto/price?symbol=BNB&window=${window}`, key)).body;
    expect(await of(S)).toMatchObject({ openPrice: 6, closePrice: 6, completed: true, incomplete: false });
    const unknown = { openPrice: null, closePrice: null, completed: false, incomplete: true };
    expect(await of(S - 300)).toMatchObject(unknown);
    expect(await of(300)).toMatchObject(unknown);
    expect(await of(S + 1_000_000)).toMatchObject(unknown);
  });

  it.each([
    ['window=1', "Missing required query parameter 'symbol'"],
    ['symbol=BTC', "Missing required query parameter 'window'"],
    ['symbol=BTC&window=abc', 'Invalid window'],
    ['symbol=BTC&window=1811000400000', 'Invalid window (1811000400000 looks like milliseconds)'],
    ['symbol=BTC&window=1811000400&interval=2m', 'Invalid interval. Use: 5m, 15m, 1h, 4h'],
  ])('rejects ?%s', async (query, error) => {
    const reply = await api.get(`/v1/crypto/price?${query}`, key);
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 400, body: { error } });
  });
});

describe('/v1/event/{slug}', () => {
  it('returns the event with its markets in event order, prices as text, series as object', async () => {
    await api.clickhouse.insertRows('series', [
      {
        id: '777',
        slug: 'btc-multi-strikes-weekly',
        title: 'BTC strikes',
        recurrence: 'weekly',
        active: true,
        closed: false,
        event_count: 3,
        _offset: 1,
      },
    ]);
    const { status, body, headers } = await api.get('/v1/event/bitcoin-weekly', key);
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('private, max-age=60');
    const market = (title: string, n: number, prices: string[]) => ({
      question: title,
      conditionId: hex32(n),
      outcomes: ['Yes', 'No'],
      outcomePrices: prices,
      ...asStated,
      volume: 1200.5,
      liquidity: 300.1,
      active: true,
      closed: false,
      groupItemTitle: title,
      tokenId: `${n}01`,
    });
    expect(body).toEqual({
      id: '9',
      slug: 'bitcoin-weekly',
      title: 'BTC week',
      description: 'About BTC week',
      image: 'https://img.example/x.jpg',
      icon: null,
      active: true,
      closed: false,
      volume: 40211.4,
      volume24hr: 5,
      liquidity: 9120.2,
      openInterest: 3001,
      startDate: '2027-05-22T15:40:00Z',
      endDate: '2027-05-22T15:40:00.001Z',
      markets: [market('high', 12, ['0.5', '0.5']), market('low', 11, ['0.12', '0.88'])],
      series: { id: '777', slug: 'btc-multi-strikes-weekly', title: 'BTC strikes', recurrence: 'weekly' },
      similarMarkets: 0,
      annotations: 0,
    });
  });

  it.each([
    ['nope', 404, 'Event nope not found'],
    ["x' OR 1=1 --", 404, "Event x' OR 1=1 -- not found"],
    ['Ünïcode-日本', 404, 'Event Ünïcode-日本 not found'],
    ['a\u0000b', 400, 'Invalid event slug'],
    ['a'.repeat(301), 400, 'Invalid event slug'],
  ])('returns for slug %j status %i', async (slug, status, error) => {
    const reply = await api.get(`/v1/event/${encodeURIComponent(slug)}`, key);
    expect({ status: reply.status, body: reply.body }).toEqual({ status, body: { error } });
  });
});
