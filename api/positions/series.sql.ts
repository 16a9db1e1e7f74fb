import type { Sql } from '../tables/port.js';

/** Moments at which a wallet's profit is told: `points` of them, `stepS` apart, the first at `startS`. */
export interface Grid {
  readonly startS: number;
  readonly stepS: number;
  readonly points: number;
}

export const endOf = (grid: Grid): number => grid.startS + (grid.points - 1) * grid.stepS;

const gridParams = (grid: Grid) => ({ start: grid.startS, step: grid.stepS, end: endOf(grid) });
/** Index of the first moment at or after a time; what lies before the grid belongs to its first moment. */
const indexOf = (seconds: string): string =>
  `if(${seconds} <= {start:Int64}, 0, intDiv(${seconds} - {start:Int64} + {step:Int64} - 1, {step:Int64}))`;
const eventTime = 'toInt64(toUnixTimestamp(e.timestamp))';

/** First moment of a wallet, Unix seconds; no row for a wallet without any. */
export const firstMomentSql = (wallet: string): Sql => ({
  text: 'SELECT toUnixTimestamp(timestamp) AS first FROM pnl_events WHERE wallet = {wallet:String} ORDER BY timestamp LIMIT 1',
  params: { wallet },
});

/** What happened to a position up to a moment of the grid. Base units, as text. */
export interface ChangeRow {
  readonly token: string;
  readonly i: number | string;
  /** Collateral received less paid, less fees; what was given away counts as sold at its cost. */
  readonly cash: string;
  readonly size: string;
  readonly cost: string;
}

/** Changes of a wallet's positions between the moments of a grid; what was before it is one change at its first moment. */
export const changesSql = (wallet: string, grid: Grid): Sql => ({
  text: `SELECT toString(e.token_id) AS token, ${indexOf(eventTime)} AS i,
        toString(sum(e.cash) - sum(toInt64(e.fee)) + sumIf(e.realized_pnl - e.cost - e.cash, e.action = 'SEND' OR e.problem != '')) AS cash,
        toString(argMax(e.size_after, (e.block_number, e.log_index, e.id, e.leg))) AS size,
        toString(argMax(e.cost_after, (e.block_number, e.log_index, e.id, e.leg))) AS cost
      FROM pnl_events AS e FINAL
      WHERE e.wallet = {wallet:String} AND ${eventTime} <= {end:Int64}
      GROUP BY e.token_id, i
      ORDER BY e.token_id, i
      SETTINGS max_execution_time = 10`,
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

const gift = `(action = 'RECEIVE' OR (action = 'CONVERT' AND problem != ''))`;

/** Events of the positions into which shares came without a cost, and of the conversions that made some so, in chain order. */
export const giftsSql = (wallet: string, grid: Grid): Sql => ({
  text: `SELECT toString(e.token_id) AS token, ${indexOf(eventTime)} AS i, e.id AS id, e.action AS action, toString(e.shares) AS shares,
        toString(e.untracked) AS untracked, toString(e.size_after) AS size_after, e.problem AS problem
      FROM pnl_events AS e FINAL
      WHERE e.wallet = {wallet:String} AND ${eventTime} <= {end:Int64}
        AND e.token_id IN (SELECT token_id FROM pnl_events WHERE wallet = {wallet:String} AND ${gift})
      ORDER BY e.block_number, e.log_index, e.id, e.leg
      SETTINGS max_execution_time = 10`,
  params: { wallet, ...gridParams(grid) },
});

/** A price from a moment of the grid on, 1e-6 USD as text. */
export interface MarkRow {
  readonly token: string;
  readonly i: number | string;
  readonly price: string;
}

const held = `SELECT token_id FROM pnl_events WHERE wallet = {wallet:String} AND size_after > 0`;
const bucketEnd = 'toInt64(toUnixTimestamp(candle.bucket)) + 3600';

/**
 * Last traded prices of what a wallet held, of the full hours before each moment: on the token itself or, where that was later, on the other
 * outcome of a market of two, whose complement it is.
 */
export const marksSql = (wallet: string, grid: Grid): Sql => ({
  text: `WITH sources AS (
        SELECT token_id AS target, token_id AS source FROM (${held} GROUP BY token_id)
        UNION ALL
        SELECT pair.1 AS target, pair.2 AS source
        FROM (
          SELECT arrayJoin([(token_ids[1], token_ids[2]), (token_ids[2], token_ids[1])]) AS pair
          FROM markets FINAL
          WHERE length(token_ids) = 2 AND condition_id IN (SELECT condition_id FROM tokens WHERE token_id IN (${held}))
        )
      )
      SELECT toString(s.target) AS token, c.at AS i,
        toString(argMax(if(s.target = s.source, c.price, greatest(0, 1000000 - c.price)), c.place)) AS price
      FROM (
        SELECT candle.token_id AS source, ${indexOf(`(${bucketEnd})`)} AS at, toInt64(argMaxMerge(candle.close)) AS price, max(candle.last_place) AS place
        FROM token_candles_1h AS candle
        WHERE candle.token_id IN (SELECT source FROM sources) AND ${bucketEnd} <= {end:Int64}
        GROUP BY source, at
      ) AS c
      INNER JOIN sources AS s ON s.source = c.source
      GROUP BY s.target, c.at
      ORDER BY s.target, c.at
      SETTINGS max_execution_time = 10`,
  params: { wallet, ...gridParams(grid) },
});

/** What settled tokens of a wallet pay, from the moment they were settled. */
export const settledMarksSql = (wallet: string, grid: Grid): Sql => ({
  text: `SELECT toString(token_id) AS token, ${indexOf('toInt64(toUnixTimestamp(timestamp))')} AS i,
        toString(intDiv(numerator * 2000000 + denominator, denominator * 2)) AS price
      FROM token_settlements FINAL
      WHERE token_id IN (${held}) AND denominator > 0 AND toInt64(toUnixTimestamp(timestamp)) <= {end:Int64}
      SETTINGS max_execution_time = 10`,
  params: { wallet, ...gridParams(grid) },
});
