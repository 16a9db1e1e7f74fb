import { createOrderBook, type OrderBook } from '../../schemas/order-book/book.js';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';

/** Position of a record in orderbook.updates. */
export interface BookPosition {
  readonly partition: number;
  readonly offset: number;
}

export interface LastTrade {
  readonly price: string;
  readonly size: string;
  readonly side: string;
  readonly atMs: number;
}

/** The newest book of a token. Times are Unix milliseconds. */
export interface BookState {
  readonly book: OrderBook;
  conditionId: string;
  verified: boolean;
  verifiedSinceMs: number;
  reason: string;
  hash: string;
  tickSize: string;
  lastTrade: LastTrade | null;
  synthetic: boolean;
  updatedMs: number;
  receivedMs: number;
  epoch: string;
  seq: number;
  partition: number;
  offset: number;
}

/** `ignored`: known already, or before the token's first whole book. `gap`: records are missing, and the book is unverified until the next whole one. */
export type ApplyResult = 'applied' | 'ignored' | 'gap' | 'invalid';

export interface BookStates {
  apply(update: OrderBookUpdate, position: BookPosition): ApplyResult;
  /** Adds a book as it was stored. */
  restore(tokenId: string, state: BookState): void;
  get(tokenId: string): BookState | undefined;
  /** Tokens whose book changed since the last call. */
  takeChanged(): ReadonlyMap<string, BookState>;
  /** Forgets books without a record since that time; a token that comes back starts with a whole book. */
  evictBefore(receivedMs: number): void;
  readonly size: number;
}

const GAP = 'records_missing';
const INVALID = 'invalid_level';

/** Applies the records of orderbook.updates to the book of each token. Records of a token arrive in the order of their offsets; repeated ones have no effect. */
export function createBookStates(): BookStates {
  const states = new Map<string, BookState>();
  let changed = new Map<string, BookState>();

  const create = (tokenId: string): BookState => {
    const state: BookState = {
      book: createOrderBook(),
      conditionId: '',
      verified: false,
      verifiedSinceMs: 0,
      reason: '',
      hash: '',
      tickSize: '',
      lastTrade: null,
      synthetic: false,
      updatedMs: 0,
      receivedMs: 0,
      epoch: '',
      seq: 0,
      partition: 0,
      offset: -1,
    };
    states.set(tokenId, state);
    return state;
  };
  const setVerified = (state: BookState, update: OrderBookUpdate, verified: boolean, reason: string | null) => {
    if (state.verified !== verified || state.verifiedSinceMs === 0)
      state.verifiedSinceMs = update.verified_since_ms ?? update.received_ms ?? update.timestamp_ms;
    else if (update.verified_since_ms !== null && verified === update.verified)
      state.verifiedSinceMs = update.verified_since_ms;
    state.verified = verified;
    state.reason = reason ?? '';
  };
  /** Until a whole book replaces them, the levels are not those of the venue. */
  const distrust = (state: BookState, update: OrderBookUpdate, reason: string) => {
    state.epoch = '';
    const sinceMs = state.verified ? (update.received_ms ?? update.timestamp_ms) : state.verifiedSinceMs;
    setVerified(state, { ...update, verified_since_ms: sinceMs, verified: false }, false, reason);
  };

  const applyLevels = (state: BookState, update: OrderBookUpdate): boolean => {
    if (update.update_type === 'book') return state.book.replace(update.bids, update.asks);
    for (const { price, size } of update.bids) if (state.book.set('BUY', price, size) === 'invalid') return false;
    for (const { price, size } of update.asks) if (state.book.set('SELL', price, size) === 'invalid') return false;
    return true;
  };

  return {
    apply(update, { partition, offset }) {
      let state = states.get(update.token_id);
      if (state === undefined) {
        if (update.update_type !== 'book') return 'ignored';
        state = create(update.token_id);
      }
      if (offset <= state.offset) return 'ignored';
      const isBook = update.update_type === 'book';
      // An unverified state without an epoch waits for a whole book.
      if (!isBook && state.epoch === '') return 'ignored';
      const receivedMs = update.received_ms ?? update.timestamp_ms;
      state.conditionId = update.condition_id ?? '';
      state.synthetic = update.synthetic;
      state.receivedMs = Math.max(state.receivedMs, receivedMs);
      state.partition = partition;
      state.offset = offset;
      changed.set(update.token_id, state);
      if (!isBook && (update.epoch !== state.epoch || update.seq !== state.seq + 1)) {
        distrust(state, update, GAP);
        return 'gap';
      }
      state.epoch = update.epoch;
      state.seq = update.seq;
      switch (update.update_type) {
        case 'last_trade_price':
          state.lastTrade = {
            price: update.price ?? '',
            size: update.size ?? '',
            side: update.side ?? '',
            atMs: update.timestamp_ms,
          };
          return 'applied';
        case 'tick_size_change':
          state.tickSize = update.tick_size ?? '';
          return 'applied';
        default:
          if (!applyLevels(state, update)) {
            distrust(state, update, INVALID);
            return 'invalid';
          }
          // A clock that runs ahead must not make a book look younger than it is.
          state.updatedMs = Math.min(update.timestamp_ms, receivedMs);
          state.hash = update.hash ?? '';
          state.tickSize = update.tick_size ?? state.tickSize;
          // A book that is written again to be found in the log has no fault and was not requested.
          setVerified(state, update, update.verified, update.reason === 'repeated' ? null : update.reason);
          return 'applied';
      }
    },
    restore(tokenId, state) {
      states.set(tokenId, state);
    },
    get: (tokenId) => states.get(tokenId),
    takeChanged() {
      const taken = changed;
      changed = new Map();
      return taken;
    },
    evictBefore(receivedMs) {
      for (const [tokenId, state] of states)
        if (state.receivedMs < receivedMs && !changed.has(tokenId)) states.delete(tokenId);
    },
    get size() {
      return states.size;
    },
  };
}
