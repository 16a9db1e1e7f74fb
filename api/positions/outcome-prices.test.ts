import { expect, it } from 'vitest';
import { outcomePricesOf } from './outcome-prices.js';
import { type Price, unpriced } from './position.js';

it('outcomePricesOf returns the current price of each outcome, or the catalogue price where there is none', async () => {
  const known: Record<string, Price> = {
    1: { usd: 30_000n, source: 'last_fill', updatedAtS: 77 },
    2: unpriced,
  };
  const prices = async (ids: readonly string[]) => new Map(ids.map((id) => [id, known[id] ?? unpriced]));
  const found = await outcomePricesOf(prices, [
    { tokens: ['1', '2'], outcome_prices: ['0.5', '0.50'] },
    { tokens: [], outcome_prices: ['0.1'] },
  ]);
  expect(found).toEqual([
    { texts: ['0.03', '0.50'], sources: ['last_fill', null], updatedAtS: [77, null] },
    { texts: ['0.1'], sources: [null], updatedAtS: [null] },
  ]);
});

it('outcomePricesOf lists every outcome as soon as one has a price, also if the catalogue states none', async () => {
  const prices = async () => new Map<string, Price>([['1', { usd: 400_000n, source: 'last_fill', updatedAtS: 7 }]]);
  const found = await outcomePricesOf(prices, [
    { tokens: ['1', '2'], outcome_prices: [] },
    { tokens: ['3', '4'], outcome_prices: [] },
  ]);
  expect(found).toEqual([
    { texts: ['0.4', '0'], sources: ['last_fill', null], updatedAtS: [7, null] },
    { texts: [], sources: [], updatedAtS: [] },
  ]);
});
