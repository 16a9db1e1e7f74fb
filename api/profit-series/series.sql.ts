import type { Sql } from '../tables/port.js';
import type { SqlBool } from '../tables/values.js';

/** Moments at which a wallet's profit is told: `points` of them, `stepS` apart, the first at `startS`. */
export interface Grid {
  readonly startS: number;
  readonly stepS: number;
  readonly points: number;
}

export const endOf = (grid: Grid): number => grid.startS + (grid.points - 1) * grid.stepS;

const gridParams = (grid: Grid) => ({ start: grid.startS, step: grid.stepS, end: endOf(grid) });
/** Index of the first moment at or after a time, Unix seconds; what lies before the grid belongs to its first moment. */
export const momentOf = (grid: Grid, atS: number): number =>
  atS <= grid.startS ? 0 : Math.ceil((atS - grid.startS) / grid.stepS);

/** The same in SQL. */
const indexOf = (seconds: string): string =>
  `if(${seconds} <= {start:Int64}, 0, intDiv(${seconds} - {start:Int64} + {step:Int64} - 1, {step:Int64}))`;
const eventTime = 'toInt64(toUnixTimestamp(e.timestamp))';

/** First moment of a wallet, Unix seconds; no row for a wallet without any. */
export const firstMomentSql = (wallet: string): Sql => ({
  text: 'SELECT toUnixTimestamp(timestamp) AS first FROM pnl_events WHERE wallet = {wallet:String} ORDER BY timestamp LIMIT 1',
  params: { wallet },
});

const gift = (row: '' | 'e.'): string =>
  `(${row}action = 'RECEIVE' OR (${row}action = 'CONVERT' AND ${row}problem != ''))`;

/** What happened to a position up to a moment of the grid. Base units, as text. */
export interface ChangeRow {
  readonly token: string;
  readonly i: number | string;
  /** Collateral received less paid, less fees; what was given away counts as sold at its cost. */
  readonly cash: string;
  readonly size: string;
  readonly cost: string;
  /** Whether shares came in without a cost. */
  readonly gifts: SqlBool;
}

/**
 * Changes of a wallet's positions between the moments of a grid, by token and moment; what was before it is one change at its first moment. `enough`, of our own
 * constants: where there are more, reading ends soon after so many, with more rows than these but not all.
 */
export const changesSql = (wallet: string, grid: Grid, enough: number | null): Sql => ({
  text: `SELECT toString(e.token_id) AS token, ${indexOf(eventTime)} AS i,
        toString(sum(e.cash) - sum(toInt64(e.fee)) + sumIf(e.realized_pnl - e.cost - e.cash, e.action = 'SEND' OR e.problem != '')) AS cash,
        toString(argMax(e.size_after, (e.block_number, e.log_index, e.id, e.leg))) AS size,
        toString(argMax(e.cost_after, (e.block_number, e.log_index, e.id, e.leg))) AS cost, max(${gift('e.')}) AS gifts
      FROM pnl_events AS e FINAL
      WHERE e.wallet = {wallet:String} AND ${eventTime} <= {end:Int64}
      GROUP BY e.token_id, i
      ORDER BY e.token_id, i
      SETTINGS max_execution_time = 10${enough === null ? '' : `, max_rows_to_group_by = ${enough}, group_by_overflow_mode = 'break'`}`,
  params: { wallet, ...gridParams(grid) },
});

export interface GiftRow {
  readonly token: string;
  readonly i: number | string;
  readonly id: string;
  readonly action: string;
  readonly shares: string;
  readonly untracked: string;
  readonly size_after: string;
  readonly problem: string;
}

/** Events of the positions into which shares came without a cost, and of the conversions that made some so, in chain order. */
export const giftsSql = (wallet: string, grid: Grid): Sql => ({
  text: `SELECT toString(e.token_id) AS token, ${indexOf(eventTime)} AS i, e.id AS id, e.action AS action, toString(e.shares) AS shares,
        toString(e.untracked) AS untracked, toString(e.size_after) AS size_after, e.problem AS problem
      FROM pnl_events AS e FINAL
      WHERE e.wallet = {wallet:String} AND ${eventTime} <= {end:Int64}
        AND e.token_id IN (SELECT token_id FROM pnl_events WHERE wallet = {wallet:String} AND ${gift('')})
      ORDER BY e.block_number, e.log_index, e.id, e.leg
      SETTINGS max_execution_time = 10`,
  params: { wallet, ...gridParams(grid) },
});
