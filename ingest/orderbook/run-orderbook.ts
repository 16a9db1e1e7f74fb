import { randomUUID } from 'node:crypto';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { createAppender } from '../shared/appender.js';
import type { SourceLog } from '../shared/owned-log.js';
import type { SourceStatusWriter } from '../shared/source-status.js';
import { createBookRecords } from './book-records.js';
import { chainTrades } from './chain-trades.js';
import type { BookFeed, FeedEvents } from './feed.js';
import { createFollowedTokens } from './followed-tokens.js';
import { createOrderBooks, type OrderBooks } from './order-books.js';
import { createRepairs, type Repairs } from './repairs.js';
import { createSilenceDetector } from './silence.js';

const TICK_MS = 20;
const CHECK_MS = 1_000;
const REFRESH_MS = 5_000;
/** A fill is on chain a few seconds after its match changed the book. */
const MAX_TRADE_AGE_MS = 15_000;

export interface OrderBookTimes {
  readonly refreshMs: number;
  readonly firstRepairDelayMs?: number;
}

/**
 * Order-book ingest: reads the books of the tokens of open markets, verifies each against the venue's hash, repairs those that differ by a fresh book,
 * finds silent feeds, and writes every change to orderbook.updates. Resolves after the signal once pending records are durable; rejects with the first failure.
 */
