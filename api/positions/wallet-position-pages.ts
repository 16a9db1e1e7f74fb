import { isComboPosition } from '../../schemas/primitives/combo-ids.js';
import type { Cached, ResponseCache } from '../cache/response-cache.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import type { CursorKind, CursorList } from '../pagination/cursor.js';
import { cursorPage, type ListPage, type PageQuery } from '../pagination/list-page.js';
import { compareNumbers, rankCursor, rankedPage } from '../pagination/ranked-page.js';
import type { Tables } from '../tables/port.js';
import type { OutcomeMetadata } from './outcomes.js';
import { type Position, type PositionWithMetadata, type Price, unpriced, valueAtPrice } from './position.js';
import type { PositionRow } from './positions.sql.js';
import { MAX_POSITIONS, withMetadata } from './reader.js';
import {
  type PositionSelection,
  type WalletOrderRow,
  type WalletSort,
  walletOrderSql,
  walletPageSql,
  walletTokensSql,
} from './wallet-position-pages.sql.js';

/** Fields of a position that a predicate may use. */
export type FilterablePosition = Pick<Position, 'tokenId' | 'size' | 'price' | 'currentValue' | 'lastRedeemedAtS'>;

export interface WalletPositionsQuery extends PageQuery {
  readonly wallet: string;
  readonly sort: WalletSort;
  readonly order: 'asc' | 'desc';
  readonly combos: boolean;
  /** null: all positions; otherwise the first MAX_POSITIONS of `selection` in that order are filtered. */
  readonly predicate: ((position: FilterablePosition) => boolean) | null;
  /** Whether the predicate uses `price` or `currentValue`, which are read for all positions then; otherwise they are unknown to it. */
  readonly usesPrices: boolean;
  readonly selection: PositionSelection;
  /** Path template of the route, part of its cursors. */
  readonly endpoint: string;
}

interface Entry {
  readonly tokenId: string;
  readonly size: bigint;
  readonly lastRedeemedAtS: number | null;
  readonly value: bigint;
}

/** Added to the sort values of combos, which are below MAX_VALUE, so that combos come after the others. */
const COMBO_SHIFT = 2n ** 256n;
const MAX_VALUE = 2n ** 254n;

const shiftOf = (tokenId: string, order: 'asc' | 'desc'): bigint => {
  if (!isComboPosition(tokenId)) return 0n;
  return order === 'asc' ? COMBO_SHIFT : -COMBO_SHIFT;
};

/** After a position; values and ids that no column can have are rejected. */
const positionCursor: CursorKind<{ readonly value: bigint; readonly id: string }> = {
  values: rankCursor.values,
  parse(values) {
    const { value, id } = rankCursor.parse(values) ?? { value: null, id: '' };
    if (typeof value !== 'bigint' || !/^\d{1,78}$/.test(id) || BigInt(id) >= 2n ** 256n) return null;
    const isInRange = [0n, COMBO_SHIFT, -COMBO_SHIFT].some((shift) => {
      const unshifted = value - shift;
      return unshifted < MAX_VALUE && unshifted > -MAX_VALUE;
    });
    return isInRange ? { value, id } : null;
  },
};

/** Pages of a wallet's positions: one statement per page; with a predicate the order of all positions is read. */
export function createWalletPositionPages(deps: {
  tables: Tables;
  prices: Lookup<Price>;
  outcomesOf: Lookup<OutcomeMetadata>;
  cache: ResponseCache;
}) {
  const { tables, prices, cache } = deps;
  const listOf = ({ endpoint, sort, order }: WalletPositionsQuery): CursorList => ({
    endpoint,
    order: `${sort} ${order}`,
  });
  const readRows = async (query: WalletPositionsQuery): Promise<ListPage<PositionRow>> => {
    const { wallet, order, limit, offset } = query;
    return cursorPage(positionCursor, listOf(query), query, async (start) => {
      const beyond = start && {
        isCombo: isComboPosition(start.id),
        value: start.value - shiftOf(start.id, order),
        tokenId: start.id,
      };
      const sql = walletPageSql(wallet, query, { rows: limit + 1, offset, beyond });
      const found = await tables.rows<PositionRow & { readonly value: string }>(sql);
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      const next = last && { value: BigInt(last.value) + shiftOf(last.token, order), id: last.token };
      return { rows, next: next ?? null };
    });
  };
  const readOrder = async (query: WalletPositionsQuery): Promise<readonly Entry[]> => {
    const [row] = await tables.rows<WalletOrderRow>(
      walletOrderSql(query.wallet, query, query.selection, MAX_POSITIONS),
    );
    return (row?.tokens ?? []).map((tokenId, n) => ({
      tokenId,
      size: BigInt(row?.sizes[n] ?? 0),
      lastRedeemedAtS: Number(row?.redeemed[n]) === 0 ? null : Number(row?.redeemed[n]),
      value: BigInt(row?.values[n] ?? 0) + shiftOf(tokenId, query.order),
    }));
  };
  const readMatching = async (
    query: WalletPositionsQuery,
    entries: readonly Entry[],
    predicate: NonNullable<WalletPositionsQuery['predicate']>,
  ): Promise<ListPage<PositionRow>> => {
    const priceOf = query.usesPrices ? await prices(entries.map((entry) => entry.tokenId)) : new Map<string, Price>();
    const matching = entries.filter((entry) => {
      const price = priceOf.get(entry.tokenId) ?? unpriced;
      return predicate({
        ...entry,
        price,
        currentValue: price.usd === null ? 0n : valueAtPrice(entry.size, price.usd),
      });
    });
    const by = {
      value: (entry: Entry) => entry.value,
      id: (entry: Entry) => entry.tokenId,
      direction: query.order,
      compareIds: compareNumbers,
    };
    const page = rankedPage(matching, by, query, listOf(query));
    const tokens = page.rows.map((entry) => entry.tokenId);
    const rows = tokens.length === 0 ? [] : await tables.rows<PositionRow>(walletTokensSql(query.wallet, tokens));
    const byToken = new Map(rows.map((row) => [row.token, row]));
    return { ...page, rows: tokens.flatMap((token) => byToken.get(token) ?? []) };
  };

  return {
    /** A page of a wallet's positions by a sort key, ties by token, combos after the others. Its order is at most `maxAgeMs` old. */
    async page(query: WalletPositionsQuery, maxAgeMs: number): Promise<Cached<ListPage<PositionWithMetadata>>> {
      const { wallet, sort, order, combos, limit, offset, predicate } = query;
      const name = `wallet positions by ${sort} ${order} ${combos} ${wallet}`;
      if (predicate === null) {
        const pageName = `${name} ${limit} ${offset} ${query.cursor ?? ''}`;
        const cached = await cache.get(pageName, maxAgeMs, () => readRows(query));
        return { ...cached, value: { ...cached.value, rows: await withMetadata(deps, cached.value.rows) } };
      }
      const { tokens, shares } = query.selection;
      const cached = await cache.get(`${name} ${shares} ${tokens}`, maxAgeMs, () => readOrder(query));
      const page = await readMatching(query, cached.value, predicate);
      return { ...cached, value: { ...page, rows: await withMetadata(deps, page.rows) } };
    },
  };
}
