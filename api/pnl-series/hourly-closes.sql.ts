import type { Sql } from '../tables/port.js';

/** Hourly closes of a token by time: three lists of the same length. */
export interface HourlyClosesRow {
  readonly token: string;
  /** Ends of the hours, Unix seconds. */
  readonly ends: readonly number[];
  /** 1e-6 USD. */
  readonly prices: readonly number[];
  /** Log positions of the closing trades: block x 2^20 + log index. */
  readonly places: readonly number[];
}

/**
 * Closes of tokens per hour. Hours that ended before `fromS` are one entry: the newest of their trades, with `fromS` as its end. The lists keep the order of
 * the subquery because it runs in one thread.
 */
export const hourlyClosesSql = (tokenIds: readonly string[], fromS: number): Sql => ({
  // Floats are exact up to 2^53 and are sent as plain numbers.
  text: `SELECT toString(token_id) AS token, groupArray(end_s) AS ends, groupArray(toFloat64(price)) AS prices, groupArray(toFloat64(place)) AS places
      FROM (
        SELECT token_id, greatest(toUnixTimestamp(bucket) + 3600, {from:UInt32}) AS end_s, argMaxMerge(close) AS price, max(last_place) AS place
        FROM token_candles_1h
        WHERE token_id IN (SELECT toUInt256(arrayJoin({tokens:Array(String)})))
        GROUP BY token_id, end_s
        ORDER BY token_id, end_s
      )
      GROUP BY token_id`,
  params: { tokens: tokenIds, from: fromS },
});
