import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMemoryLog, createMemoryStore, type MemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { runOrderBook } from '../../ingest/orderbook/run-orderbook.js';
import { type FakeVenue, startFakeVenue } from '../../ingest/orderbook/testing/fake-venue.js';
import { createVenueFeed } from '../../ingest/orderbook/venue-feed.js';
import type { SourceState } from '../../ingest/shared/source-status.js';
import { createCodec } from '../../schemas/codec.js';
import { createOrderBook } from '../../schemas/order-book/book.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { CatalogMarket, OrderBookUpdate } from '../../schemas/types.gen.js';
import { catalogMarket, condition } from '../support/catalog-market.js';
import { eventually } from '../support/product.js';

const codec = createCodec();
let venue: FakeVenue;
let log: MemoryLog;
let stop: AbortController;
let running: Promise<void>;
let status: Partial<SourceState>;
let rejected: string[];
let metrics: ReturnType<typeof createMetrics>;

const announce = (markets: readonly CatalogMarket[]) =>
  log.append(
    topics.catalog.name,
    markets.map((market) => ({
      key: `market:${market.id}`,
      timestampMs: Date.now(),
      value: codec.encode('catalog_market', market),
    })),
  );

beforeEach(async () => {
  venue = await startFakeVenue();
  log = createMemoryLog({ store: createMemoryStore() });
  await log.ensureTopics(allTopics);
  stop = new AbortController();
  status = {};
  rejected = [];
  metrics = createMetrics({ process: 'test', defaults: false });
});
afterEach(async () => {
  stop.abort();
  await running.catch(() => undefined);
  await venue.stop();
});

function start(maxTokens = 100, tokensPerConnection = 2) {
  running = runOrderBook({
    openFeed: (events, signal) =>
      createVenueFeed({
        url: venue.wsUrl,
        restUrl: venue.restUrl,
        events,
        logger: silentLogger(),
        metrics,
        signal,
        tokensPerConnection,
        times: { openMs: 5_000, pingMs: 200, deadMs: 2_000 },
      }),
    log,
    codec,
    status: {
      update: (change) => Object.assign(status, change),
      updateDeferred: (change) => Object.assign(status, change),
    },
    metrics,
    logger: silentLogger(),
    signal: stop.signal,
    maxTokens,
    onRejected: (reason) => rejected.push(reason),
    times: { refreshMs: 100, firstRepairDelayMs: 20 },
  });
  running.catch(() => undefined);
}

async function updates(): Promise<readonly OrderBookUpdate[]> {
  const found: OrderBookUpdate[] = [];
  const topic = topics.orderbookUpdates.name;
  for (let partition = 0; partition < (await log.partitions(topic)); partition++)
    for await (const { records } of log.read({ topic, partition, from: 'earliest', follow: false }))
      for (const { value } of records) {
        const event = value === null ? undefined : codec.decode(value);
        if (event?.kind === 'order_book_update') found.push(event.value);
      }
  return found;
}
/** What a reader of the log that follows the rules of the topic has: the book and whether it is verified. */
async function read(tokenId: string) {
  const own = (await updates()).filter((one) => one.token_id === tokenId).sort((a, b) => a.seq - b.seq);
  expect(own.map(({ seq }) => seq)).toEqual(own.map((_, i) => i + 1));
  const book = createOrderBook();
  for (const one of own) {
    if (one.update_type === 'book') book.replace(one.bids, one.asks);
    if (one.update_type !== 'price_change') continue;
    for (const { price, size } of one.bids) book.set('BUY', price, size);
    for (const { price, size } of one.asks) book.set('SELL', price, size);
  }
  const last = own.at(-1);
  return { bids: book.bids(), asks: book.asks(), verified: last?.verified, reason: last?.reason, own };
}
const untilVerified = (tokenId: string) =>
  eventually(
    `the book of ${tokenId}`,
    async () => {
      const { bids, asks, verified } = await read(tokenId);
      return verified === true && JSON.stringify({ bids, asks }) === JSON.stringify(venue.book(tokenId).bestFirst());
    },
    20_000,
  );

