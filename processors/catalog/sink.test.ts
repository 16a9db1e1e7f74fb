import { describe, expect, it } from 'vitest';
import type { CatalogMarket } from '../../schemas/types.gen.js';
import { catalogSink } from './sink.js';

/** Price, bid and ask of each outcome, as the sink writes them. */
function quotesOf(fields: Partial<CatalogMarket>) {
  const rows: { price: number | null; bid: number | null; ask: number | null }[] = [];
  const market = {
    token_ids: ['1', '2'],
    outcomes: ['Yes', 'No'],
    outcome_prices: ['0.5', '0.5'],
    closed: false,
    volume: 0,
    liquidity: 0,
    best_bid: null,
    best_ask: null,
    ...fields,
  } as CatalogMarket;
  catalogSink.rows(
    { kind: 'catalog_market', value: market },
    { partition: 0, offset: 1, timestampMs: 1 },
    (table, row) => {
      if (table.name === 'token_quotes') rows.push(row as (typeof rows)[number]);
    },
  );
  return rows.map(({ price, bid, ask }) => [price, bid, ask]);
}

describe('catalogSink quotes', () => {
  it('have no price while every outcome is at 0.5 without volume and liquidity', () => {
    const none = [null, null, null];
    expect(quotesOf({})).toEqual([none, none]);
    expect(quotesOf({ volume: 1 })).toEqual([
      [0.5, null, null],
      [0.5, null, null],
    ]);
    expect(quotesOf({ liquidity: 0.01 })[0]).toEqual([0.5, null, null]);
    expect(quotesOf({ outcome_prices: ['0.03', '0.97'] })).toEqual([
      [0.03, null, null],
      [0.97, null, null],
    ]);
  });

  it('mirror bid and ask for the second outcome, unless they are empty, crossed, or the market is closed', () => {
    const book = { volume: 5, best_bid: 0.03, best_ask: 0.05 };
    expect(quotesOf(book)).toEqual([
      [0.5, 0.03, 0.05],
      [0.5, 0.95, 0.97],
    ]);
    for (const empty of [{ closed: true }, { best_bid: 0 }, { best_ask: 1 }, { best_bid: 0.06 }])
      expect(quotesOf({ ...book, ...empty })[0]).toEqual([0.5, null, null]);
  });
});
