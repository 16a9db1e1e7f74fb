import { z } from 'zod';
import { moneyToNumber } from '../../schemas/primitives/money.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import { type Price, unpriced } from './position.js';
import { priceSource, priceSourceOf } from './price-fields.js';

interface Market {
  /** In outcome order. */
  readonly tokens: readonly string[];
  /** Prices from the catalogue. */
  readonly outcome_prices: readonly string[];
}

/** Current prices of a market's outcomes, in outcome order. */
export interface OutcomePrices {
  /** USD per share, decimal text; the catalogue's price if no other source has one. */
  readonly texts: readonly string[];
  readonly sources: readonly ReturnType<typeof priceSourceOf>[];
  /** Unix seconds. */
  readonly updatedAtS: readonly (number | null)[];
}

/** Current prices of the outcomes of markets, in the order of the markets. */
export async function outcomePricesOf(
  prices: Lookup<Price>,
  markets: readonly Market[],
): Promise<readonly OutcomePrices[]> {
  const priceOf = await prices(markets.flatMap(({ tokens }) => tokens));
  return markets.map(({ tokens, outcome_prices }) => {
    const found = tokens.map((token) => priceOf.get(token) ?? unpriced);
    // Without any price the list is empty, as the catalogue's own is.
    const isPriced = outcome_prices.length > 0 || found.some(({ usd }) => usd !== null);
    const outcomes = isPriced ? Math.max(tokens.length, outcome_prices.length) : 0;
    const listed = Array.from({ length: outcomes }, (_, index) => found[index] ?? unpriced);
    return {
      texts: listed.map(({ usd }, index) =>
        usd === null ? (outcome_prices[index] ?? '0') : String(moneyToNumber(usd)),
      ),
      sources: listed.map(priceSourceOf),
      updatedAtS: listed.map(({ updatedAtS }) => updatedAtS),
    };
  });
}

/** Description of a field with current prices. */
export const CURRENT_PRICES_DESCRIPTION =
  'The settlement price; before settlement the mid of best bid and ask if younger than 60 s, otherwise the newer of last fill and catalogue quote; without any of them the price that the catalogue states, or 0.';

/** Source and time of each of `outcomePrices`. */
export const outcomePriceFields = {
  priceSources: z
    .array(priceSource)
    .meta({ description: 'Source per element of outcomePrices; null: stated by the catalogue, or 0 and unknown.' }),
  pricesUpdatedAt: z
    .array(z.int().nullable())
    .meta({ description: 'Time per element of outcomePrices, Unix seconds.' }),
};

/** Whether the market is settled on chain, which the catalogue may not know yet. */
export const isSettled = ({ sources }: OutcomePrices): boolean =>
  sources.length > 0 && sources.every((source) => source === 'settlement');

/** The response fields, with `outcomePrices` as text. */
export const outcomePricesFrom = ({ texts, sources, updatedAtS }: OutcomePrices) => ({
  outcomePrices: [...texts],
  priceSources: [...sources],
  pricesUpdatedAt: [...updatedAtS],
});
