import { type BookLevel, createOrderBook } from '../../schemas/order-book/book.js';
import { priceUnits } from '../../schemas/order-book/decimal.js';
import type { BookState } from './book-state.js';

/** A row of `order_books`, as it is inserted. Times are Unix milliseconds. */
export interface BookRow {
  readonly token_id: string;
  readonly condition_id: string;
  readonly bid_prices: readonly string[];
  readonly bid_sizes: readonly string[];
  readonly ask_prices: readonly string[];
  readonly ask_sizes: readonly string[];
  readonly best_bid: string | null;
  readonly best_ask: string | null;
  readonly mid: string | null;
  readonly verified: boolean;
  readonly verified_since: number;
  readonly reason: string;
  readonly hash: string;
  readonly tick_size: string;
  readonly last_trade_price: string;
  readonly last_trade_size: string;
  readonly last_trade_side: string;
  readonly last_trade_at: number | null;
  readonly synthetic: boolean;
  readonly updated_at: number;
  readonly received_at: number;
  readonly epoch: string;
  readonly seq: number;
  readonly _partition: number;
  readonly _offset: number;
  readonly _resume: number;
  readonly _version: number;
}

/** Ten decimal places: half of the sum of two prices with nine places is exact. */
const decimalOf = (tenBillionths: bigint): string => {
  const digits = tenBillionths.toString().padStart(11, '0');
  return `${digits.slice(0, -10)}.${digits.slice(-10)}`;
};
const unitsOf = (level: BookLevel | null): bigint | null => {
  const units = level === null ? null : priceUnits(level.price);
  return units === null ? null : BigInt(units);
};

/** The middle of best bid and ask, exact; null unless both sides have levels and the bid is lower. */
function midOf(bid: BookLevel | null, ask: BookLevel | null): string | null {
  const [low, high] = [unitsOf(bid), unitsOf(ask)];
  return low === null || high === null || low >= high ? null : decimalOf((low + high) * 5n);
}
const priceOf = (level: BookLevel | null): string | null => {
  const units = unitsOf(level);
  return units === null ? null : decimalOf(units * 10n);
};

/** The row of a token's book. `resume`: see `order_books`. */
export function bookRow(tokenId: string, state: BookState, resume: number, version: number): BookRow {
  const { book, lastTrade } = state;
  const [bids, asks] = [book.bids(), book.asks()];
  const [bid = null, ask = null] = [bids[0], asks[0]];
  return {
    token_id: tokenId,
    condition_id: state.conditionId,
    bid_prices: bids.map(({ price }) => price),
    bid_sizes: bids.map(({ size }) => size),
    ask_prices: asks.map(({ price }) => price),
    ask_sizes: asks.map(({ size }) => size),
    best_bid: priceOf(bid),
    best_ask: priceOf(ask),
    mid: midOf(bid, ask),
    verified: state.verified,
    verified_since: state.verifiedSinceMs,
    reason: state.reason,
    hash: state.hash,
    tick_size: state.tickSize,
    last_trade_price: lastTrade?.price ?? '',
    last_trade_size: lastTrade?.size ?? '',
    last_trade_side: lastTrade?.side ?? '',
    last_trade_at: lastTrade?.atMs ?? null,
    synthetic: state.synthetic,
    updated_at: state.updatedMs,
    received_at: state.receivedMs,
    epoch: state.epoch,
    seq: state.seq,
    _partition: state.partition,
    _offset: state.offset,
    _resume: resume,
    _version: version,
  };
}

/** Rows from which books are restored, with times in Unix milliseconds. */
export const storedBooksSql = `SELECT toString(token_id) AS token_id, condition_id, bid_prices, bid_sizes, ask_prices, ask_sizes, verified,
    toUnixTimestamp64Milli(verified_since) AS verified_since, reason, hash, tick_size, last_trade_price, last_trade_size, last_trade_side,
    toUnixTimestamp64Milli(last_trade_at) AS last_trade_at, synthetic, toUnixTimestamp64Milli(updated_at) AS updated_at,
    toUnixTimestamp64Milli(received_at) AS received_at, epoch, toString(seq) AS seq, _partition, toString(_offset) AS _offset
  FROM order_books FINAL WHERE received_at > fromUnixTimestamp64Milli({since:Int64}, 'UTC')`;

type Numeric = number | string;
export interface StoredBookRow
  extends Omit<
    BookRow,
    | 'verified_since'
    | 'last_trade_at'
    | 'updated_at'
    | 'received_at'
    | 'seq'
    | '_offset'
    | '_resume'
    | '_version'
    | 'verified'
    | 'synthetic'
  > {
  readonly verified: boolean | number;
  readonly synthetic: boolean | number;
  readonly verified_since: Numeric;
  readonly last_trade_at: Numeric | null;
  readonly updated_at: Numeric;
  readonly received_at: Numeric;
  readonly seq: string;
  readonly _offset: string;
}

const levelsOf = (prices: readonly string[], sizes: readonly string[]): readonly BookLevel[] =>
  prices.map((price, i) => ({ price, size: sizes[i] ?? '0' }));

/** The book of a stored row; null if its levels are invalid. */
export function bookStateOf(row: StoredBookRow): BookState | null {
  const book = createOrderBook();
  if (!book.replace(levelsOf(row.bid_prices, row.bid_sizes), levelsOf(row.ask_prices, row.ask_sizes))) return null;
  return {
    book,
    conditionId: row.condition_id,
    verified: Boolean(row.verified),
    verifiedSinceMs: Number(row.verified_since),
    reason: row.reason,
    hash: row.hash,
    tickSize: row.tick_size,
    lastTrade:
      row.last_trade_at === null
        ? null
        : {
            price: row.last_trade_price,
            size: row.last_trade_size,
            side: row.last_trade_side,
            atMs: Number(row.last_trade_at),
          },
    synthetic: Boolean(row.synthetic),
    updatedMs: Number(row.updated_at),
    receivedMs: Number(row.received_at),
    epoch: row.epoch,
    seq: Number(row.seq),
    partition: row._partition,
    offset: Number(row._offset),
  };
}
