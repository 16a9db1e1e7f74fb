import { SINGLE_CHUNK_MAX_ROWS, type Sql } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';
import { bucketIndexSql, newestTimeOf, type TimeGrid, timeGridParams } from './time-grid.js';

const eventTime = 'toInt64(toUnixTimestamp(e.timestamp))';

/** Time of a wallet's first event, Unix seconds; no row without events. */
export const firstEventTimeSql = (wallet: string): Sql => ({
  text: 'SELECT toUnixTimestamp(timestamp) AS first FROM pnl_events WHERE wallet = {wallet:String} ORDER BY timestamp LIMIT 1',
  params: { wallet },
});

const isUntrackedInflowSql = (row: '' | 'e.'): string =>
  `(${row}action = 'RECEIVE' OR (${row}action = 'CONVERT' AND ${row}problem != ''))`;

/** `bookedCashOf` of events `e`, summed. */
const bookedCashSum = 'sum(e.realized_pnl) - sum(e.cost) - sum(toInt64(e.fee))';
/** Of changes `e`, as the last of them in chain order has it. */
const lastValueOf = (column: 'size_after' | 'cost_after'): string =>
  `argMax(e.${column}, (e.block_number, e.log_index, e.id, e.leg))`;

/** Event of a position, base units; wide numbers are sent as text. */
export interface EventRow {
  readonly token_id: string;
  /** Unix seconds. */
  readonly at: number | string;
  readonly action: string;
  readonly problem: string;
  readonly fee: string;
  readonly fee_shares: string;
  readonly realized_pnl: string;
  readonly cost: string;
  readonly size_after: string;
  readonly cost_after: string;
  readonly _offset: string;
}

/** Events of a wallet's positions, in chain order. Uses the old analyzer, see simpleQuerySettings in fills.sql.ts. */
export const eventsSql = (wallet: string, rows: number): Sql => ({
  text: `SELECT token_id, toUnixTimestamp(timestamp) AS at, action, problem, fee, fee_shares, realized_pnl, cost, size_after, cost_after, _offset
      FROM pnl_events FINAL
      WHERE wallet = {wallet:String}
      ORDER BY timestamp, block_number, log_index, id, leg
      LIMIT {rows:UInt32}
      SETTINGS max_execution_time = 10, enable_analyzer = 0, prefer_column_name_to_alias = 1`,
  params: { wallet, rows },
  singleChunk: rows <= SINGLE_CHUNK_MAX_ROWS,
});

/** Sum of a position's events in a bucket of the grid. Base units, as text. */
export interface ChangeRow {
  readonly token: string;
  readonly bucket: number | string;
  /** See `bookedCashOf`. */
  readonly cash: string;
  readonly size: string;
  readonly cost: string;
  /** Whether shares came in without a cost. */
  readonly has_inflow: SqlBool;
  /** Whether shares were paid as fees. */
  readonly fee_shares: SqlBool;
}

/**
 * Changes of a wallet's positions per token and bucket of a grid; everything before the grid is one change in its first bucket. `slice`: a share of the wallet's
 * tokens. Uses one thread, so that concurrent requests are not delayed.
 */
export const changesSql = (
  wallet: string,
  timeGrid: TimeGrid,
  slice: { readonly share: number; readonly of: number },
): Sql => ({
  text: `SELECT toString(e.token_id) AS token, ${bucketIndexSql(eventTime)} AS bucket,
        toString(${bookedCashSum}) AS cash,
        toString(${lastValueOf('size_after')}) AS size,
        toString(${lastValueOf('cost_after')}) AS cost, max(${isUntrackedInflowSql('e.')}) AS has_inflow,
        max(e.fee_shares > 0) AS fee_shares
      FROM pnl_events AS e FINAL
      WHERE e.wallet = {wallet:String} AND e.timestamp <= toDateTime({newest:Int64}, 'UTC')
        AND ({of:UInt32} = 1 OR cityHash64(e.token_id) % {of:UInt32} = {share:UInt32})
      GROUP BY e.token_id, bucket
      ORDER BY e.token_id, bucket
      SETTINGS max_execution_time = 10, max_threads = 1`,
  params: { wallet, ...timeGridParams(timeGrid), newest: newestTimeOf(timeGrid), ...slice },
});

export interface UntrackedInflowRow {
  readonly token: string;
  readonly bucket: number | string;
  readonly id: string;
  readonly action: string;
  readonly shares: string;
  readonly untracked: string;
  readonly size_after: string;
  readonly problem: string;
}

/** Events of positions with untracked inflows, and of the conversions that cause them, in chain order. */
export const untrackedInflowSql = (wallet: string, timeGrid: TimeGrid): Sql => ({
  text: `SELECT toString(e.token_id) AS token, ${bucketIndexSql(eventTime)} AS bucket, e.id AS id, e.action AS action, toString(e.shares) AS shares,
        toString(e.untracked) AS untracked, toString(e.size_after) AS size_after, e.problem AS problem
      FROM pnl_events AS e FINAL
      WHERE e.wallet = {wallet:String} AND e.timestamp <= toDateTime({newest:Int64}, 'UTC')
        AND e.token_id IN (SELECT token_id FROM pnl_events WHERE wallet = {wallet:String} AND ${isUntrackedInflowSql('')})
      ORDER BY e.block_number, e.log_index, e.id, e.leg
      SETTINGS max_execution_time = 10`,
  params: { wallet, ...timeGridParams(timeGrid), newest: newestTimeOf(timeGrid) },
});