export async function runOrderBook(deps: {
  openFeed: (events: FeedEvents, signal: AbortSignal) => BookFeed;
  log: SourceLog;
  codec: Codec;
  status: Pick<SourceStatusWriter, 'update' | 'updateDeferred'>;
  metrics: Metrics;
  logger: Logger;
  signal: AbortSignal;
  maxTokens: number;
  onRejected: (reason: string, payload: string) => void;
  times?: OrderBookTimes;
}): Promise<void> {
  const { log, codec, status, metrics } = deps;
  const logger = deps.logger.child({ source: 'orderbook' });
  const { refreshMs, firstRepairDelayMs } = deps.times ?? { refreshMs: REFRESH_MS };
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const appender = createAppender({ log, topic: topics.orderbookUpdates.name });
  const verifiedGauge = metrics.gauge('order_books', 'Followed order books', ['state']);
  const repaired = metrics.counter('order_book_repairs_total', 'Fresh books requested', ['reason']);
  const failedRepairs = metrics.counter('order_book_repair_failures_total', 'Fresh books that could not be fetched');
  const silentTokens = metrics.counter('order_book_silent_total', 'Tokens found silent', ['why']);
  /** Since the start of this run, for the status of the source. */
  const totals = { checks: 0, mismatches: 0, repairs: 0, repair_failures: 0, silent_tokens: 0 };
  const epoch = randomUUID();
  let newestMs = 0;
  let failure: unknown = null;

  /** An error of a callback ends the run. */
  const guarded = <Args extends readonly unknown[]>(work: (...args: Args) => void) => {
    return (...args: Args): void => {
      try {
        work(...args);
      } catch (error) {
        failure ??= error;
        stop.abort();
      }
    };
  };

  const onMessages: FeedEvents['onMessages'] = guarded((messages) => {
    const nowMs = Date.now();
    for (const message of messages) books.receive(message, nowMs);
    newestMs = nowMs;
  });
  const feed: BookFeed = deps.openFeed(
    {
      onMessages,
      onRejected: deps.onRejected,
      // Without another message no hash would tell that a change is missing.
      onMissed: guarded((tokenIds) => {
        for (const tokenId of tokenIds) books.distrust(tokenId, 'invalid_level', Date.now());
      }),
      onChange: (detail) => {
        const { open, all } = feed.counts();
        status.update({ connected: open > 0, detail: `${feed.description}: ${open} of ${all} connections; ${detail}` });
      },
      onSubscribed: (tokenIds) => silence.subscribed(tokenIds, Date.now()),
      // What was missed is unknown until the book that follows a new subscription.
      onLost: guarded((tokenIds) => {
        for (const tokenId of tokenIds) books.distrust(tokenId, 'silent', Date.now());
      }),
    },
    signal,
  );
  const repairs: Repairs = createRepairs({
    fetch: (tokenId, reason, own) => feed.fetchBook(tokenId, reason, own),
    isNeeded: (tokenId) => books.needsBook(tokenId),
    onBook: (book) => onMessages([book]),
    onMissing: (tokenId) => books.markMissing(tokenId),
    onFailed: (tokenId, error) => {
      failedRepairs.inc();
      totals.repair_failures++;
      logger.warn({ tokenId, err: error }, 'order book cannot be repaired now');
    },
    signal,
    nowMs: Date.now,
    ...(firstRepairDelayMs === undefined ? {} : { firstDelayMs: firstRepairDelayMs }),
  });
  const books: OrderBooks = createOrderBooks({
    records: createBookRecords({ codec, epoch, synthetic: feed.synthetic }),
    appender,
    metrics,
    nowMs: Date.now,
    onWriteFailed(error) {
      failure ??= error;
      stop.abort();
    },
    onVerification(result) {
      totals.checks++;
      if (result !== 'verified') totals.mismatches++;
    },
    requestBook(tokenId, reason) {
      repaired.inc({ reason });
      totals.repairs++;
      repairs.request(tokenId, reason);
    },
  });
  const silence = createSilenceDetector({
    receivedMs: (tokenId) => books.receivedMs(tokenId),
    needsFirstBook: (tokenId) => books.has(tokenId) && repairs.mayHaveBook(tokenId),
  });
  const followed = createFollowedTokens({
    log,
    codec,
    maxTokens: deps.maxTokens,
    onUnreadable: (reason) => logger.warn({ reason }, 'unreadable catalog record skipped'),
  });

  let current = new Set<string>();
  const refresh = () => {
    const tokens = followed.current(Date.now());
    const next = new Set(tokens.map(({ tokenId }) => tokenId));
    const leaving = [...current].filter((tokenId) => !next.has(tokenId));
    books.drop(leaving);
    silence.forget(leaving);
    repairs.forget(leaving);
    books.follow(tokens);
    feed.follow(tokens);
    current = next;
  };
  const reportBooks = () => {
    const { books: all, verified } = books.counts();
    const state = { synthetic: feed.synthetic, followed: all, verified, ...totals, epoch };
    status.updateDeferred({ order_books: state });
    return state;
  };
  const check = () => {
    for (const { tokenId, why, reconnect } of silence.check(Date.now())) {
      silentTokens.inc({ why });
      totals.silent_tokens++;
      logger.warn({ tokenId, why, reconnect }, 'order book feed of a token is silent');
      books.distrust(tokenId, 'silent', Date.now());
      if (reconnect) feed.reconnect(tokenId, 'several tokens are silent');
      else {
        feed.resubscribe(tokenId);
        silence.subscribed([tokenId], Date.now());
      }
    }
    const { followed: all, verified } = reportBooks();
    verifiedGauge.set({ state: 'verified' }, verified);
    verifiedGauge.set({ state: 'unverified' }, all - verified);
    if (newestMs > 0) status.update({ last_event_ms: newestMs });
  };
  /** Trades of the chain, as proof that a book must have changed. */
  const readTrades = async () => {
    // Trades that ingest reads late, after a gap, say nothing about the feed now.
    for await (const { token_id: tokenId, timestamp_ms: timestampMs } of chainTrades(log, codec, signal))
      if (books.has(tokenId) && Date.now() - timestampMs < MAX_TRADE_AGE_MS) silence.traded(tokenId, Date.now());
  };

  // Readers trust no book of an earlier run, also while the venue sends nothing.
  reportBooks();
  status.update({ detail: feed.description, phase: 'live', progress: 1 });
  const timers = [
    // After the messages that arrived while the process was busy: it was not the venue that was silent.
    setInterval(() => setImmediate(guarded(() => books.tick(Date.now()))), TICK_MS),
    setInterval(guarded(check), CHECK_MS),
  ];
  try {
    const running = [followed.run(signal), readTrades()];
    const refreshing = followed.ready().then(() => {
      if (signal.aborted) return;
      guarded(refresh)();
      timers.push(setInterval(guarded(refresh), refreshMs));
    });
    const stopped = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await Promise.race([Promise.all([...running, refreshing, stopped]), stopped]);
    if (failure !== null) throw failure;
    if (!deps.signal.aborted) throw new RetryableError('The order book source ended unexpectedly');
  } finally {
    stop.abort();
    for (const timer of timers) clearInterval(timer);
    await Promise.allSettled([feed.closed(), repairs.idle()]);
    await appender.drained().catch(() => undefined);
  }
}
