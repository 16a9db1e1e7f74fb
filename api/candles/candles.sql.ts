import { bytesOfHex } from '../../infra/clickhouse/hex.js';
import { timeRangeOf } from '../fills/filter.js';
import type { Sql } from '../tables/port.js';
import { allOf, given, type Where } from '../tables/where.js';

export const resolutions = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 } as const;
export type Resolution = keyof typeof resolutions;
const HOUR_S = 3_600;

/** Buckets below an hour are computed from minutes, larger ones from hours. */
const tableFor = (seconds: number): string => (seconds < HOUR_S ? 'token_candles_1m' : 'token_candles_1h');

/** Buckets from `fromS` to `toS`, both included; null: no bound. Unix seconds. */
export interface CandleRange {
  readonly tokenId: string;
  readonly seconds: number;
  readonly fromS: number | null;
  readonly toS: number | null;
}

const rangeConditions = ({ tokenId, seconds, fromS, toS }: CandleRange): Where => {
  // The last bucket is complete: it includes everything up to its end.
  const bounds = timeRangeOf(fromS, toS === null ? null : toS + seconds);
  return allOf(
    given(tokenId, 'token', 'c.token_id = toUInt256({token:String})'),
    given(bounds.afterS, 'from', `c.bucket >= toDateTime({from:UInt32}, 'UTC')`),
    given(bounds.beforeS, 'to', `c.bucket < toDateTime({to:UInt32}, 'UTC')`),
  );
};

const bucketsQuery = (
  range: CandleRange,
  where: string,
  by: 'ASC' | 'DESC',
): string => `SELECT intDiv(toUnixTimestamp(c.bucket), {seconds:UInt32}) * {seconds:UInt32} AS bucket_s
      FROM ${tableFor(range.seconds)} AS c
      WHERE ${where}
      ORDER BY c.bucket ${by}
      LIMIT 1 BY bucket_s
      LIMIT {rows:UInt32}`;

/** Starts of buckets with trades, the newest or oldest `rows` of a range. */
export function bucketsSql(range: CandleRange, order: 'asc' | 'desc', rows: number): Sql {
  const where = rangeConditions(range);
  return {
    text: bucketsQuery(range, where.text, order === 'asc' ? 'ASC' : 'DESC'),
    params: { ...where.params, seconds: range.seconds, rows },
    singleChunk: true,
  };
}

/** Sums in base units, prices in 1e-6 USD, all as text; positions are block x 2^20 + log index. */
export interface CandleRow {
  readonly bucket_s: number | string;
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly trades: string;
  readonly usdc: string;
  readonly buy_usdc: string;
  readonly shares: string;
  readonly first_place: string;
  readonly last_place: string;
  readonly first_at: number | string;
  readonly last_at: number | string;
}

const candlesQuery = (
  range: CandleRange,
  where: string,
): string => `SELECT intDiv(toUnixTimestamp(c.bucket), {seconds:UInt32}) * {seconds:UInt32} AS bucket_s,
        toString(argMinMerge(c.open)) AS open, toString(max(c.high)) AS high, toString(min(c.low)) AS low, toString(argMaxMerge(c.close)) AS close,
        toString(sum(c.trades)) AS trades, toString(sum(c.usdc)) AS usdc, toString(sum(c.buy_usdc)) AS buy_usdc, toString(sum(c.shares)) AS shares,
        toString(min(c.first_place)) AS first_place, toString(max(c.last_place)) AS last_place,
        toUnixTimestamp(min(c.first_at)) AS first_at, toUnixTimestamp(max(c.last_at)) AS last_at
      FROM ${tableFor(range.seconds)} AS c
      WHERE ${where}
      GROUP BY bucket_s
      ORDER BY bucket_s`;

/** The candles of a range, oldest first. */
export function candlesSql(range: CandleRange): Sql {
  const where = rangeConditions(range);
  return { text: candlesQuery(range, where.text), params: { ...where.params, seconds: range.seconds } };
}

/** The newest or oldest `rows` candles of a range, oldest first. */
export function candlePageSql(range: CandleRange, which: 'newest' | 'oldest', rows: number): Sql {
  const where = rangeConditions(range);
  const params = { ...where.params, seconds: range.seconds, rows };
  // ClickHouse evaluates a scalar subquery to a constant before it chooses the key range.
  const edge =
    which === 'newest'
      ? `c.bucket >= toDateTime((SELECT min(bucket_s) FROM (${bucketsQuery(range, where.text, 'DESC')})), 'UTC')`
      : `c.bucket < toDateTime((SELECT max(bucket_s) + {seconds:UInt32} FROM (${bucketsQuery(range, where.text, 'ASC')})), 'UTC')`;
  return { text: candlesQuery(range, `${where.text} AND ${edge}`), params, singleChunk: true };
}

/** True if a table stores buckets of this size. */
export const isTableResolution = (seconds: number): boolean => seconds === 60 || seconds === HOUR_S;

/** The newest or oldest stored rows of a range, in that order; a bucket has several rows until ClickHouse merges them. Only for `isTableResolution` sizes. */
export function storedCandlesSql(range: CandleRange, which: 'newest' | 'oldest', rows: number): Sql {
  const where = rangeConditions(range);
  return {
    text: `SELECT toUnixTimestamp(c.bucket) AS bucket_s, toString(finalizeAggregation(c.open)) AS open, toString(c.high) AS high, toString(c.low) AS low,
        toString(finalizeAggregation(c.close)) AS close, toString(c.trades) AS trades, toString(c.usdc) AS usdc, toString(c.buy_usdc) AS buy_usdc,
        toString(c.shares) AS shares, toString(c.first_place) AS first_place, toString(c.last_place) AS last_place,
        toUnixTimestamp(c.first_at) AS first_at, toUnixTimestamp(c.last_at) AS last_at
      FROM ${tableFor(range.seconds)} AS c
      WHERE ${where.text}
      ORDER BY c.bucket ${which === 'newest' ? 'DESC' : 'ASC'}
      LIMIT {rows:UInt32}`,
    params: { ...where.params, rows },
    singleChunk: true,
  };
}

/** Time of a block, Unix seconds. */
export const anchorBlockSql = (block: number): Sql => ({
  text: 'SELECT toUnixTimestamp(timestamp) AS at FROM blocks FINAL WHERE block_number = {block:UInt64}',
  params: { block },
  singleChunk: true,
});

/** Time at which a transaction traded a token, Unix seconds. */
export const anchorTxSql = (tokenId: string, txHash: string): Sql => ({
  text: `SELECT toUnixTimestamp(timestamp) AS at FROM fills_by_token
      WHERE token_id = toUInt256({token:String}) AND tx_hash = ${bytesOfHex('{tx:String}')}
      LIMIT 1`,
  params: { token: tokenId, tx: txHash },
  singleChunk: true,
});
