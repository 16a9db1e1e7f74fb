import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import type { Sql } from '../tables/port.js';

/**
 * PnL of a position at the current price, after fees, see CurrentPnlReader. Base units. `p`: alias of positions, `q`: alias of token_prices. The cost of an
 * open position includes that of the shares that were taken as fees, which `avg_price` times shares does not.
 */
export const currentPnlOfPositionSql = (p: string, q: string): string =>
  `(toInt256(${p}.realized_pnl) - toInt256(${p}.fees) - ${p}.fee_cost
          + if(${p}.size > 0 AND ${q}.source IN ('', 'none'), toInt256(0),
            intDiv(toInt256(${p}.size - ${p}.received) * toInt256(round(${q}.price * 1000000)) * 2 + 1000000, 2000000) - ${p}.cost))`;

/** Sums over all positions of a wallet but combos, and its open positions: three lists of the same length. Base units as text. */
export interface PositionSumsRow {
  readonly positions: number | string;
  readonly events: number | string;
  /** PnL without the market value of open positions: realized PnL minus fees minus cost. */
  readonly without_value: string;
  readonly tokens: readonly string[];
  /** Shares with a cost. */
  readonly sizes: readonly string[];
  readonly costs: readonly string[];
}

export const positionSumsSql = (wallet: string): Sql => ({
  text: `SELECT count() AS positions, sum(version) AS events, toString(sum(toInt256(realized_pnl) - toInt256(fees) - fee_cost - cost)) AS without_value,
        groupArrayIf(token_id, size > 0) AS tokens, groupArrayIf(size - received, size > 0) AS sizes, groupArrayIf(cost, size > 0) AS costs
      FROM positions FINAL
      WHERE wallet = {wallet:String} AND NOT ${isComboSql('token_id')}`,
  params: { wallet },
  singleChunk: true,
});
