import { healthOf, type SourceStatusView } from '../../infra/sources/source-status-view.js';
import type { BookLevel } from '../../schemas/order-book/book.js';
import { canonicalDecimal } from '../../schemas/order-book/decimal.js';
import type { ResponseCache } from '../cache/response-cache.js';
import type { Tables } from '../tables/port.js';
import { boolFrom, type Millis } from '../tables/values.js';
import { type NewestRecordRow, newestRecordSql, type OrderBookRow, orderBookSql } from './order-books.sql.js';

/** Name of the source in topic `sources`. */
export const ORDER_BOOK_SOURCE = 'orderbook';
/** Ingest writes a record of every followed book at least every four minutes. */
const MAX_RECORD_AGE_MS = 5 * 60_000;
/** Records are in the table about three seconds after ingest has received them. */
const MAX_TABLE_LAG_MS = 15_000;
const NEWEST_RECORD_CACHE_MS = 1_000;

export const staleReasons = ['not_followed', 'feed_disconnected', 'feed_silent', 'table_behind'] as const;
export type StaleReason = (typeof staleReasons)[number];

/** The newest book of a token. Prices and sizes are decimal text in USD and shares; times are Unix milliseconds. */
export interface OrderBookView {
  readonly tokenId: string;
  readonly conditionId: string;
  /** Best first. */
  readonly bids: readonly BookLevel[];
  readonly asks: readonly BookLevel[];
  /** Levels of the whole book, of which `bids` and `asks` are the best; 0 if no levels are read. */
  readonly bidCount: number;
  readonly askCount: number;
  readonly bestBid: string | null;
  readonly bestAsk: string | null;
  /** null unless both sides have levels and the bid is lower. */
  readonly mid: string | null;
  readonly spread: string | null;
  readonly verified: boolean;
  readonly verifiedSinceMs: number;
  readonly reason: string | null;
  readonly hash: string | null;
  readonly tickSize: string | null;
  readonly lastTradePrice: string | null;
  readonly synthetic: boolean;
  /** Why the book may have changed since: its feed is closed, the token is no longer read, or the table does not have what was read. null: the book is current. */
  readonly stale: StaleReason | null;
  readonly updatedMs: number;
  readonly receivedMs: number;
}

/** Reads a token's newest book with at most `depth` levels per side, of which 0 reads prices only; null if none was read within the last day. */
export type OrderBookReader = (tokenId: string, depth: number) => Promise<OrderBookView | null>;

const levelsOf = (prices: readonly string[], sizes: readonly string[]): readonly BookLevel[] =>
  prices.map((price, i) => ({ price: canonicalDecimal(price), size: canonicalDecimal(sizes[i] ?? '0') }));
const decimalOrNull = (text: string | null): string | null =>
  text === null || text === '' ? null : canonicalDecimal(text);
const ms = (value: Millis): number => Number(value ?? 0);

export function createOrderBookReader(deps: {
  tables: Tables;
  cache: ResponseCache;
  sources: Pick<SourceStatusView, 'get'>;
  nowMs: () => number;
}): OrderBookReader {
  /** When ingest received the newest record of any token that is in the table. */
  const newestRecordMs = async (): Promise<number> => {
    const cached = await deps.cache.get('order-books-newest', NEWEST_RECORD_CACHE_MS, async () => {
      const [row] = await deps.tables.rows<NewestRecordRow>(newestRecordSql);
      return ms(row?.newest ?? 0);
    });
    return cached.value;
  };
  const staleReason = (row: OrderBookRow, newestMs: number): StaleReason | null => {
    const { reason, epoch } = row;
    const nowMs = deps.nowMs();
    if (reason === 'not_followed') return 'not_followed';
    const status = deps.sources.get(ORDER_BOOK_SOURCE);
    // Both times are by the clock of ingest. A table that is behind has old records of every token, also of those that are followed.
    if ((status?.last_event_ms ?? 0) - newestMs > MAX_TABLE_LAG_MS) return 'table_behind';
    if (nowMs - ms(row.received_at) > MAX_RECORD_AGE_MS) return 'not_followed';
    const health = status === undefined ? 'silent' : healthOf(status, nowMs);
    if (health !== 'connected') return `feed_${health}`;
    // The source was restarted and has not sent this book yet. A book that lacks records has no run.
    const run = status?.order_books?.epoch ?? null;
    return run === null || epoch === '' || epoch === run ? null : 'feed_silent';
  };
  return async (tokenId, depth) => {
    const [[row], newestMs] = await Promise.all([
      deps.tables.rows<OrderBookRow>(orderBookSql(tokenId, depth)),
      newestRecordMs(),
    ]);
    if (row === undefined) return null;
    return {
      tokenId: row.token,
      conditionId: row.condition_id,
      bids: levelsOf(row.bid_prices, row.bid_sizes),
      asks: levelsOf(row.ask_prices, row.ask_sizes),
      bidCount: Number(row.bid_count),
      askCount: Number(row.ask_count),
      bestBid: decimalOrNull(row.best_bid),
      bestAsk: decimalOrNull(row.best_ask),
      mid: decimalOrNull(row.mid),
      spread: row.mid === null ? null : decimalOrNull(row.spread),
      verified: boolFrom(row.verified),
      verifiedSinceMs: ms(row.verified_since),
      reason: row.reason === '' ? null : row.reason,
      hash: row.hash === '' ? null : row.hash,
      tickSize: decimalOrNull(row.tick_size),
      lastTradePrice: decimalOrNull(row.last_trade_price),
      synthetic: boolFrom(row.synthetic),
      stale: staleReason(row, newestMs),
      updatedMs: ms(row.updated_at),
      receivedMs: ms(row.received_at),
    };
  };
}
