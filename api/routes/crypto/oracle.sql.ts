import type { Sql } from '../../tables/port.js';

/** Parameters are Unix milliseconds; prices are decimal text with at most 18 decimals. */
const from = 'timestamp_ms >= fromUnixTimestamp64Milli({from:Int64})';
const to = 'timestamp_ms <= fromUnixTimestamp64Milli({to:Int64})';
const spot = 'feed = {feed:String} AND twap_window_s = 0';

export interface CandleRow {
  readonly time: number | string;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
}

/** The newest `count` candles of a feed within the last day of its ticks, newest first. */
export function candlesSql(feed: string, count: number): Sql {
  return {
    text: `SELECT toUnixTimestamp(bucket) AS time, toString(open) AS open, toString(high) AS high, toString(low) AS low, toString(close) AS close
      FROM candles
      WHERE feed = {feed:String}
        AND bucket > (SELECT max(bucket) FROM candles_5m WHERE feed = {feed:String}) - INTERVAL 1 DAY
      ORDER BY bucket DESC
      LIMIT {count:UInt32}`,
    params: { feed, count },
  };
}

export interface TickRow {
  readonly id: string;
  readonly ms: number | string;
  readonly price: string;
  readonly bid: string | null;
  readonly ask: string | null;
}

/** Spot ticks of a feed, both ends inclusive, oldest first. */
export function ticksSql(range: { feed: string; fromMs: number; toMs: number; rows: number }): Sql {
  return {
    text: `SELECT id, toUnixTimestamp64Milli(timestamp_ms) AS ms, toString(price) AS price, toString(bid) AS bid, toString(ask) AS ask
      FROM ticks FINAL
      WHERE ${spot} AND ${from} AND ${to}
      ORDER BY timestamp_ms, id
      LIMIT {rows:UInt32}`,
    params: { feed: range.feed, from: range.fromMs, to: range.toMs, rows: range.rows },
  };
}

/** One row if the feed has a spot tick after `afterMs`, else none. */
export const laterTickSql = (feed: string, afterMs: number): Sql => ({
  text: `SELECT 1 AS later FROM ticks WHERE ${spot} AND timestamp_ms > fromUnixTimestamp64Milli({after:Int64}) LIMIT 1`,
  params: { feed, after: afterMs },
  singleChunk: true,
});

export interface WindowRow {
  /** Ticks before the end of the window, and ticks up to and including the end. */
  readonly before_end: number | string;
  readonly within: number | string;
  readonly open: string;
  readonly close: string;
  /** 1 if a tick at or after the window's end exists; the close is final then. */
  readonly passed: number | string;
}

/** First spot tick in [from, to), last spot tick in [from, to], and whether the feed has reached `to`. */
export function windowPriceSql(window: { feed: string; fromMs: number; toMs: number }): Sql {
  return {
    text: `SELECT
        countIf(timestamp_ms < fromUnixTimestamp64Milli({to:Int64})) AS before_end,
        count() AS within,
        toString(argMinIf(price, (timestamp_ms, id), timestamp_ms < fromUnixTimestamp64Milli({to:Int64}))) AS open,
        toString(argMax(price, (timestamp_ms, id))) AS close,
        (SELECT count() FROM (SELECT 1 FROM ticks WHERE ${spot} AND timestamp_ms >= fromUnixTimestamp64Milli({to:Int64}) LIMIT 1)) AS passed
      FROM ticks
      WHERE ${spot} AND ${from} AND ${to}`,
    params: { feed: window.feed, from: window.fromMs, to: window.toMs },
  };
}
