import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import { type Price, valueAtPrice } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { createYieldIfDue } from './background-throttle.js';
import { currentPnlSql, type HoldingLists, type HoldingsRow, holdingsSql } from './series.sql.js';

/** Limit of open positions whose prices are looked up in the cache; for more the tables join them, which is ten times slower for most wallets. */
const MAX_OPEN_POSITIONS = 10_000;

/** Realized part plus open positions at current prices, at cost without a price. Base units. */
const currentPnlOf = async (
  realized: bigint,
  { tokens, sizes, costs }: HoldingLists,
  prices: Lookup<Price>,
): Promise<bigint> => {
  const priceOf = await prices(tokens);
  const yieldIfDue = createYieldIfDue(yieldToEventLoop);
  let pnl = realized;
  for (const [n, token] of tokens.entries()) {
    const price = priceOf.get(token)?.usd ?? null;
    pnl += price === null ? BigInt(costs[n] as string) : valueAtPrice(BigInt(sizes[n] as string), price);
    await yieldIfDue();
  }
  return pnl;
};

/**
 * Current PnL of a wallet in base units; null for a wallet without positions.
 *
 * Realized PnL minus fees, plus the market value of open positions minus their cost. A token without a price counts at its cost, untracked inflows
 * count 0, and shares sent away count as sold at their cost. It equals the sum of the amounts of the wallet's positions, as every list of them has it.
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
    if (Number(row.open) <= mostOpen) return currentPnlOf(BigInt(row.realized), row, prices);
    const [sum] = await tables.rows<{ pnl: string }>(currentPnlSql(wallet));
    return BigInt(sum?.pnl ?? 0);
  };
}
