import { type BookLevel, type BookSide, createOrderBook } from '../../schemas/order-book/book.js';
import { canonicalDecimal } from '../../schemas/order-book/decimal.js';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';
import { createLevelChecksum, type LevelChecksum } from './level-checksum.js';

/** Trades of a token that one batch contains at most; of more, the newest. */
const MAX_TRADES_PER_BATCH = 100;

export interface Level extends BookLevel {
  readonly side: BookSide;
}

export interface Trade {
  readonly price: string;
  readonly size: string;
  readonly side: BookSide;
  readonly feeRateBps: string | null;
  readonly timestampMs: number;
}

/** Whether a book is known to be the venue's, since when (Unix ms), and why not. */
export interface BookStatus {
  readonly verified: boolean;
  readonly sinceMs: number;
  readonly reason: string | null;
}

/** What has changed since the last batch. */
export interface Pending {
  /** `snapshot`: the whole book is sent; `update`: levels that differ after a whole book of the venue; `changes`: levels. */
  depth: 'none' | 'changes' | 'update' | 'snapshot';
  /** New size of each changed level, `0` if it was removed. */
  readonly levels: Map<string, Level>;
  trades: Trade[];
  /** Why a verified book is sent again. */
  resentFor: string | null;
  /** `verified` as every receiver has it: that of the last batch. Null once it has changed since, because a snapshot may have been taken in between. */
  wasVerified: boolean | null;
}

/** The book of one token as the records of orderbook.updates describe it. */
export interface TokenBook {
  readonly tokenId: string;
  readonly conditionId: string | null;
  /** False before the first whole book. */
  readonly hasBook: boolean;
  readonly status: BookStatus;
  readonly isEmpty: boolean;
  /** The run of the source that wrote the newest record. */
  readonly epoch: string;
  /** `seq` of the newest record within the run of its source. */
  readonly seq: number;
  readonly hash: string | null;
  /** Unix ms of the venue. */
  readonly timestampMs: number;
  readonly synthetic: boolean;
  /** Increases with every change, so that a receiver knows whether it has seen the newest one. */
  readonly version: number;
  readonly pending: Pending | null;
  /** Applies the next record. Returns false if it has no effect on receivers. */
  apply(record: OrderBookUpdate, nowMs: number): boolean;
  /** The source is unreachable: the book counts as unverified until `sourceReachable`, or until the token's next record. */
  sourceUnreachable(nowMs: number): void;
  /** Ends `sourceUnreachable`. Returns false if nothing changes. */
  sourceReachable(nowMs: number): boolean;
  /** The source no longer follows the token. */
  retire(nowMs: number): void;
  clearPending(): void;
  bids(): readonly BookLevel[];
  asks(): readonly BookLevel[];
  bestBid(): string | null;
  bestAsk(): string | null;
  /** Checksum under the protocol pn1, kept up to date from the first call on until `releaseChecksum`. */
  checksum(): string;
  releaseChecksum(): void;
}

const levelKey = (side: BookSide, price: string): string => `${side} ${canonicalDecimal(price)}`;

