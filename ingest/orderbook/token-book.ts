import { type BookLevel, type BookSide, createOrderBook, type LevelChange } from '../../schemas/order-book/book.js';
import { canonicalDecimal } from '../../schemas/order-book/decimal.js';
import { verifyVenueHash } from '../../schemas/order-book/venue-hash.js';
import { type MarketFacts, possibleFacts } from './market-facts.js';

/** Silence after which a group of changes with the same timestamp is complete. */
const GROUP_SILENCE_MS = 50;
/** Time to wait for the trade whose price the hash of a group contains; 88 ms were seen. */
const TRADE_WAIT_MS = 250;
/** Messages of a token that may wait for that trade, or for a fetched book. */
const MAX_QUEUED = 10_000;

/** A whole book. */
export interface BookMessage {
  readonly type: 'book';
  /** Unix milliseconds as text. */
  readonly timestamp: string;
  readonly hash: string | null;
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
  /** Why it was fetched; null for a book that came on the token's subscription. */
  readonly reason: string | null;
}

/** The new size of one level. */
export interface ChangeMessage {
  readonly type: 'change';
  readonly timestamp: string;
  readonly side: BookSide;
  readonly price: string;
  readonly size: string;
  readonly hash: string | null;
  readonly bestBid: string | null;
  readonly bestAsk: string | null;
}

export type TokenMessage = BookMessage | ChangeMessage;

/** Why a book is not known to be the venue's. */
export type UnverifiedReason =
  | 'no_book'
  | 'no_hash'
  | 'hash_mismatch'
  | 'best_price_mismatch'
  | 'invalid_level'
  | 'silent';

/** A change of a book that subscribers see. */
export type BookOutput = {
  readonly timestampMs: number;
  readonly hash: string | null;
  readonly verified: boolean;
  /** Why the book is not verified; of a book, why it was sent again. */
  readonly reason: string | null;
} & (
  | { readonly type: 'book'; readonly bids: readonly BookLevel[]; readonly asks: readonly BookLevel[] }
  | {
      readonly type: 'change';
      readonly changes: readonly LevelChange[];
      readonly bestBid: string | null;
      readonly bestAsk: string | null;
    }
  | { readonly type: 'status' }
);

export interface TokenBook {
  receive(message: TokenMessage, nowMs: number): void;
  /** The last trade price of the market has changed: a group that waits for it is verified again. */
  tradePriceChanged(nowMs: number): void;
  /** Closes groups that are complete. Call at least every 50 ms while `hasOpenGroup`. */
  tick(nowMs: number): void;
  hasOpenGroup(): boolean;
  /**
   * Declares the book unverified. After `silent` it stays so until the subscription delivers again: a fetched book is right when it is fetched, but
   * nothing reports what changes after it.
   */
  distrust(reason: UnverifiedReason, nowMs: number): void;
  /** The venue answered the request: it has no book of the token. The next change requests one again. */
  markMissing(): void;
  /** A fresh book was requested and has not come yet. */
  needsBook(): boolean;
  verified(): boolean;
  bids(): readonly BookLevel[];
  asks(): readonly BookLevel[];
  /** Time of the newest message, Unix milliseconds of the venue; 0 before the first. */
  timestampMs(): number;
  lastHash(): string | null;
}

/** Changes with one timestamp, or a whole book, that are not verified yet. */
interface Group {
  readonly timestamp: string;
  /** null: a whole book. */
  readonly changes: Map<string, LevelChange> | null;
  hash: string | null;
  bestBid: string | null;
  bestAsk: string | null;
  /** When it is complete unless another message comes. */
  dueMs: number;
  invalid: boolean;
  /** Of a book: why it was requested. */
  readonly sentFor: string | null;
}

const samePrice = (stated: string | null, own: BookLevel | null): boolean => {
  if (stated === null) return true;
  // The venue writes 0, or nothing, for the best price of an empty side; 1 occurs for empty asks.
  if (own === null) return stated === '' || ['0', '1'].includes(canonicalDecimal(stated));
  return canonicalDecimal(stated) === canonicalDecimal(own.price);
};

