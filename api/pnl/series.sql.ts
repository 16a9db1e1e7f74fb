import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import type { TokenChoice } from '../fills/tokens.sql.js';
import type { Sql, SqlValue } from '../tables/port.js';
import { chosenTokens } from './summaries.sql.js';

export type Granularity = 'hour' | 'day' | 'week' | 'month';

/** Both ends included, Unix seconds. */
export interface Span {
  readonly afterS: number;
  readonly beforeS: number;
}

export interface SeriesRow {
  /** Unix seconds of the bucket's start; 0 for the whole span. */
  readonly bucket: number | string;
  /** Base units, as text, before fees; also the fields below. */
  readonly realized: string;
  readonly gross_profit: string;
  readonly gross_loss: string;
  /** Position changes with a realized amount; below those with a profit and with a loss. */
  readonly events: number | string;
  readonly wins: number | string;
  readonly losses: number | string;
}

const sums = `toString(sum(toInt256(e.realized))) AS realized, toString(sum(toInt256(e.profit))) AS gross_profit,
        toString(sum(toInt256(e.loss))) AS gross_loss, sum(e.events) AS events, sum(e.wins) AS wins, sum(e.losses) AS losses`;
const bucketStart: Readonly<Record<Granularity, string>> = {
  hour: `toStartOfHour(e.at, 'UTC')`,
  day: `toStartOfDay(e.at, 'UTC')`,
  week: `toDateTime(toMonday(e.at, 'UTC'), 'UTC')`,
  month: `toDateTime(toStartOfMonth(e.at, 'UTC'), 'UTC')`,
};

const SPAN_START = `toDateTime({after:UInt32}, 'UTC')`;
const SPAN_END = `toDateTime({before:UInt32}, 'UTC')`;

/** Single position changes; `within` is a further condition. */
const singleEvents = (
  within: string,
) => `SELECT timestamp AS at, toInt64(realized_pnl) AS realized, greatest(realized_pnl, 0) AS profit, least(realized_pnl, 0) AS loss,
          toUInt64(1) AS events, toUInt64(realized_pnl > 0) AS wins, toUInt64(realized_pnl < 0) AS losses
        FROM pnl_events FINAL
        WHERE wallet = {wallet:String} AND timestamp >= ${SPAN_START} AND timestamp <= ${SPAN_END} AND realized_pnl != 0${within}`;

/** Days completely within the span come from daily sums, the two days at its ends from events. */
const wholeDays = `SELECT toDateTime(day, 'UTC') AS at, sum(realized_pnl) AS realized, sum(gross_profit) AS profit, sum(gross_loss) AS loss,
          sum(realizations) AS events, sum(d.wins) AS wins, sum(d.losses) AS losses
        FROM wallet_days AS d
        WHERE wallet = {wallet:String} AND day > toDate(${SPAN_START}) AND day < toDate(${SPAN_END}) GROUP BY day
        UNION ALL
        ${singleEvents(` AND (timestamp < toStartOfDay(${SPAN_START}) + INTERVAL 1 DAY OR timestamp >= toStartOfDay(${SPAN_END}))`)}`;

/** Whether a wallet has positions in combos. */
export const hasCombosSql = (wallet: string): Sql => ({
  text: `SELECT 1 AS found FROM positions WHERE wallet = {wallet:String} AND ${isComboSql('token_id')} LIMIT 1`,
  params: { wallet },
});

export interface SeriesOptions {
  /** null: one row for the whole span. */
  readonly group: Granularity | null;
  /** null: all tokens. */
  readonly tokens: TokenChoice | null;
  /** Excludes combos. */
  readonly marketsOnly: boolean;
  readonly rows: number;
}

/**
 * Realized PnL of a wallet per bucket of a span, oldest first, without empty buckets. Daily sums are not stored per token: with selected tokens the
 * statement reads the wallet's single events.
 */
export function seriesSql(wallet: string, span: Span, options: SeriesOptions): Sql {
  const { group, tokens, marketsOnly } = options;
  const chosen = chosenTokens(tokens, 'SELECT token_id FROM positions WHERE wallet = {wallet:String}');
  const params: Record<string, SqlValue> = {
    wallet,
    after: span.afterS,
    before: span.beforeS,
    rows: options.rows,
    ...chosen.params,
  };
  const summed = tokens === null && !marketsOnly && group !== 'hour';
  const within = marketsOnly ? `${chosen.text} AND NOT ${isComboSql('token_id')}` : chosen.text;
  return {
    text: `SELECT ${group === null ? '0' : `toUnixTimestamp(${bucketStart[group]})`} AS bucket, ${sums}
      FROM (
        ${summed ? wholeDays : singleEvents(within)}
      ) AS e
      WHERE e.events > 0
      GROUP BY bucket
      ORDER BY bucket
      LIMIT {rows:UInt32}`,
    params,
  };
}
