import type { Sql } from '../tables/port.js';

/**
 * PnL of a position at the current price, after fees, see CurrentPnlReader. Base units. `p`: alias of positions, `q`: alias of token_prices. The cost of an
 * open position includes that of the shares that were taken as fees, which `avg_price` times shares does not.
 */
export const currentPnlOfPositionSql = (p: string, q: string): string =>
  `(toInt256(${p}.realized_pnl) - toInt256(${p}.fees) - ${p}.fee_cost
          + if(${p}.size > 0 AND ${q}.source IN ('', 'none'), toInt256(0),
            intDiv(toInt256(${p}.size - ${p}.received) * toInt256(round(${q}.price * 1000000)) * 2 + 1000000, 2000000) - ${p}.cost))`;

export interface CurrentPnlRow {
  readonly positions: number | string;
  /** Base units, as text. */
  readonly pnl: string;
}

/** Number of a wallet's positions, and their PnL at current prices. */
export const currentPnlSql = (wallet: string): Sql => ({
  text: `SELECT count() AS positions, toString(sum(${currentPnlOfPositionSql('p', 'q')})) AS pnl
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
