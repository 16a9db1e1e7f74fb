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

/** Who has or had tokens, and what the first of them hold. */
export interface RankedHolders {
  /** Wallets by token, in the order asked for; every token of the filter is there. */
  readonly wallets: ReadonlyMap<string, IdList>;
  readonly first: readonly HolderRow[];
}

export interface TopHolders {
  /** The first `rows` holders of each token by itself, and rows: of the first `shown` of each at least, 1,000 at most; 0 for none. */
  ranked(
    filter: HolderFilter,
    by: { readonly sort: HolderSort; readonly order: 'asc' | 'desc'; readonly shown: number; readonly rows: number },
  ): Promise<RankedHolders>;
  /**
   * What wallets hold of a token each, with what it is worth, in the order of the pairs; who never had it is left out. `known`: rows that need not be
   * read.
   */
  holders(
    pairs: readonly { readonly wallet: string; readonly tokenId: string }[],
    known: readonly HolderRow[],
  ): Promise<readonly Holder[]>;
}

/** Characters of an address. */
const WALLET_WIDTH = 42;
/** So many times what is wanted of the tokens is read of all of them together: those of one are seldom all among the others' first. */
const OVERREAD_FACTOR = 4;

/** Reads the holders of tokens: their order and the rows of a page at once, as most questions are for a first page. */
export function createTopHolders(deps: { tables: Tables; prices: Lookup<Price> }): TopHolders {
  const { tables, prices } = deps;
  const read = async (
    pairs: readonly { readonly wallet: string; readonly tokenId: string }[],
  ): Promise<HolderRow[]> => {
    if (pairs.length === 0) return [];
    const rows = await tables.rows<{ token: string; held: HolderTuple }>(
      holderRowsSql(
        pairs.map(({ wallet }) => wallet),
        pairs.map(({ tokenId }) => tokenId),
      ),
    );
    return rows.map((row) => holderRowOf(row.token, row.held));
  };
  return {
    async ranked(filter, by) {
      const wallets = new Map<string, IdList>(filter.tokenIds.map((token) => [token, []]));
      if (filter.tokenIds.length === 0 || filter.wallets?.length === 0) return { wallets, first: [] };
      const priceOf = await prices(filter.tokenIds);
      const ordersOf = async (tokenIds: readonly string[]): Promise<TopHoldersRow[]> => {
        const alone = tokenIds.length === 1;
        const maxRows = alone ? by.rows : by.rows * OVERREAD_FACTOR * tokenIds.length;
        const listed = tokenIds.map((token) => priceOf.get(token)?.usd ?? 0n);
        const sql = topHoldersSql({ ...filter, tokenIds }, { ...by, prices: listed, maxRows });
        const rows = await tables.rows<TopHoldersRow>(sql);
        if (alone || rows.reduce((sum, { found }) => sum + Number(found), 0) < maxRows) return rows;
        // Holders of the others may have taken the places of theirs.
        const whole = rows.filter(({ found }) => Number(found) >= by.rows);
        const short = tokenIds.filter((token) => whole.every((row) => row.token !== token));
        const read = await Promise.all(short.map((token) => ordersOf([token])));
        return [...whole, ...read.flat()];
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
      const put = (rows: readonly HolderRow[]) => {
        for (const row of rows) found.set(positionId({ wallet: row.wallet, tokenId: row.token }), row);
      };
      put(known);
      const [, priceOf] = await Promise.all([
        read(pairs.filter((pair) => !found.has(positionId(pair)))).then(put),
        prices([...new Set(pairs.map(({ tokenId }) => tokenId))]),
      ]);
      return pairs.flatMap((pair) => {
        const row = found.get(positionId(pair));
        return row === undefined ? [] : holderFrom(row, priceOf.get(row.token) ?? unpriced);
      });
    },
  };
}
