import type { Lookup } from '../catalog/cached-lookup.js';
import { fixedWidthIds, type IdList } from '../catalog/id-list.js';
import type { Tables } from '../tables/port.js';
import { type Holder, holderFrom, type Price, positionId, unpriced } from './position.js';
import type { HolderFilter, HolderSort } from './positions.sql.js';
import {
  type HolderRow,
  type HolderTuple,
  holderRowOf,
  holderRowsSql,
  type TopHoldersRow,
  topHoldersSql,
} from './top-holders.sql.js';

/** Holders of tokens in order, with the rows of the first ones. */
export interface RankedHolders {
  /** Wallets by token in order; contains every token of the filter. */
  readonly wallets: ReadonlyMap<string, IdList>;
  readonly first: readonly HolderRow[];
}

export interface TopHolders {
  /** The first `rows` holders of each token, with rows for at least the first `shown` and at most 1,000 of each; `shown` 0: no rows. */
  ranked(
    filter: HolderFilter,
    by: { readonly sort: HolderSort; readonly order: 'asc' | 'desc'; readonly shown: number; readonly rows: number },
  ): Promise<RankedHolders>;
  /**
   * Holders by wallet and token with their value, in the order of the pairs; a pair without a position is omitted. `known`: rows that are not read again.
   */
  holders(
    pairs: readonly { readonly wallet: string; readonly tokenId: string }[],
    knownRows: readonly HolderRow[],
  ): Promise<readonly Holder[]>;
}

/** Characters of an address. */
const WALLET_WIDTH = 42;
/** Rows read over all tokens, as a multiple of the rows needed: the first rows of the common order rarely contain all holders of a token. */
const OVERREAD_FACTOR = 4;

/** Reads the order of holders together with the rows of a page in one statement, because most requests are for the first page. */
export function createTopHolders(deps: { tables: Tables; prices: Lookup<Price> }): TopHolders {
  const { tables, prices } = deps;
  const read = async (
    pairs: readonly { readonly wallet: string; readonly tokenId: string }[],
  ): Promise<HolderRow[]> => {
    if (pairs.length === 0) return [];
    const rows = await tables.rows<{ token: string; holder: HolderTuple }>(
      holderRowsSql(
        pairs.map(({ wallet }) => wallet),
        pairs.map(({ tokenId }) => tokenId),
      ),
    );
    return rows.map((row) => holderRowOf(row.token, row.holder));
  };
  return {
    async ranked(filter, by) {
      const wallets = new Map<string, IdList>(filter.tokenIds.map((token) => [token, []]));
      if (filter.tokenIds.length === 0 || filter.wallets?.length === 0) return { wallets, first: [] };
      const priceOf = await prices(filter.tokenIds);
      const ordersOf = async (tokenIds: readonly string[]): Promise<TopHoldersRow[]> => {
        const isSingle = tokenIds.length === 1;
        const maxRows = isSingle ? by.rows : by.rows * OVERREAD_FACTOR * tokenIds.length;
        const listed = tokenIds.map((token) => priceOf.get(token)?.usd ?? 0n);
        const sql = topHoldersSql({ ...filter, tokenIds }, { ...by, prices: listed, maxRows });
        const rows = await tables.rows<TopHoldersRow>(sql);
        if (isSingle || rows.reduce((sum, { found }) => sum + Number(found), 0) < maxRows) return rows;
        // The limit may have cut off holders of a token with fewer than `rows` holders here: read it separately.
        const complete = rows.filter(({ found }) => Number(found) >= by.rows);
        const incomplete = tokenIds.filter((token) => complete.every((row) => row.token !== token));
        const read = await Promise.all(incomplete.map((token) => ordersOf([token])));
        return [...complete, ...read.flat()];
      };
      const first: HolderRow[] = [];
      for (const row of await ordersOf(filter.tokenIds)) {
        wallets.set(row.token, fixedWidthIds(row.wallets, WALLET_WIDTH));
        if (by.shown > 0) first.push(...row.first.map((tuple) => holderRowOf(row.token, tuple)));
      }
      return { wallets, first };
    },
    async holders(pairs, known) {
      const found = new Map<string, HolderRow>();
      const addRows = (rows: readonly HolderRow[]) => {
        for (const row of rows) found.set(positionId({ wallet: row.wallet, tokenId: row.token }), row);
      };
      addRows(known);
      const [, priceOf] = await Promise.all([
        read(pairs.filter((pair) => !found.has(positionId(pair)))).then(addRows),
        prices([...new Set(pairs.map(({ tokenId }) => tokenId))]),
      ]);
      return pairs.flatMap((pair) => {
        const row = found.get(positionId(pair));
        return row === undefined ? [] : holderFrom(row, priceOf.get(row.token) ?? unpriced);
      });
    },
  };
}
