import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import { type Price, valueAtPrice } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { createYieldIfDue } from './background-throttle.js';
import { cashOf } from './events.js';
import {
  currentPnlSql,
  type EventRow,
  type HoldingLists,
  type HoldingsRow,
  holdingsSql,
  type SumRow,
  sumSql,
} from './series.sql.js';
import type { TimeGrid } from './time-grid.js';

/** Open positions whose prices are looked up among those held in memory; for more, the tables join them, which takes ten times as long for most wallets. */
const MAX_OPEN_POSITIONS = 10_000;

/** What was made without what is held, and that at the prices of now, at its cost where no price is known of it. Base units. */
const currentPnlOf = async (
  made: bigint,
  { tokens, sizes, costs }: HoldingLists,
  prices: Lookup<Price>,
): Promise<bigint> => {
  const priceOf = await prices(tokens);
  const turn = createYieldIfDue(yieldToEventLoop);
  let pnl = made;
  for (const [n, token] of tokens.entries()) {
    const price = priceOf.get(token)?.usd ?? null;
    pnl += price === null ? BigInt(costs[n] as string) : valueAtPrice(BigInt(sizes[n] as string), price);
    await turn();
  }
  return pnl;
};

/**
 * What a wallet made up to now by all its changes, in base units: cash in less cash out, less fees, plus what it holds at the prices of now. For wallets
 * without gifts; exact but for the rounding of what each position is worth.
 */
export async function currentPnlFromEvents(events: readonly EventRow[], prices: Lookup<Price>): Promise<bigint> {
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
  return currentPnlOf(cash, lists, prices);
}

/**
 * The same from what the tables make of all its changes, as exactly, and the version as of versionOf. `pnl`: null where some were gifts, which count
 * nothing.
 */
export async function currentPnlFromSums(
  deps: { readonly tables: Tables; readonly prices: Lookup<Price> },
  wallet: string,
  frame: TimeGrid,
): Promise<{ readonly version: string; readonly pnl: bigint | null }> {
  const [row] = await deps.tables.rows<SumRow>(sumSql(wallet, frame));
  if (row === undefined || boolFrom(row.gifts)) return { version: row?.version ?? '0', pnl: null };
  return { version: row.version, pnl: await currentPnlOf(BigInt(row.cash), row, deps.prices) };
}

/**
 * The same by its positions, in base units; null for a wallet without any.
 *
 * What it realized less its fees, plus what it holds at the prices of now less its cost; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. Up to a unit off per position: its profit and its cost are rounded each.
 */
export type CurrentPnlFromPositions = (wallet: string) => Promise<bigint | null>;

export function createCurrentPnlFromPositions(deps: {
  tables: Tables;
  prices: Lookup<Price>;
  mostOpen?: number;
}): CurrentPnlFromPositions {
  const { tables, prices, mostOpen = MAX_OPEN_POSITIONS } = deps;
  return async (wallet) => {
    const [row] = await tables.rows<HoldingsRow>(holdingsSql(wallet, mostOpen));
    if (row === undefined || Number(row.positions) === 0) return null;
    if (Number(row.open) <= mostOpen) return currentPnlOf(BigInt(row.made), row, prices);
    const [sum] = await tables.rows<{ pnl: string }>(currentPnlSql(wallet));
    return BigInt(sum?.pnl ?? 0);
  };
}