/** An event of a position whose shares paid fees. */
export interface FeeShareRow {
  readonly token: string;
  readonly bucket: number | string;
  readonly action: string;
  readonly problem: string;
  readonly shares: string;
  readonly fee_shares: string;
  readonly cash: string;
  readonly realized_pnl: string;
  readonly cost: string;
  readonly cost_after: string;
  /** Cost of all fee shares of the position, where no later event changed it; else empty. */
  readonly fee_cost: string;
}

/** Events of such positions, in chain order. */
export const feeSharesSql = (wallet: string, timeGrid: TimeGrid): Sql => ({
  text: `SELECT toString(e.token_id) AS token, ${bucketIndexSql(eventTime)} AS bucket, e.action AS action, e.problem AS problem, toString(e.shares) AS shares,
        toString(e.fee_shares) AS fee_shares, toString(e.cash) AS cash, toString(e.realized_pnl) AS realized_pnl, toString(e.cost) AS cost, toString(e.cost_after) AS cost_after,
        if(p.last_at = e.timestamp, toString(p.fee_cost), '') AS fee_cost
      FROM (SELECT * FROM pnl_events FINAL WHERE wallet = {wallet:String}) AS e
      LEFT JOIN (SELECT token_id, fee_cost, last_at FROM positions FINAL WHERE wallet = {wallet:String}) AS p ON p.token_id = e.token_id
      WHERE e.timestamp <= toDateTime({newest:Int64}, 'UTC')
        AND e.token_id IN (SELECT token_id FROM pnl_events WHERE wallet = {wallet:String} AND fee_shares > 0)
      ORDER BY e.block_number, e.log_index, e.id, e.leg
      SETTINGS max_execution_time = 10`,
  params: { wallet, ...timeGridParams(timeGrid), newest: newestTimeOf(timeGrid) },
});

export interface VersionRow {
  /** Log offset of the newest event in the closed buckets of the grid, as text; 0 without events. */
  readonly version: string;
  /** Number of events up to there, rewritten ones possibly counted twice. */
  readonly changes: number | string;
}

export const versionSql = (wallet: string, timeGrid: TimeGrid): Sql => ({
  text: `SELECT toString(max(_offset)) AS version, count() AS changes FROM pnl_events WHERE wallet = {wallet:String} AND timestamp <= toDateTime({newest:Int64}, 'UTC')`,
  params: { wallet, newest: newestTimeOf(timeGrid) },
  singleChunk: true,
});

/** Open positions: three lists of the same length, base units as text. */
export interface HoldingLists {
  readonly tokens: readonly string[];
  readonly sizes: readonly string[];
  readonly costs: readonly string[];
}

/** Sums over all positions of a wallet, base units as text. */
export interface HoldingsRow extends HoldingLists {
  readonly positions: number | string;
  /** Number of open positions. */
  readonly open: number | string;
  /** Realized PnL minus fees minus the cost of open positions: PnL without their market value. */
  readonly realized: string;
}

/** Sums over a wallet's positions, and its open positions with sizes without untracked shares. `most`: limit of listed positions; above it none are listed. */
export const holdingsSql = (wallet: string, most: number): Sql => ({
  text: `SELECT count() AS positions, countIf(size > 0) AS open,
        toString(sum(toInt256(realized_pnl) - toInt256(fees) - fee_cost - cost)) AS realized,
        if(open <= {most:UInt32}, groupArrayIf(token_id, size > 0), []) AS tokens,
        if(open <= {most:UInt32}, groupArrayIf(size - received, size > 0), []) AS sizes,
        if(open <= {most:UInt32}, groupArrayIf(cost, size > 0), []) AS costs
      FROM positions FINAL
      WHERE wallet = {wallet:String}
      SETTINGS max_execution_time = 10, max_threads = 1`,
  params: { wallet, most },
  singleChunk: true,
});

/**
 * PnL of a position at the current price, after fees, see CurrentPnlFromPositions. Base units. `p`: alias of positions, `q`: alias of token_prices. The cost of an
 * open position includes that of the shares that were taken as fees, which `avg_price` times shares does not.
 */
export const currentPnlOfPositionSql = (p: string, q: string): string =>
  `(toInt256(${p}.realized_pnl) - toInt256(${p}.fees) - ${p}.fee_cost
          + if(${p}.size > 0 AND ${q}.source IN ('', 'none'), toInt256(0),
            intDiv(toInt256(${p}.size - ${p}.received) * toInt256(round(${q}.price * 1000000)) * 2 + 1000000, 2000000) - ${p}.cost))`;

/** PnL of all positions of a wallet at current prices. Base units, as text. */
export const currentPnlSql = (wallet: string): Sql => ({
  text: `SELECT toString(sum(${currentPnlOfPositionSql('p', 'q')})) AS pnl
      FROM (
        SELECT token_id, size, received, cost, realized_pnl, fees, fee_cost FROM positions FINAL WHERE wallet = {wallet:String}
      ) AS p
      LEFT JOIN (
        SELECT token_id, price, source FROM token_prices
        WHERE token_id IN (SELECT token_id FROM positions WHERE wallet = {wallet:String} AND size > 0)
      ) AS q ON q.token_id = p.token_id
      SETTINGS max_execution_time = 10`,
  params: { wallet },
  singleChunk: true,
});
