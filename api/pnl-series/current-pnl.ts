import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import { type Price, valueAtPrice } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { createYieldIfDue } from './background-throttle.js';
import { currentPnlSql, type HoldingLists, type HoldingsRow, holdingsSql } from './series.sql.js';

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
 * What a wallet made up to now, in base units; null for a wallet without any position.
 *
 * What it realized less its fees, plus what it holds at the prices of now less its cost; what no price is known of counts at its cost, gifts count
 * nothing, and what was given away counts as sold at its cost. The sum of the amounts that its positions show, so that every list of them adds up to it.
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
