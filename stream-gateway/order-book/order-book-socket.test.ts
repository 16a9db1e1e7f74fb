import { afterEach, describe, expect, it } from 'vitest';
import type { Log } from '../../infra/log/port.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createCodec } from '../../schemas/codec.js';
import { plans } from '../../schemas/plans.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { OrderBookUpdate, SourceStatus } from '../../schemas/types.gen.js';
import { createLocalAdmission } from '../admission/local-admission.js';
import { startOrderBookSocket } from './order-book-socket.js';
import { bookRecord, connectBookClient, sourceStatus } from './testing.js';

const TOKEN = '111111111111';
const NOW_MS = 1_790_000_000_000;
const codec = createCodec();
const logger = silentLogger();
const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const counts = { checks: 0, mismatches: 0, repairs: 0, repair_failures: 0, silent_tokens: 0 };
const booksOf = (epoch: string) => ({ synthetic: false, followed: 1, verified: 1, ...counts, epoch });

async function write(log: Log, record: OrderBookUpdate) {
  const value = codec.encode('order_book_update', record);
  await log.append(topics.orderbookUpdates.name, [{ key: TOKEN, value, timestampMs: record.received_ms ?? NOW_MS }]);
}

async function report(log: Log, atMs: number, over: Partial<SourceStatus> = {}) {
  const status = { updated_at_ms: atMs, order_books: booksOf('e1'), ...over };
  const value = codec.encode('source_status', sourceStatus(status));
  await log.append(topics.sources.name, [{ key: 'orderbook', value, timestampMs: atMs }]);
}

/** A log with a verified book of the run e1 and a status of its source that is `ageMs` old. */
async function logWith(ageMs: number, over: Partial<SourceStatus> = {}) {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  await write(log, bookRecord(TOKEN, 1, { bids: [{ price: '0.4', size: '1' }], received_ms: NOW_MS - 60_000 }));
  await report(log, NOW_MS - ageMs, over);
  return log;
}

/** A client of a gateway that has just started, and its first book. */
async function subscribe(log: Log, nowMs = () => NOW_MS) {
  const stop = new AbortController();
  const socket = await startOrderBookSocket({
    log,
    codec,
    signal: stop.signal,
    lookup: { bySlugs: async () => [], byConditions: async () => [] },
    names: { knownTokens: async () => new Set(), read: async () => [] },
    onUnreadable: (_at, reason) => {
      throw new Error(reason);
    },
    logger,
    nowMs,
    metrics: createMetrics({ process: 'test', defaults: false }),
    host: '127.0.0.1',
    port: 0,
    allowedHosts: [],
    verifyKey: (key) => ({ status: 'ok', accountId: key, keyHash: key, terms: plans.enterprise }),
    admission: createLocalAdmission(),
    meter: { add: () => undefined },
  });
  const running = socket.run();
  cleanups.push(async () => {
    stop.abort();
    await running;
    await socket.server.close();
  });
  await expect.poll(socket.ready).toBe(true);
  const client = await connectBookClient(socket.server);
  cleanups.push(async () => client.socket.terminate());
  client.send({ action: 'subscribe', markets: [TOKEN] });
  const { snapshots } = await client.nextOf('snapshot_batch');
  const [book] = snapshots as { verified: boolean; reason?: string }[];
  return { client, first: { verified: book?.verified, reason: book?.reason } };
}
const firstOf = async (log: Log) => (await subscribe(log)).first;

describe('the first books after a start', () => {
  const unreachable = { verified: false, reason: 'source_unreachable' };

  it('are verified while their source is running', async () => {
    expect(await firstOf(await logWith(0))).toEqual({ verified: true, reason: undefined });
  });

  it('are unverified if their source has stopped', async () => {
    const stopped = { phase: 'stopped', connected: false } as const;
    expect(await firstOf(await logWith(0, stopped))).toEqual(unreachable);
  });

  it('are unverified if their source has written no status for eight seconds, until it writes again', async () => {
    expect((await subscribe(await logWith(7_999))).first.verified).toBe(true);
    const log = await logWith(8_000);
    const { client, first } = await subscribe(log);
    expect(first).toEqual(unreachable);
    await write(log, bookRecord(TOKEN, 2, { update_type: 'price_change', received_ms: NOW_MS }));
    expect(await client.nextOf('batch')).toMatchObject({
      updates: [{ type: 'book_status', asset_id: TOKEN, verified: true }],
    });
  });

  it('are unverified if another run of their source has begun', async () => {
    expect(await firstOf(await logWith(0, { order_books: booksOf('e2') }))).toEqual(unreachable);
  });
});

describe('the books of a running source', () => {
  it('are verified again some seconds after the last report of a run that had ended before', async () => {
    let nowMs = NOW_MS;
    const log = await logWith(0);
    const { client } = await subscribe(log, () => nowMs);
    const isVerified = () => client.books.get(TOKEN)?.verified;
    await report(log, nowMs, { order_books: booksOf('e0') });
    await report(log, nowMs, { order_books: booksOf('e0'), phase: 'stopped', connected: false });
    await expect.poll(isVerified).toBe(false);
    const heartbeat = async () => {
      nowMs += 2_000;
      await report(log, nowMs);
      return isVerified();
    };
    await expect.poll(heartbeat, { interval: 100, timeout: 8_000 }).toBe(true);
  });
});