export function createTokenBook(tokenId: string): TokenBook {
  const book = createOrderBook();
  let conditionId: string | null = null;
  let epoch = '';
  let seq = 0;
  let hasBook = false;
  let inSequence = false;
  /** `sinceMs` is 0 before the first book. */
  let own: BookStatus = { verified: false, sinceMs: 0, reason: 'no_book' };
  let unreachableSinceMs: number | null = null;
  /** Unix ms since which nothing is missing here of what the source has written. */
  let completeSinceMs = 0;
  let hash: string | null = null;
  let timestampMs = 0;
  let synthetic = false;
  let version = 0;
  let pending: Pending | null = null;
  let checksum: LevelChecksum | null = null;

  const status = (): BookStatus =>
    unreachableSinceMs === null
      ? { ...own, sinceMs: Math.max(own.sinceMs, completeSinceMs) }
      : { verified: false, sinceMs: unreachableSinceMs, reason: 'source_unreachable' };
  /** Call before each change of the book or its status. */
  const change = (): Pending => {
    version++;
    const { verified } = status();
    pending ??= { depth: 'none', levels: new Map(), trades: [], resentFor: null, wasVerified: verified };
    if (pending.wasVerified !== verified) pending.wasVerified = null;
    return pending;
  };
  const setLevel = (into: Pending, level: Level) => {
    into.levels.set(levelKey(level.side, level.price), level);
    checksum?.set(level);
  };

  const markReachable = (nowMs: number) => {
    change();
    unreachableSinceMs = null;
    completeSinceMs = nowMs;
  };

  /** Levels of `next` that differ from the book, and those that it no longer has. */
  const differences = (side: BookSide, next: readonly BookLevel[]): Level[] => {
    const before = new Map(
      (side === 'BUY' ? book.bids() : book.asks()).map((level) => [canonicalDecimal(level.price), level]),
    );
    const found: Level[] = [];
    for (const { price, size } of next) {
      const known = before.get(canonicalDecimal(price));
      before.delete(canonicalDecimal(price));
      if (known === undefined || canonicalDecimal(known.size) !== canonicalDecimal(size))
        found.push({ side, price, size });
    }
    for (const { price } of before.values()) found.push({ side, price, size: '0' });
    return found;
  };

  const gap = (reason: string, nowMs: number) => {
    inSequence = false;
    if (own.verified || own.reason !== reason) {
      change();
      own = { verified: false, sinceMs: own.verified ? nowMs : own.sinceMs, reason };
    }
  };

  const applyBook = (record: OrderBookUpdate, trusted: boolean, was: BookStatus, nowMs: number): void => {
    const changed = [...differences('BUY', record.bids), ...differences('SELL', record.asks)];
    if (!book.replace(record.bids, record.asks)) {
      gap('invalid_level', nowMs);
      return;
    }
    const ordinary = trusted && (record.reason === null || record.reason === 'repeated' || !record.verified);
    if (!ordinary || changed.length > 0) {
      const into = change();
      for (const level of changed) setLevel(into, level);
      if (!ordinary) {
        into.depth = 'snapshot';
        const reason = record.reason === 'repeated' ? null : record.reason;
        into.resentFor = record.verified && hasBook ? (reason ?? was.reason) : null;
      } else if (into.depth !== 'snapshot') into.depth = 'update';
    }
    if (hasBook && !inSequence) completeSinceMs = nowMs;
    hasBook = true;
    inSequence = true;
  };

  const applyChanges = (record: OrderBookUpdate, nowMs: number) => {
    const into = change();
    for (const [side, levels] of [
      ['BUY', record.bids],
      ['SELL', record.asks],
    ] as const)
      for (const { price, size } of levels) {
        const applied = book.set(side, price, size);
        if (applied === 'invalid') gap('invalid_level', nowMs);
        else if (applied !== null) setLevel(into, { side, price, size: applied.size ?? '0' });
      }
    if (into.depth === 'none' && into.levels.size > 0) into.depth = 'changes';
  };

  return {
    tokenId,
    get conditionId() {
      return conditionId;
    },
    get hasBook() {
      return hasBook;
    },
    get status() {
      return status();
    },
    get isEmpty() {
      return book.isEmpty();
    },
    get epoch() {
      return epoch;
    },
    get seq() {
      return seq;
    },
    get hash() {
      return hash;
    },
    get timestampMs() {
      return timestampMs;
    },
    get synthetic() {
      return synthetic;
    },
    get version() {
      return version;
    },
    get pending() {
      return pending;
    },
    apply(record, nowMs) {
      // A record that is read again has no effect.
      if (record.epoch === epoch && record.seq <= seq) return false;
      const before = version;
      const was = status();
      if (unreachableSinceMs !== null) markReachable(nowMs);
      const follows = record.epoch === epoch && record.seq === seq + 1;
      conditionId = record.condition_id ?? conditionId;
      epoch = record.epoch;
      seq = record.seq;
      synthetic = record.synthetic;
      const { update_type: type } = record;
      if (hasBook && !follows && type !== 'book') gap('gap', nowMs);
      if (type === 'last_trade_price') {
        const { price, size, side } = record;
        if (price === null || size === null || side === null) return version !== before;
        const into = change();
        const trade = { price, size, side, feeRateBps: record.fee_rate_bps, timestampMs: record.timestamp_ms };
        into.trades = [...into.trades.slice(1 - MAX_TRADES_PER_BATCH), trade];
        return true;
      }
      if (type === 'tick_size_change') return version !== before;
      if (type !== 'book' && !inSequence) return version !== before;
      // A whole book after a gap, or of another run, is one that receivers cannot derive from what they have.
      const trusted = inSequence && follows && own.verified;
      const reason = record.verified || record.reason === 'repeated' ? null : record.reason;
      if (own.verified !== record.verified || own.reason !== reason || own.sinceMs === 0) {
        change();
        const since = own.verified === record.verified ? own.sinceMs : 0;
        own = {
          verified: record.verified,
          sinceMs: since !== 0 ? since : (record.verified_since_ms ?? nowMs),
          reason,
        };
      }
      timestampMs = record.timestamp_ms;
      hash = record.hash;
      if (type === 'book') applyBook(record, trusted, was, nowMs);
      else if (type === 'price_change') applyChanges(record, nowMs);
      return version !== before;
    },
    sourceUnreachable(nowMs) {
      if (unreachableSinceMs !== null) return;
      change();
      unreachableSinceMs = nowMs;
    },
    sourceReachable(nowMs) {
      if (unreachableSinceMs === null) return false;
      markReachable(nowMs);
      return true;
    },
    retire: (nowMs) => gap('not_followed', nowMs),
    clearPending() {
      pending = null;
    },
    bids: book.bids,
    asks: book.asks,
    bestBid: () => book.bestBid()?.price ?? null,
    bestAsk: () => book.bestAsk()?.price ?? null,
    checksum() {
      checksum ??= createLevelChecksum(book.bids(), book.asks());
      return checksum.digest();
    },
    releaseChecksum() {
      checksum = null;
    },
  };
}
