import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import { type Price, valueAtPrice } from '../positions/position.js';
import type { Tables } from '../tables/port.js';
import { type PositionSumsRow, positionSumsSql } from './current-pnl.sql.js';

/** Positions that are valued without other requests in between: about a millisecond. */
const POSITIONS_PER_TURN = 1_000;

export interface CurrentPnl {
  /** At current prices, base units. */
  readonly pnl: () => Promise<bigint>;
  readonly positions: number;
  readonly events: number;
}

/**
 * Current PnL of a wallet; null for a wallet without positions.
 *
 * Realized PnL minus fees, plus the market value of open positions minus their cost. A token without a price counts at its cost, untracked inflows
 * count 0, and shares sent away count as sold at their cost. It equals the sum of the amounts of the wallet's positions, as every list of them has it.
 */
export type CurrentPnlReader = (wallet: string) => Promise<CurrentPnl | null>;

/** Creates the reader. The prices come from the cache, because a join with `token_prices` costs several times as much as the rest of the statement. */
export function createCurrentPnlReader(deps: { tables: Tables; prices: Lookup<Price> }): CurrentPnlReader {
  return async (wallet) => {
    const [row] = await deps.tables.rows<PositionSumsRow>(positionSumsSql(wallet));
    if (row === undefined || Number(row.positions) === 0) return null;
    const { tokens, sizes, costs } = row;
    const pnl = async () => {
      const prices = await deps.prices(tokens);
      let sum = BigInt(row.without_value);
      for (const [n, token] of tokens.entries()) {
        if (n % POSITIONS_PER_TURN === POSITIONS_PER_TURN - 1) await yieldToEventLoop();
        const price = prices.get(token)?.usd ?? null;
        sum += price === null ? BigInt(costs[n] as string) : valueAtPrice(BigInt(sizes[n] as string), price);
      }
      return sum;
    };
    return { pnl, positions: Number(row.positions), events: Number(row.events) };
  };
}
