import type { Lookup } from '../catalogue/held-lookup.js';
import { marked, type Price } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { cashOf } from './events.js';
import type { Frame } from './frame.js';
import { inPieces, promptly } from './pace.js';
import {
  type EventRow,
  type HeldLists,
  type HoldingsRow,
  holdingsSql,
  profitNowSql,
  type SumRow,
  sumSql,
} from './series.sql.js';

/** Open positions whose prices are looked up among those held in memory; for more, the tables join them, which takes ten times as long for most wallets. */
const MOST_OPEN = 10_000;

/** What was made without what is held, and that at the prices of now, at its cost where no price is known of it. Base units. */
const profitOf = async (made: bigint, { tokens, sizes, costs }: HeldLists, prices: Lookup<Price>): Promise<bigint> => {
  const priceOf = await prices(tokens);
  const turn = inPieces(promptly);
  let pnl = made;
  for (const [n, token] of tokens.entries()) {
    const price = priceOf.get(token)?.usd ?? null;
    pnl += price === null ? BigInt(costs[n] as string) : marked(BigInt(sizes[n] as string), price);
    await turn();
  }
  return pnl;
};

/**
 * What a wallet made up to now by all its changes, in base units: cash in less cash out, less fees, plus what it holds at the prices of now. For wallets
 * without gifts; exact but for the rounding of what each position is worth.
 */
export async function profitByEvents(events: readonly EventRow[], prices: Lookup<Price>): Promise<bigint> {
  const held = new Map<string, EventRow>();
  let cash = 0n;
  for (const event of events) {
    cash += cashOf(event);
    held.set(event.token_id, event);
  }
  for (const [token, { size_after, cost_after }] of held)
    if (size_after === '0' && cost_after === '0') held.delete(token);
  const rows = [...held.values()];
  const lists = {
    tokens: rows.map((row) => row.token_id),
    sizes: rows.map((row) => row.size_after),
    costs: rows.map((row) => row.cost_after),
  };
  return profitOf(cash, lists, prices);
}

/**
 * The same from what the tables make of all its changes, as exactly, and the version as of versionOf. `pnl`: null where some were gifts, which count
 * nothing.
 */
export async function profitBySum(
  deps: { readonly tables: Tables; readonly prices: Lookup<Price> },
  wallet: string,
  frame: Frame,
): Promise<{ readonly version: string; readonly pnl: bigint | null }> {
  const [row] = await deps.tables.rows<SumRow>(sumSql(wallet, frame));
  if (row === undefined || boolFrom(row.gifts)) return { version: row?.version ?? '0', pnl: null };
  return { version: row.version, pnl: await profitOf(BigInt(row.cash), row, deps.prices) };
}

/**
 * The same by its positions, in base units; null for a wallet without any.
 *
 * What it realized less its fees, plus what it holds at the prices of now less its cost; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. Up to a unit off per position: its profit and its cost are rounded each.
 */
export type ProfitByPositions = (wallet: string) => Promise<bigint | null>;

export function createProfitByPositions(deps: {
  tables: Tables;
  prices: Lookup<Price>;
  mostOpen?: number;
}): ProfitByPositions {
  const { tables, prices, mostOpen = MOST_OPEN } = deps;
  return async (wallet) => {
    const [row] = await tables.rows<HoldingsRow>(holdingsSql(wallet, mostOpen));
    if (row === undefined || Number(row.positions) === 0) return null;
    if (Number(row.open) <= mostOpen) return profitOf(BigInt(row.made), row, prices);
    const [sum] = await tables.rows<{ pnl: string }>(profitNowSql(wallet));
    return BigInt(sum?.pnl ?? 0);
  };
}
