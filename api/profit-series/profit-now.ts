import type { Lookup } from '../catalogue/held-lookup.js';
import { marked, type Price } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { cashOf } from './events.js';
import { type EventRow, type HoldingRow, holdingsSql, profitNowSql } from './series.sql.js';

/** Positions whose prices are looked up among those held in memory; of more, the tables join them. */
const FEW = 3_000;

/**
 * What a wallet made up to now by all its changes, in base units: cash in less cash out, less fees, plus what it holds at the prices of now. For wallets
 * without gifts; exact but for the rounding of what each position is worth.
 */
export async function profitByEvents(events: readonly EventRow[], prices: Lookup<Price>): Promise<bigint> {
  const held = new Map<string, EventRow>();
  let pnl = 0n;
  for (const event of events) {
    pnl += cashOf(event);
    held.set(event.token_id, event);
  }
  for (const [token, { size_after, cost_after }] of held)
    if (size_after === '0' && cost_after === '0') held.delete(token);
  const priceOf = await prices([...held.keys()]);
  for (const [token, { size_after, cost_after }] of held) {
    const price = priceOf.get(token)?.usd ?? null;
    pnl += price === null ? BigInt(cost_after) : marked(BigInt(size_after), price);
  }
  return pnl;
}

/**
 * The same by its positions, in base units; null for a wallet without any. `isLarge`: it is known to have many.
 *
 * What it realized less its fees, plus what it holds at the prices of now less its cost; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. One rounding per position, half up.
 */
export type ProfitByPositions = (wallet: string, isLarge: boolean) => Promise<bigint | null>;

function profitOf(row: HoldingRow, price: bigint | null): bigint {
  const made = BigInt(row.realized_pnl) - BigInt(row.fees) - BigInt(row.fee_cost);
  if (row.size === '0') return made - BigInt(row.cost);
  return price === null ? made : made + marked(BigInt(row.size) - BigInt(row.received), price) - BigInt(row.cost);
}

export function createProfitByPositions(deps: { tables: Tables; prices: Lookup<Price> }): ProfitByPositions {
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