describe('order-book ingest', () => {
  it('writes the books of open markets over several connections, each verified, and follows the catalogue', async () => {
    for (const n of [1, 2, 3]) for (const k of [1, 2]) venue.add(condition(n), `${n}0${k}`);
    venue.order('101', 'BUY', 300, '10');
    await announce([catalogMarket(1), catalogMarket(2), catalogMarket(9, { closed: true })]);
    start();
    for (const token of ['101', '102', '201', '202']) await untilVerified(token);
    expect(venue.clients).toHaveLength(2);
    venue.order('101', 'SELL', 310, '20');
    venue.order('202', 'BUY', 100, '1');
    for (const token of ['101', '202']) await untilVerified(token);
    await announce([catalogMarket(3), catalogMarket(1, { closed: true })]);
    await untilVerified('301');
    await eventually('the end of market 1', async () => !venue.clients.some(({ tokens }) => tokens.has('101')), 10_000);
    for (const token of ['101', '102'])
      expect(await read(token)).toMatchObject({ verified: false, reason: 'not_followed' });
    expect(status).toMatchObject({ connected: true });
    const { own } = await read('202');
    expect(own.every(({ synthetic }) => !synthetic)).toBe(true);
    for (const one of own.filter(({ update_type }) => update_type === 'book')) expect(one.tick_size).toBe('0.001');
  });

  it('waits for the price of a trade that its hash contains, and never calls the book unverified', async () => {
    venue.add(condition(1), '101');
    venue.order('101', 'SELL', 310, '20');
    venue.order('101', 'BUY', 300, '10');
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    start();
    await untilVerified('101');
    venue.match('101', 'BUY', 90);
    await untilVerified('101');
    const { own } = await read('101');
    expect(own.filter(({ verified }) => !verified)).toEqual([]);
    expect(own.map(({ update_type }) => update_type)).toContain('last_trade_price');
  });

  it('takes messages of a match that arrived while the process was busy as one group', async () => {
    venue.add(condition(1), '101');
    for (const ticks of [310, 320]) venue.order('101', 'SELL', ticks, '20');
    venue.order('101', 'BUY', 300, '10');
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    start();
    await untilVerified('101');
    for (let round = 0; round < 5; round++) {
      const timestamp = Date.now() + 10;
      const [first, ...rest] = venue.book('101').match(timestamp, round % 2 === 0 ? 'BUY' : 'SELL')?.messages ?? [];
      const send = (change: typeof first) =>
        venue.raw(
          JSON.stringify({
            event_type: 'price_change',
            market: condition(1),
            timestamp: String(timestamp),
            price_changes: [{ ...change, asset_id: '101', best_bid: change?.bestBid, best_ask: change?.bestAsk }],
          }),
        );
      const price = venue.book('101').lastTradePrice();
      const trade = { event_type: 'last_trade_price', market: condition(1), asset_id: '101', price, size: '7' };
      venue.raw(JSON.stringify({ ...trade, side: 'BUY', timestamp: String(timestamp) }));
      send(first);
      await pause(15);
      for (const change of rest) send(change);
      for (const untilMs = Date.now() + 150; Date.now() < untilMs; );
      await untilVerified('101');
      venue.order('101', 'SELL', 330 + round, '20');
      venue.order('101', 'BUY', 290 - round, '20');
      await untilVerified('101');
    }
    expect((await read('101')).own.filter(({ verified }) => !verified)).toEqual([]);
  });

  it('finds lost messages and false hashes, and repairs the book by a fresh one', async () => {
    venue.add(condition(1), '101');
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    start();
    await untilVerified('101');
    venue.order('101', 'BUY', 300, '10', 'lost');
    venue.order('101', 'BUY', 290, '5');
    await untilVerified('101');
    venue.failRest(500);
    venue.order('101', 'BUY', 280, '5', 'wrongHash');
    await eventually('an unverified book', async () => (await read('101')).verified === false, 10_000);
    expect(await read('101')).toMatchObject({ reason: 'hash_mismatch' });
    venue.failRest(null);
    await untilVerified('101');
    const { own } = await read('101');
    expect(own.filter(({ reason }) => reason === 'hash_mismatch').length).toBeGreaterThanOrEqual(2);
    expect(venue.restRequests.get('101')).toBeGreaterThanOrEqual(2);
  });

  it('declares books unverified when their connection is lost, and fresh ones verified after it is back', async () => {
    venue.add(condition(1), '101');
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    start();
    await untilVerified('101');
    venue.cut();
    venue.order('101', 'BUY', 300, '10');
    await untilVerified('101');
    expect((await read('101')).own.some(({ verified, reason }) => !verified && reason === 'silent')).toBe(true);
  });

  it('names its run in its status before it has any book, and in its records', async () => {
    venue.add(condition(1), '101');
    start();
    expect(status).toMatchObject({ phase: 'live', order_books: { followed: 0, epoch: expect.any(String) } });
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    await untilVerified('101');
    expect(new Set((await updates()).map(({ epoch }) => epoch))).toEqual(new Set([status.order_books?.epoch]));
  });

  it('fetches the book of a token that had none once orders come', async () => {
    venue.add(condition(1), '101', { hasBook: false });
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    start();
    await eventually('the subscription', async () => venue.clients.some(({ tokens }) => tokens.has('101')), 10_000);
    venue.order('101', 'BUY', 300, '10');
    await eventually('the request', async () => venue.restRequests.get('101') === 1, 10_000);
    venue.add(condition(1), '101');
    venue.order('101', 'BUY', 310, '20');
    await untilVerified('101');
  });

  it('does not call a book verified of which it could not read a change, and fetches a fresh one', async () => {
    for (const tokenId of ['101', '102']) venue.add(condition(1), tokenId);
    await announce([catalogMarket(1)]);
    start();
    for (const tokenId of ['101', '102']) await untilVerified(tokenId);
    venue.order('101', 'BUY', 300, '10', 'lost');
    const change = { asset_id: '101', price: '0.3', size: 10, side: 'BUY', hash: 'f'.repeat(40) };
    const message = { event_type: 'price_change', market: condition(1), timestamp: String(Date.now()) };
    venue.raw(JSON.stringify({ ...message, price_changes: [change] }));
    await eventually(
      'a fault',
      async () => (await read('101')).own.some(({ reason }) => reason === 'invalid_level'),
      5_000,
    );
    await untilVerified('101');
    expect((await read('102')).own.every(({ verified }) => verified)).toBe(true);
  });

  it('survives malformed frames and reports each', async () => {
    venue.add(condition(1), '101');
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    start();
    await untilVerified('101');
    const bad = [
      'x',
      '[1]',
      '{"event_type":"book"}',
      `{"event_type":"price_change","market":"${condition(1)}","timestamp":"4102444800000","price_changes":[]}`,
      `{"event_type":"last_trade_price","market":"${condition(1)}","asset_id":"101","timestamp":"${Date.now()}","price":"1e9","size":"1","side":"BUY"}`,
      '['.repeat(100_000),
    ];
    for (const text of bad) venue.raw(text);
    venue.order('101', 'BUY', 300, '10');
    await untilVerified('101');
    expect(rejected).toHaveLength(bad.length);
  });

  it('subscribes a token again whose book changes on chain but not on the channel', async () => {
    venue.add(condition(1), '101', { hasBook: true });
    venue.silence('101');
    await announce([catalogMarket(1, { token_ids: ['101'] })]);
    venue.silence('101', true);
    start();
    // The first book does not come: after 10 s the token is subscribed again and its book fetched.
    await eventually('a fetched book', async () => (venue.restRequests.get('101') ?? 0) > 0, 25_000);
    await eventually('the book', async () => (await read('101')).own.length > 0, 10_000);
  });
});
