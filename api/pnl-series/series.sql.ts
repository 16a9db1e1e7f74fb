import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import type { Sql } from '../tables/port.js';

/** Combos are apart from markets, as in the wallet's summary. */
const isOfMarket = (token: string) => `NOT ${isComboSql(token)}`;

/** Times of a series, Unix seconds: `points` times, `stepS` apart, the first at `startS`. */
export interface SampleTimes {
  readonly startS: number;
  readonly stepS: number;
  readonly points: number;
}

/** Time of a wallet's first event in a market, Unix seconds; no row without one. */
export const firstEventTimeSql = (wallet: string): Sql => ({
  text: `SELECT toUnixTimestamp(timestamp) AS first FROM pnl_events WHERE wallet = {wallet:String} AND ${isOfMarket('token_id')}
      ORDER BY timestamp LIMIT 1`,
  params: { wallet },
});

/** Index of the first sample time at or after a time in Unix seconds; 0 for earlier times. */
const sampleAt = (seconds: string): string =>
  `toUInt32(intDiv(greatest(toInt64(${seconds}) - {start:Int64}, 0) + {step:Int64} - 1, {step:Int64}))`;
/** The sample times but the newest one, whose PnL is at current prices. */
const sampleParams = ({ startS, stepS, points }: SampleTimes) => ({
  start: startS,
  step: stepS,
  newest: startS + (points - 2) * stepS,
});

/** About how many rows `holdingsSql` returns for all tokens of a wallet: one number. Reads each event once. */
export const holdingsCountSql = (wallet: string, times: SampleTimes): Sql => ({
  text: `SELECT uniqCombined(token_id, ${sampleAt('toUnixTimestamp(e.timestamp)')}) AS groups
      FROM pnl_events AS e
      WHERE e.wallet = {wallet:String} AND e.timestamp <= toDateTime({newest:Int64}, 'UTC') AND ${isOfMarket('e.token_id')}`,
  params: { wallet, ...sampleParams(times) },
  singleChunk: true,
});

/** What a wallet holds of a token at the sample times with events since the time before: lists of the same length by time. Base units. */
export interface HoldingsRow {
  readonly token: string;
  readonly samples: readonly number[];
  /** Collateral received less paid, less fees, since the time before; shares that were sent away count as sold at their cost. */
  readonly cash: readonly string[];
  /** Shares with a cost. */
  readonly shares: readonly string[];
  readonly costs: readonly string[];
  /** Cost of the shares that were paid as fees, once all is sold. */
  readonly fee_costs: readonly string[];
}

/**
 * Holdings of a wallet at the sample times, of a share of its tokens. `cash` is computed from differences of the position's rounded totals, so that its sums
 * at any time are those of the positions. The lists keep the order of the subquery because it runs in one thread.
 */
export const holdingsSql = (
  wallet: string,
  times: SampleTimes,
  slice: { readonly share: number; readonly of: number },
): Sql => ({
  text: `SELECT toString(token_id) AS token, groupArray(sample) AS samples, groupArray(toString(cash)) AS cash, groupArray(toString(last.1)) AS shares,
        groupArray(toString(last.2)) AS costs, groupArray(toString(last.3)) AS fee_costs
      FROM (
        SELECT token_id, ${sampleAt('toUnixTimestamp(e.timestamp)')} AS sample, sum(e.realized_pnl) - sum(e.cost) - sum(toInt64(e.fee)) AS cash,
          argMax((e.size_after - e.received_after, e.cost_after, e.fee_cost_after), (e.block_number, e.log_index, e.id, e.leg)) AS last
        FROM pnl_events AS e FINAL
        WHERE e.wallet = {wallet:String} AND e.timestamp <= toDateTime({newest:Int64}, 'UTC') AND ${isOfMarket('e.token_id')}
          AND ({of:UInt32} = 1 OR cityHash64(e.token_id) % {of:UInt32} = {share:UInt32})
        GROUP BY token_id, sample
        ORDER BY token_id, sample
      )
      GROUP BY token_id`,
  params: { wallet, ...sampleParams(times), ...slice },
});
