import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import type { MarketLookup } from '../filters/market-lookup.js';
import { createBookStore } from './book-store.js';
import { createOrderBookMetrics } from './metrics.js';
import { resolveMarkets, type TokenLookup } from './resolve-markets.js';
import { type OrderBookServer, startOrderBookServer } from './server.js';
import { createSourceWatch } from './source-watch.js';
import { tailBooks } from './tail-books.js';
import { createNameCache } from './token-names.js';
import type { TokenNames } from './update-texts.js';

const CHECK_MS = 500;
const NAMES_MS = 1_000;
const EXPIRE_MS = 60_000;

export interface OrderBookSocket {
  readonly server: OrderBookServer;
  /** True once the retained books are read. */
  readonly ready: () => boolean;
  /** Reads the log until the signal; rejects when it cannot be read. */
  run(): Promise<void>;
}

/** The order-book socket on the log: books in memory, their names, and the watch over their source. */
export async function startOrderBookSocket(
  deps: Omit<Parameters<typeof startOrderBookServer>[0], 'store' | 'namesOf' | 'resolve' | 'ready' | 'bookMetrics'> & {
    log: Pick<Log, 'read' | 'bounds' | 'offsetForTimestamp' | 'partitions'>;
    codec: Codec;
    signal: AbortSignal;
    lookup: MarketLookup;
    names: TokenLookup & {
      read(tokenIds: readonly string[]): Promise<readonly (TokenNames & { tokenId: string })[]>;
    };
    onUnreadable: OnUnreadable;
    logger: Logger;
  },
): Promise<OrderBookSocket> {
  const { log, codec, lookup, onUnreadable, logger } = deps;
  const nowMs = deps.nowMs ?? Date.now;
  const store = createBookStore();
  const names = createNameCache({ read: (tokenIds) => deps.names.read(tokenIds) });
  const bookMetrics = createOrderBookMetrics(deps.metrics);
  let caughtUp = false;
  const server = await startOrderBookServer({
    ...deps,
    store,
    namesOf: names.get,
    resolve: (entries) => resolveMarkets(entries, { store, lookup, tokens: deps.names }),
    ready: () => caughtUp,
    bookMetrics,
  });
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  const watch = createSourceWatch({ log, codec, signal, nowMs, onUnreadable });

  let refreshing = false;
  /** Logged once: the tables do not exist until processors have started for the first time. */
  let namesUnavailable = false;
  const refreshNames = async () => {
    if (refreshing) return;
    refreshing = true;
    try {
      await names.refresh(store.tokenIds(), nowMs());
      if (namesUnavailable) logger.info('names of order-book tokens can be read again');
      namesUnavailable = false;
    } catch (error) {
      bookMetrics.lookupFailed();
      if (!namesUnavailable)
        logger.warn({ err: error }, 'cannot read the names of order-book tokens; retrying every second');
      namesUnavailable = true;
    } finally {
      refreshing = false;
    }
  };

  const checkSource = () => {
    const epoch = watch.epoch();
    if (epoch !== null) store.sourceStarted(epoch, nowMs(), watch.isAlone());
    if (watch.isSilent(nowMs())) store.sourceUnreachable(nowMs());
  };
  const readBooks = async () => {
    // The status says whether the run that wrote the stored books is still there.
    await watch.loaded;
    if (signal.aborted) return;
    await tailBooks({
      log,
      codec,
      signal,
      nowMs,
      onUnreadable,
      onUpdates(updates) {
        const atMs = nowMs();
        if (caughtUp && updates.length > 0) watch.recordActivity(atMs);
        for (const update of updates) store.apply(update, atMs);
        bookMetrics.applied(updates.length);
      },
      onCaughtUp() {
        store.markLoaded(nowMs());
        checkSource();
        store.clearDirty();
        caughtUp = true;
        logger.info({ books: store.size }, 'order books are loaded');
      },
    });
  };

  return {
    server,
    ready: () => caughtUp,
    async run() {
      const timers = [
        setInterval(() => void refreshNames(), NAMES_MS),
        setInterval(() => store.expire(nowMs()), EXPIRE_MS),
        setInterval(() => {
          if (caughtUp) checkSource();
        }, CHECK_MS),
      ];
      try {
        await Promise.all([watch.run(), readBooks()]);
      } finally {
        stop.abort();
        for (const timer of timers) clearInterval(timer);
      }
    },
  };
}
