import type { Lookup } from '../catalog/cached-lookup.js';
import type { Condition } from '../catalog/conditions.js';
import type { EventMarketRow } from '../catalog/events.sql.js';
import type { Sql, Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { isSettled, type OutcomePrices, outcomePricesOf } from './outcome-prices.js';
import type { Price } from './position.js';

/** Market of an event. */
export interface EventMarket extends Omit<EventMarketRow, 'closed'> {
  /** Settled on chain, or closed by the catalogue. */
  readonly closed: boolean;
  readonly prices: OutcomePrices;
}

/** Markets that a statement selects. Those that the catalogue lists without tokens have the chain's. */
export const createEventMarketReader =
  (deps: { tables: Tables; conditionsOf: Lookup<Condition>; prices: Lookup<Price> }) =>
  async (statement: Sql): Promise<readonly EventMarket[]> => {
    const rows = await deps.tables.rows<EventMarketRow>(statement);
    const withoutTokens = rows.filter(({ tokens }) => tokens.length === 0);
    const conditions = await deps.conditionsOf(withoutTokens.map((row) => row.condition_id));
    const markets = rows.map((row) => ({ ...row, tokens: conditions.get(row.condition_id)?.tokenIds ?? row.tokens }));
    const pricesOf = await outcomePricesOf(deps.prices, markets);
    return markets.map((market, index) => {
      const prices = pricesOf[index] as OutcomePrices;
      const isResolved = (conditions.get(market.condition_id)?.resolution ?? null) !== null;
      return { ...market, prices, closed: boolFrom(market.closed) || isResolved || isSettled(prices) };
    });
  };
