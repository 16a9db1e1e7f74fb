import type { Page } from '../fills/filter.js';
import type { LogPosition } from '../fills/log-position.js';
import type { Sql } from '../tables/port.js';
import { allOf, beyondPosition, whereClause } from '../tables/where.js';

/** Lifetime sums of a token; each match once. Amounts are base units, as text. */
export interface VolumeRow {
  readonly trades: string;
  readonly buys: string;
  readonly usdc: string;
  readonly buy_usdc: string;
  readonly shares: string;
}

/** Sums of one token over exchange generations from `minVersion` on. */
export const tokenVolumeSql = (tokenId: string, minVersion: number): Sql => ({
  text: `SELECT toString(sum(trades)) AS trades, toString(sum(buys)) AS buys, toString(sum(usdc)) AS usdc,
        toString(sum(buy_usdc)) AS buy_usdc, toString(sum(shares)) AS shares
      FROM token_volumes
      WHERE token_id = toUInt256({token:String}) AND exchange_version >= {version:UInt8}`,
  params: { token: tokenId, version: minVersion },
  singleChunk: true,
});

/** Sums of the fills that carry a builder's code. Amounts are base units, as text; times Unix seconds. */
export interface BuilderRow {
  readonly builder: string;
  readonly trades: string;
  readonly usdc: string;
  readonly maker_amount: string;
  readonly taker_amount: string;
  readonly buy_shares: string;
  readonly sell_shares: string;
  readonly fee: string;
  readonly first_at: number | string;
  readonly last_at: number | string;
}

export type BuilderSort = 'trades' | 'usdc' | 'fee';

/** All builders, largest first, ties by code; thousands of codes are registered. */
export const buildersSql = (sort: BuilderSort): Sql => ({
  text: `SELECT builder, toString(sum(trades)) AS trades, toString(sum(usdc)) AS usdc, toString(sum(maker_amount)) AS maker_amount,
        toString(sum(taker_amount)) AS taker_amount, toString(sum(buy_shares)) AS buy_shares, toString(sum(sell_shares)) AS sell_shares,
        toString(sum(fee)) AS fee, toUnixTimestamp(min(first_at)) AS first_at, toUnixTimestamp(max(last_at)) AS last_at
      FROM builder_volumes AS v
      GROUP BY builder
      ORDER BY sum(v.${sort}) DESC, builder`,
  params: {},
});

export interface HourRow {
  readonly hour_s: number | string;
  readonly trades: string;
  readonly usdc: string;
  readonly fee: string;
}

/** Hours with trades, newest first, of exchange generations from `minVersion` on. */
export const hoursSql = (minVersion: number, rows: number): Sql => ({
  text: `SELECT toUnixTimestamp(hour) AS hour_s, toString(sum(trades)) AS trades, toString(sum(usdc)) AS usdc, toString(sum(fee)) AS fee
      FROM hourly_volumes
      WHERE exchange_version >= {version:UInt8}
      GROUP BY hour
      ORDER BY hour DESC
      LIMIT {rows:UInt32}`,
  params: { version: minVersion, rows },
});

export interface ResolutionRow {
  readonly block_number: number | string;
  readonly log_index: number | string;
  readonly timestamp: number | string;
  readonly condition_id: string;
  readonly payouts: readonly string[];
}

/** One page of resolutions and one row more, newest first. */
export function resolutionsPageSql(page: Page, beyond: LogPosition | null): Sql {
  const where = allOf(beyondPosition('r', beyond, 'desc'));
  return {
    text: `SELECT toUInt64(r.block_number) AS block_number, r.log_index AS log_index, toUnixTimestamp(r.timestamp) AS timestamp,
        r.condition_id AS condition_id, arrayMap(payout -> toString(payout), r.payout_numerators) AS payouts
      FROM resolutions_by_time AS r
      ${whereClause(where)}
      ORDER BY r.block_number DESC, r.log_index DESC
      LIMIT {rows:UInt32} OFFSET {offset:UInt32}`,
    params: { ...where.params, rows: page.limit + 1, offset: page.offset },
    singleChunk: true,
  };
}

export interface PreparedRow {
  readonly condition_id: string;
  readonly at: number | string;
}

/** Times at which conditions were prepared, Unix seconds. */
export const preparedSql = (conditionIds: readonly string[]): Sql => ({
  text: `SELECT condition_id, toUnixTimestamp(timestamp) AS at FROM conditions FINAL WHERE condition_id IN {conditions:Array(String)}`,
  params: { conditions: conditionIds },
  singleChunk: true,
});