/**
 * The book of one token, verified against the venue's hash. Messages with one timestamp form a group, because within a match each has the hash of the
 * book at the end; a group ends with a later timestamp, a book, or 50 ms of silence. A hash contains the last trade price, which may arrive after it: a group that
 * does not agree waits for it, and later messages wait behind.
 */
export function createTokenBook(deps: {
  assetId: string;
  facts: MarketFacts;
  emit: (output: BookOutput) => void;
  /** The book is not the venue's: a fresh one is needed. Called once until a book arrives or `markMissing`. */
  requestBook: (reason: UnverifiedReason) => void;
  /** Called for each verification. */
  onVerification?: (result: 'verified' | UnverifiedReason) => void;
}): TokenBook {
  const { assetId, facts, emit } = deps;
  const book = createOrderBook();
  let group: Group | null = null;
  /** Set while a complete group waits for the price of its trade. */
  let waitUntilMs: number | null = null;
  let queue: ChangeMessage[] = [];
  let hasBook = false;
  let requested = false;
  /** While a book is being fetched: the changes since the request, which are applied again to a fetched book that is older. null: too many. */
  let sinceRequest: ChangeMessage[] | null = [];
  /** Changes that came before an unreadable message about levels. */
  const beforeMissed = new WeakSet<ChangeMessage>();
  /** Time of the newest message when the book was requested. */
  let requestedAt = 0;
  let silent = false;
  let verified = false;
  let bookTimestamp = 0;
  let newest = 0;
  let lastHash: string | null = null;

  const request = (reason: UnverifiedReason) => {
    if (requested) return;
    requested = true;
    sinceRequest = [...queue];
    requestedAt = newest;
    deps.requestBook(reason);
  };

  /** The venue's book has changed in an unknown way: hashes of what came before still agree, but with a book of the past. */
  const markMissed = () => {
    if (group !== null) group.invalid = true;
    for (const change of [...queue, ...(sinceRequest ?? [])]) beforeMissed.add(change);
  };

  /** `null`: verified. */
  const verify = (timestamp: string, hash: string | null): UnverifiedReason | null => {
    if (hash === null || hash === '') return 'no_hash';
    const variant = verifyVenueHash(
      book,
      { market: facts.market, assetId, timestamp, hash },
      possibleFacts(facts),
      facts.remembered,
      requested ? 'remembered' : 'all',
    );
    if (variant === null) return 'hash_mismatch';
    facts.remembered = variant;
    return null;
  };

  const close = (reason: UnverifiedReason | null) => {
    if (group === null) return;
    const { timestamp, hash, changes, bestBid, bestAsk, sentFor } = group;
    group = null;
    waitUntilMs = null;
    deps.onVerification?.(reason ?? 'verified');
    const was = verified;
    verified = reason === null && !silent;
    lastHash = hash;
    if (reason !== null && reason !== 'no_hash') request(reason);
    const shown = reason ?? (silent ? 'silent' : null);
    const output = { timestampMs: Number(timestamp), hash, verified, reason: shown };
    if (changes === null)
      emit({ ...output, type: 'book', bids: book.bids(), asks: book.asks(), reason: shown ?? sentFor });
    else if (changes.size > 0) emit({ ...output, type: 'change', changes: [...changes.values()], bestBid, bestAsk });
    else if (was !== verified) emit({ ...output, type: 'status' });
  };

  const closeComplete = (nowMs: number): void => {
    if (group === null) return;
    const best = samePrice(group.bestBid, book.bestBid()) && samePrice(group.bestAsk, book.bestAsk());
    let reason = group.invalid ? 'invalid_level' : verify(group.timestamp, group.hash);
    if (reason === 'no_hash' && !best) reason = 'best_price_mismatch';
    // Where the best prices differ no trade price makes the hash agree; where a fresh book is coming there is no need to wait.
    if (reason === 'hash_mismatch' && best && !requested) {
      waitUntilMs ??= nowMs + TRADE_WAIT_MS;
      if (nowMs < waitUntilMs) return;
    }
    close(reason);
  };

  const declareUnverified = (reason: UnverifiedReason, nowMs: number) => {
    verified = false;
    request(reason);
    emit({ type: 'status', timestampMs: newest || nowMs, hash: lastHash, verified, reason });
  };

  /** What came before a book of the subscription is in it. */
  const applyBook = (message: BookMessage, nowMs: number) => {
    if (!book.replace(message.bids, message.asks)) {
      deps.onVerification?.('invalid_level');
      if (message.reason !== null) requested = false;
      else markMissed();
      declareUnverified('invalid_level', nowMs);
      return;
    }
    hasBook = true;
    requested = false;
    waitUntilMs = null;
    queue = [];
    bookTimestamp = Number(message.timestamp);
    newest = Math.max(newest, bookTimestamp);
    const { timestamp, hash, reason } = message;
    group = {
      timestamp,
      hash,
      changes: null,
      bestBid: null,
      bestAsk: null,
      dueMs: nowMs,
      invalid: false,
      sentFor: reason,
    };
    closeComplete(nowMs);
  };

  /** A fetched book may be older than changes that have come since the request: they are applied to it again. */
  const applyFetched = (message: BookMessage, nowMs: number) => {
    // The subscription has brought a book since the request.
    if (!requested) return;
    const later = sinceRequest?.filter((change) => Number(change.timestamp) >= Number(message.timestamp));
    // A book of before the request lacks changes that are no longer known here, one of before an unreadable message lacks that.
    if (
      later === undefined ||
      Number(message.timestamp) < requestedAt ||
      later.some((change) => beforeMissed.has(change))
    ) {
      requested = false;
      request(hasBook ? 'hash_mismatch' : 'no_book');
      return;
    }
    applyBook(message, nowMs);
    queue = later;
    drain(nowMs);
  };

  const applyChange = (message: ChangeMessage, nowMs: number) => {
    const { timestamp, hash, bestBid, bestAsk } = message;
    group ??= { timestamp, hash, changes: new Map(), bestBid, bestAsk, dueMs: 0, invalid: false, sentFor: null };
    newest = Math.max(newest, Number(timestamp));
    const change = book.set(message.side, message.price, message.size);
    if (change === 'invalid' || beforeMissed.has(message)) group.invalid = true;
    if (change !== 'invalid' && change !== null)
      group.changes?.set(`${change.side} ${canonicalDecimal(change.price)}`, change);
    group.hash = hash;
    group.bestBid = bestBid;
    group.bestAsk = bestAsk;
    group.dueMs = nowMs + GROUP_SILENCE_MS;
  };

  /** Applies queued changes until a group has to wait. */
  const drain = (nowMs: number): void => {
    for (let [message] = queue; message !== undefined && waitUntilMs === null; [message] = queue) {
      if (group !== null && message.timestamp !== group.timestamp) {
        closeComplete(nowMs);
        if (group !== null) return;
      }
      queue.shift();
      // Changes of before the newest book are in it.
      if (!hasBook) {
        newest = Math.max(newest, Number(message.timestamp));
        request('no_book');
      } else if (Number(message.timestamp) >= bookTimestamp) applyChange(message, nowMs);
    }
  };

  return {
    receive(message, nowMs) {
      if (message.type === 'book' && message.reason !== null) {
        applyFetched(message, nowMs);
        return;
      }
      silent = false;
      if (message.type === 'book') {
        applyBook(message, nowMs);
        return;
      }
      if (queue.length >= MAX_QUEUED) close('hash_mismatch');
      if (requested) {
        if (sinceRequest !== null && sinceRequest.length < MAX_QUEUED) sinceRequest.push(message);
        else sinceRequest = null;
      }
      queue.push(message);
      drain(nowMs);
    },
    tradePriceChanged(nowMs) {
      if (waitUntilMs === null) return;
      closeComplete(nowMs);
      drain(nowMs);
    },
    tick(nowMs) {
      if (group === null) return;
      if (waitUntilMs !== null ? nowMs < waitUntilMs : nowMs < group.dueMs) return;
      closeComplete(nowMs);
      drain(nowMs);
    },
    hasOpenGroup: () => group !== null,
    distrust(reason, nowMs) {
      if (reason === 'silent') silent = true;
      else markMissed();
      if (verified || !requested) declareUnverified(reason, nowMs);
    },
    markMissing() {
      requested = false;
      sinceRequest = [];
    },
    needsBook: () => requested,
    verified: () => verified,
    bids: () => book.bids(),
    asks: () => book.asks(),
    timestampMs: () => newest,
    lastHash: () => lastHash,
  };
}
