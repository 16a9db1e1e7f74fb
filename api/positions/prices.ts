import type { Changes } from '../catalogue/changes.js';
import { createHeldLookup, type HeldLookup, type Packing } from '../catalogue/held-lookup.js';
import type { Tables } from '../tables/port.js';
import { type Price, priceFrom, unpriced } from './position.js';
import { type PriceRow, pricesSql } from './positions.sql.js';

/** Some 35 MB. */
const MAX_PRICES = 250_000;

const packedPrice: Packing<Price> = {
  encoding: 'latin1',
  pack: ({ usd, source, updatedAtS }) => (usd === null ? '' : [usd, source, updatedAtS ?? ''].join(' ')),
  unpack(text) {
    if (text === '') return unpriced;
    const [usd = '', source, updatedAt = ''] = text.split(' ');
    return {
      usd: BigInt(usd),
      source: source as Price['source'],
      updatedAtS: updatedAt === '' ? null : Number(updatedAt),
    };
  },
};

/** The middle of a book is read again when it is older than this, seconds. */
const FRESH_MID_S = 60;

/** Prices by token, held until they change; `unpriced` where nobody knows one. A fill changes no settlement and no fresh middle of a book. */
export const createPriceLookup = (deps: { tables: Tables; nowMs: () => number; changes: Changes }): HeldLookup<Price> =>
  createHeldLookup<Price>({
    read: async (ids) => {
      const rows = await deps.tables.rows<PriceRow>(pricesSql(ids));
      return new Map(rows.map((row) => [row.token, priceFrom(row)]));
    },
    unknown: unpriced,
    nowMs: deps.nowMs,
    maxHeld: MAX_PRICES,
    packed: packedPrice,
    current: ({ source, updatedAtS }) =>
      source !== 'clob_mid' || updatedAtS === null || deps.nowMs() / 1000 - updatedAtS < FRESH_MID_S,
    follow: {
      changes: deps.changes,
      sources: ['token_quotes', 'token_settlements', 'fills'],
      kept: (price, source) =>
        source === 'fills' && (price.source === 'settlement' || price.source === 'clob_mid') ? price : undefined,
    },
  });
