import { type CachedLookup, createCachedLookup, readRows } from '../catalog/cached-lookup.js';
import type { ChangeFeed } from '../catalog/change-feed.js';
import { cachedTokens } from '../catalog/metadata.js';
import type { Tables } from '../tables/port.js';
import { type Price, priceFrom, unpriced } from './position.js';
import { type PriceRow, pricesSql } from './positions.sql.js';

/** A mid price is read again after this number of seconds. */
const MID_PRICE_TTL_S = 60;

/** Prices by token, cached until they change; `unpriced` if unknown. A fill does not change a settlement price or a fresh mid price. */
export const createPriceLookup = (deps: {
  tables: Tables;
  nowMs: () => number;
  changes: ChangeFeed;
  cachedMarkets: number;
}): CachedLookup<Price> =>
  createCachedLookup<Price>({
    read: readRows(deps.tables, pricesSql, (row: PriceRow) => row.token, priceFrom),
    unknown: unpriced,
    nowMs: deps.nowMs,
    maxSize: cachedTokens(deps.cachedMarkets),
    isFresh: ({ source, updatedAtS }) =>
      source !== 'clob_mid' || updatedAtS === null || deps.nowMs() / 1000 - updatedAtS < MID_PRICE_TTL_S,
    invalidation: {
      changes: deps.changes,
      tables: ['token_quotes', 'token_settlements', 'fills', 'order_books'],
      update: (price, source) =>
        source === 'fills' && (price.source === 'settlement' || price.source === 'clob_mid') ? price : undefined,
    },
  });
