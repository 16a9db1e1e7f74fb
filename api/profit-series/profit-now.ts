import type { Lookup } from '../catalogue/held-lookup.js';
import { marked, type Price } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { type HoldingRow, holdingsSql, profitNowSql } from './series.sql.js';

/** Positions whose prices are looked up among those held in memory; of more, the tables join them. */
const FEW = 3_000;

/**
 * What a wallet made up to now, in base units; null for one without positions. `isLarge`: it is known to have many.
 *
 * What it realized less its fees, plus what it holds at the prices of now less its cost; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. One rounding per position, half up.
 */
export type ProfitNow = (wallet: string, isLarge: boolean) => Promise<bigint | null>;

function profitOf(row: HoldingRow, price: bigint | null): bigint {
  const made = BigInt(row.realized_pnl) - BigInt(row.fees) - BigInt(row.fee_cost);
  if (row.size === '0') return made - BigInt(row.cost);
  return price === null ? made : made + marked(BigInt(row.size) - BigInt(row.received), price) - BigInt(row.cost);
}

export function createProfitNow(deps: { tables: Tables; prices: Lookup<Price> }): ProfitNow {
  const { tables } = deps;
  return async (wallet, isLarge) => {
    const rows = isLarge ? null : await tables.rows<HoldingRow>(holdingsSql(wallet, FEW + 1));
    if (rows?.length === 0) return null;
    if (rows === null || rows.length > FEW) {
      const [sum] = await tables.rows<{ pnl: string }>(profitNowSql(wallet));
      return BigInt(sum?.pnl ?? 0);
    }
    const priceOf = await deps.prices(rows.filter(({ size }) => size !== '0').map((row) => row.token_id));
    return rows.reduce((sum, row) => sum + profitOf(row, priceOf.get(row.token_id)?.usd ?? null), 0n);
  };
}
