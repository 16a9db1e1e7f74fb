import type { Sql } from '../tables/port.js';
import type { Millis, SqlBool } from '../tables/values.js';

/** The newest book of a token. Prices are decimal text; times are Unix milliseconds. */
export interface OrderBookRow {
  readonly token: string;
  readonly condition_id: string;
  readonly bid_prices: readonly string[];
  readonly bid_sizes: readonly string[];
  readonly ask_prices: readonly string[];
  readonly ask_sizes: readonly string[];
  readonly bid_count: number | string;
  readonly ask_count: number | string;
  readonly best_bid: string | null;
  readonly best_ask: string | null;
  readonly mid: string | null;
  readonly spread: string | null;
  readonly verified: SqlBool;
  readonly verified_since: Millis;
  readonly reason: string;
  readonly hash: string;
  readonly tick_size: string;
  readonly last_trade_price: string;
  readonly synthetic: SqlBool;
  readonly epoch: string;
  readonly updated_at: Millis;
  readonly received_at: Millis;
}

const levels = `arraySlice(b.bid_prices, 1, {depth:UInt32}) AS bid_prices, arraySlice(b.bid_sizes, 1, {depth:UInt32}) AS bid_sizes,
      arraySlice(b.ask_prices, 1, {depth:UInt32}) AS ask_prices, arraySlice(b.ask_sizes, 1, {depth:UInt32}) AS ask_sizes,
      length(b.bid_prices) AS bid_count, length(b.ask_prices) AS ask_count`;
const noLevels = '[] AS bid_prices, [] AS bid_sizes, [] AS ask_prices, [] AS ask_sizes, 0 AS bid_count, 0 AS ask_count';

/** The book of a token with at most `depth` levels per side, of which 0 reads none; no row if none was read within the last day. */
export const orderBookSql = (token: string, depth: number): Sql => ({
  text: `SELECT toString(token_id) AS token, condition_id, ${depth === 0 ? noLevels : levels},
      toString(best_bid) AS best_bid, toString(best_ask) AS best_ask, toString(mid) AS mid, toString(b.best_ask - b.best_bid) AS spread,
      verified, toUnixTimestamp64Milli(verified_since) AS verified_since, reason, hash, tick_size, last_trade_price, synthetic, epoch,
      toUnixTimestamp64Milli(updated_at) AS updated_at, toUnixTimestamp64Milli(received_at) AS received_at
    FROM order_books AS b FINAL WHERE token_id = {token:UInt256} AND received_at > now64(3) - INTERVAL 1 DAY`,
  params: { token, depth },
  singleChunk: true,
});

export interface NewestRecordRow {
  /** Unix milliseconds. */
  readonly newest: Millis;
}

/** When the newest record of all books in the table was received. */
export const newestRecordSql: Sql = {
  text: 'SELECT toUnixTimestamp64Milli(max(received_at)) AS newest FROM order_books',
  params: {},
  singleChunk: true,
};
