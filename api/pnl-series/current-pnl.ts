import type { Tables } from '../tables/port.js';
import { type CurrentPnlRow, currentPnlSql } from './current-pnl.sql.js';

/**
 * Current PnL of a wallet in base units; null for a wallet without positions.
 *
 * Realized PnL minus fees, plus the market value of open positions minus their cost. A token without a price counts at its cost, untracked inflows
 * count 0, and shares sent away count as sold at their cost. It equals the sum of the amounts of the wallet's positions, as every list of them has it.
 */
export type CurrentPnlReader = (wallet: string) => Promise<bigint | null>;

export const createCurrentPnlReader =
  ({ tables }: { tables: Tables }): CurrentPnlReader =>
  async (wallet) => {
    const [row] = await tables.rows<CurrentPnlRow>(currentPnlSql(wallet));
    return row === undefined || Number(row.positions) === 0 ? null : BigInt(row.pnl);
  };
