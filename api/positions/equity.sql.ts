import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import { timeRangeOf } from '../fills/filter.js';
import type { Sql } from '../tables/port.js';
import { allOf, given, whereClause, withinTimes } from '../tables/where.js';
import type { PositionRow } from './positions.sql.js';

/** Columns of a position that the equity curve uses. */
export type EquityRow = Pick<
  PositionRow,
  'token' | 'size' | 'received' | 'avg_price' | 'realized_pnl' | 'first_at' | 'last_at'
> & {
  /** Total cost of all its purchases, base units of USD as text. */
  readonly paid: string;
};

/** Positions of a wallet but combos, by their first activity: open ones first, then by last activity, newest first. Unix seconds, both ends included. */
export function equitySql(
  wallet: string,
  first: { readonly fromS: number | null; readonly toS: number | null },
  rows: number,
): Sql {
  const where = allOf(
    given(wallet, 'wallet', `p.wallet = {wallet:String} AND NOT ${isComboSql('p.token_id')}`),
    withinTimes('p.first_at', timeRangeOf(first.fromS, first.toS)),
  );
  return {
    text: `SELECT toString(p.token_id) AS token, toString(p.size) AS size, toString(p.received) AS received, toString(p.avg_price) AS avg_price,
        toString(p.realized_pnl) AS realized_pnl, toString(e.paid) AS paid, toUnixTimestamp(p.first_at) AS first_at,
        toUnixTimestamp(p.last_at) AS last_at
      FROM positions AS p FINAL
      LEFT JOIN (
        SELECT token_id, sumIf(cost, cost > 0) AS paid FROM pnl_events FINAL WHERE wallet = {wallet:String} GROUP BY token_id
      ) AS e ON e.token_id = p.token_id
      ${whereClause(where)}
      ORDER BY p.size > 0 DESC, p.last_at DESC, p.token_id
      LIMIT {rows:UInt32}`,
    params: { ...where.params, rows },
  };
}
