import type { Sql, SqlValue } from '../tables/port.js';
import type { PositionRow } from './positions.sql.js';

/** Columns of a position that the equity curve uses. */
export type EquityRow = Pick<
  PositionRow,
  'token' | 'size' | 'received' | 'avg_price' | 'realized_pnl' | 'first_at' | 'last_at'
> & {
  /** Total cost of all its purchases, base units of USD as text. */
  readonly paid: string;
};

/** Maximum of a DateTime column (in the year 2106). */
const MAX_DATETIME_S = 2 ** 32 - 1;

/** Positions of a wallet by their first activity: open ones first, then by last activity, newest first. Unix seconds, both ends included. */
export function equitySql(
  wallet: string,
  first: { readonly fromS: number | null; readonly toS: number | null },
  rows: number,
): Sql {
  const parts = ['p.wallet = {wallet:String}'];
  const params: Record<string, SqlValue> = { wallet, rows };
  if (first.fromS !== null) {
    parts.push(`p.first_at >= toDateTime({from:UInt32}, 'UTC')`);
    params.from = Math.min(first.fromS, MAX_DATETIME_S);
  }
  if (first.toS !== null) {
    parts.push(`p.first_at <= toDateTime({to:UInt32}, 'UTC')`);
    params.to = Math.min(first.toS, MAX_DATETIME_S);
  }
  return {
    text: `SELECT toString(p.token_id) AS token, toString(p.size) AS size, toString(p.received) AS received, toString(p.avg_price) AS avg_price,
        toString(p.realized_pnl) AS realized_pnl, toString(e.paid) AS paid, toUnixTimestamp(p.first_at) AS first_at,
        toUnixTimestamp(p.last_at) AS last_at
      FROM positions AS p FINAL
      LEFT JOIN (
        SELECT token_id, sumIf(cost, cost > 0) AS paid FROM pnl_events FINAL WHERE wallet = {wallet:String} GROUP BY token_id
      ) AS e ON e.token_id = p.token_id
      WHERE ${parts.join(' AND ')}
      ORDER BY p.size > 0 DESC, p.last_at DESC, p.token_id
      LIMIT {rows:UInt32}`,
    params,
  };
}
