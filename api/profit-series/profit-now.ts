import type { Lookup } from '../catalogue/held-lookup.js';
import { marked, type Price } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { cashOf } from './events.js';
import { inPieces, promptly } from './pace.js';
import { type EventRow, type HoldingsRow, holdingsSql, profitNowSql } from './series.sql.js';

/** Open positions whose prices are looked up among those held in memory; for more, the tables join them, which takes ten times as long for most wallets. */
const MOST_OPEN = 10_000;

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
 * The same by its positions, in base units; null for a wallet without any.
 *
 * What it realized less its fees, plus what it holds at the prices of now less its cost; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. Up to a unit off per position: its profit and its cost are rounded each.
 * `cash`: of a wallet without gifts, cash in less cash out, less fees; with it the sum is as exact as by all changes.
 */
export type ProfitByPositions = (wallet: string, cash?: Promise<bigint | null>) => Promise<bigint | null>;

export function createProfitByPositions(deps: {
  tables: Tables;
  prices: Lookup<Price>;
  mostOpen?: number;
}): ProfitByPositions {
  const { tables, mostOpen = MOST_OPEN } = deps;
  return async (wallet, cash) => {
    const [[row], exact] = await Promise.all([tables.rows<HoldingsRow>(holdingsSql(wallet, mostOpen)), cash]);
    if (row === undefined || Number(row.positions) === 0) return null;
    if (Number(row.open) > mostOpen) {
      const [sum] = await tables.rows<{ pnl: string }>(profitNowSql(wallet));
      return BigInt(sum?.pnl ?? 0);
    }
    const priceOf = await deps.prices(row.tokens);
    const turn = inPieces(promptly);
    let pnl = exact ?? BigInt(row.made);
    for (const [n, token] of row.tokens.entries()) {
      const price = priceOf.get(token)?.usd ?? null;
      pnl += price === null ? BigInt(row.costs[n] as string) : marked(BigInt(row.sizes[n] as string), price);
      await turn();
    }
    return pnl;
  };
}
