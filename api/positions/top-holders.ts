import type { Lookup } from '../catalog/cached-lookup.js';
import type { CursorKind } from '../pagination/cursor.js';
import type { Tables } from '../tables/port.js';
import { type Holder, holderFrom, type Price, unpriced } from './position.js';
import { type HolderFilter, type HolderSort, NO_PRICE } from './positions.sql.js';
import { type HolderRank, type RankedHolderRow, topHoldersSql } from './top-holders.sql.js';

/** Where the page of a token's holders starts: after a holder, or with the first; 'end': no more follow. */
export type HolderStart = HolderRank | null | 'end';

export interface HolderPage {
  readonly holders: readonly Holder[];
  /** Start of the next page. */
  readonly next: HolderRank | 'end';
}

const WALLET = /^0x[0-9a-f]{40}$/;
const WHOLE = /^-?\d{1,76}$/;

/** A cursor over the holders of `tokens` tokens: per token the value and wallet of its last row, both empty after the last page. */
export const holdersCursor = (tokens: number): CursorKind<readonly (HolderRank | 'end')[]> => ({
  values: (starts) => starts.flatMap((at) => (at === 'end' ? ['', ''] : [String(at.value), at.wallet])),
  parse(values) {
    if (values.length !== 2 * tokens) return null;
    const starts: (HolderRank | 'end')[] = [];
    for (let n = 0; n < values.length; n += 2) {
      const [value, wallet] = [values[n] as string, values[n + 1] as string];
      if (value === '' && wallet === '') starts.push('end');
      else if (WHOLE.test(value) && WALLET.test(wallet)) starts.push({ value: BigInt(value), wallet });
      else return null;
    }
    return starts;
  },
});

/** Reads pages of the holders of tokens. */
export function createTopHolders({ tables, prices }: { tables: Tables; prices: Lookup<Price> }) {
  return {
    /** One page of the holders of each of the filter's tokens, in their order. `starts`: one per token. */
    async pages(
      filter: HolderFilter,
      by: {
        readonly sort: HolderSort;
        readonly order: 'asc' | 'desc';
        readonly limit: number;
        readonly offset: number;
        readonly starts: readonly HolderStart[];
      },
    ): Promise<readonly HolderPage[]> {
      const { sort, order, limit, offset, starts } = by;
      const priceOf = await prices(filter.tokenIds);
      return Promise.all(
        filter.tokenIds.map(async (token, index): Promise<HolderPage> => {
          const start = starts[index] ?? null;
          if (start === 'end' || filter.wallets?.length === 0) return { holders: [], next: 'end' };
          const price = priceOf.get(token) ?? unpriced;
          const range = { sort, order, price: price.usd ?? NO_PRICE, rows: limit + 1, offset, beyond: start };
          const found = await tables.rows<RankedHolderRow>(topHoldersSql({ ...filter, tokenIds: [token] }, range));
          const rows = found.slice(0, limit);
          const last = rows.at(-1);
          const hasMore = found.length > limit && last !== undefined;
          return {
            holders: rows.map((row) => holderFrom(row, price)),
            next: hasMore ? { value: BigInt(last.value), wallet: last.wallet } : 'end',
          };
        }),
      );
    },
  };
}
