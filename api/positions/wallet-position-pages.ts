import { type Cached, createTtlCache } from '../cache/ttl-cache.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import type { Rankings } from '../catalog/rankings.js';
import type { Tables } from '../tables/port.js';
import { type OutcomeMetadata, unknownOutcomeMetadata } from './outcomes.js';
import {
  type Position,
  type PositionWithMetadata,
  type Price,
  positionFrom,
  unpriced,
  valueAtPrice,
} from './position.js';
import type { PositionRow } from './positions.sql.js';
import { MAX_POSITIONS } from './reader.js';
import {
  firstRowsOf,
  type WalletOrderRow,
  type WalletSort,
  walletFirstRowsSql,
  walletOrderSql,
  walletTokenOrderSql,
  walletTokensSql,
} from './wallet-position-pages.sql.js';

/** Fields of a position that a predicate may use. */
export type FilterablePosition = Pick<Position, 'tokenId' | 'size' | 'price' | 'currentValue' | 'lastRedeemedAtS'>;

export interface WalletPositionsQuery {
  readonly wallet: string;
  readonly sort: WalletSort;
  readonly order: 'asc' | 'desc';
  readonly combos: boolean;
  /** null: all positions. */
  readonly predicate: ((position: FilterablePosition) => boolean) | null;
  /** Identifies caller, wallet and request, without the offset. */
  readonly sessionKey: string;
  readonly offset: number;
  readonly limit: number;
}

/** Maximum age of a cached order: for wallets with up to 1,000 positions, and for larger ones, which take long to read. */
export interface MaxAges {
  readonly smallWalletMs: number;
  readonly largeWalletMs: number;
}

export interface WalletPositionPages {
  /**
   * A page of a wallet's positions by a sort key, ties by token, combos after the others; limited to the first MAX_POSITIONS in that order. The cached
   * order is at most `maxAgeMs` old: one of `ages`, depending on the number of positions of the wallet.
   */
  page(
    page: WalletPositionsQuery,
    ages: MaxAges,
  ): Promise<Cached<{ positions: readonly PositionWithMetadata[]; hasMore: boolean; maxAgeMs: number }>>;
}

/** A wallet's positions in order: three lists of the same length, and the rows of the first of them. */
interface Order extends Omit<WalletOrderRow, 'first'> {
  readonly first: readonly PositionRow[];
}

/** The first token ids of a wallet's order. */
interface WalletPrefix {
  readonly tokens: readonly string[];
  readonly isComplete: boolean;
  /** Rows of the first page, and one row more. */
  readonly first: readonly PositionRow[];
}

/** Positions after a first page whose order is fixed for the pagination session. */
const PREFIX_LENGTH = 1_000;
/** About one megabyte. */
const MAX_LARGE_WALLETS = 10_000;
/** Number of rows of about 500 bytes. */
const MAX_CACHED_ROWS = 8_000;
/** Weight of an order without rows, per position, in rows. */
const ORDER_WEIGHT = 0.25;

/**
 * Pages of a wallet's positions. The first page is read together with a prefix of the order; the rest of the order is read when a page
 * beyond the prefix is requested. With a predicate the order of all positions is read at once.
 */
export function createWalletPositionPages(deps: {
  tables: Tables;
  rankings: Rankings;
  prices: Lookup<Price>;
  outcomesOf: Lookup<OutcomeMetadata>;
  nowMs: () => number;
  dataVersion?: (() => unknown) | undefined;
}): WalletPositionPages {
  const { tables, rankings, prices, outcomesOf, nowMs } = deps;
  const cache = createTtlCache({
    maxEntries: 2_000,
    nowMs,
    dataVersion: deps.dataVersion,
    weigh: (value) => {
      const { tokens, first } = value as Order | WalletPrefix;
      return 1 + tokens.length * ORDER_WEIGHT + first.length;
    },
    maxWeight: MAX_CACHED_ROWS,
    packing: { pack: (value) => JSON.stringify(value), unpack: (text) => JSON.parse(text) },
  });
  const positionsOf = async (rows: readonly PositionRow[]): Promise<readonly PositionWithMetadata[]> => {
    const tokenIds = rows.map((row) => row.token);
    const [priceOf, metadataOf] = await Promise.all([prices(tokenIds), outcomesOf(tokenIds)]);
    return rows.map((row) => ({
      ...positionFrom(row, priceOf.get(row.token) ?? unpriced),
      metadata: metadataOf.get(row.token) ?? unknownOutcomeMetadata,
    }));
  };
  const orderOf = async ({ wallet, sort, order, combos, offset, limit }: WalletPositionsQuery): Promise<Order> => {
    const by = { sort, order, combos, rows: MAX_POSITIONS, shown: offset === 0 ? limit : 0 };
    const [row] = await tables.rows<WalletOrderRow>(walletOrderSql(wallet, by));
    if (row === undefined) return { tokens: [], sizes: [], redeemed: [], first: [] };
    return { ...row, first: firstRowsOf(wallet, row) };
  };
  const readTokenOrder = async (page: WalletPositionsQuery, rows: number): Promise<readonly string[]> => {
    const [row] = await tables.rows<{ tokens: readonly string[] }>(walletTokenOrderSql(page.wallet, { ...page, rows }));
    return row?.tokens ?? [];
  };
  /** Wallets that had more positions than a first page: their prefix is read concurrently with the page. */
  const large = new Set<string>();
  const readPrefix = async (page: WalletPositionsQuery): Promise<WalletPrefix> => {
    const { wallet, combos, limit } = page;
    const size = `${wallet} ${combos} ${limit}`;
    const read = () => readTokenOrder(page, PREFIX_LENGTH + limit);
    const early = large.has(size) ? read() : null;
    const [first, cachedTokens] = await Promise.all([
      tables.rows<PositionRow>(walletFirstRowsSql(wallet, { ...page, rows: limit + 1 })),
      early,
    ]);
    const shown = first.map((row) => row.token);
    if (first.length <= limit) return { tokens: shown, isComplete: true, first };
    if (large.size >= MAX_LARGE_WALLETS) large.clear();
    large.add(size);
    const tokens = cachedTokens ?? (await read());
    const before = new Set(shown);
    // The two statements may read different states of the table.
    const listed = [...shown, ...tokens.filter((token) => !before.has(token))];
    return { tokens: listed, isComplete: tokens.length < PREFIX_LENGTH + limit, first };
  };
  const applyPredicate = async (
    { tokens, sizes, redeemed }: Order,
    predicate: NonNullable<WalletPositionsQuery['predicate']>,
  ) => {
    const priceOf = await prices(tokens);
    return tokens.filter((tokenId, n) => {
      const size = BigInt(sizes[n] as string);
      const price = priceOf.get(tokenId) ?? unpriced;
      const redeemedS = Number(redeemed[n]);
      const currentValue = price.usd === null ? 0n : valueAtPrice(size, price.usd);
      return predicate({ tokenId, size, price, currentValue, lastRedeemedAtS: redeemedS === 0 ? null : redeemedS });
    });
  };

  return {
    async page(page, { smallWalletMs, largeWalletMs }) {
      const { wallet, predicate, sessionKey, offset, limit } = page;
      let ageMs = 0;
      let maxAgeMs = smallWalletMs;
      let knownRows: readonly PositionRow[] = [];
      const name = `${wallet} ${page.sort} ${page.order} ${page.combos} ${smallWalletMs} ${largeWalletMs}`;
      const { ids, hasMore } = await rankings.page({
        sessionKey,
        offset,
        limit,
        async load() {
          // The rest of an order must not be older than its prefix.
          if (predicate === null) return readTokenOrder(page, MAX_POSITIONS);
          const ageOf = ({ tokens }: Order) => (tokens.length > PREFIX_LENGTH ? largeWalletMs : smallWalletMs);
          const order = await cache.get(name, ageOf, () => orderOf(page));
          ageMs = order.ageMs;
          maxAgeMs = ageOf(order.value);
          knownRows = order.value.first;
          return applyPredicate(order.value, predicate);
        },
        ...(predicate === null && {
          async loadPrefix() {
            const ageOf = ({ isComplete }: WalletPrefix) => (isComplete ? smallWalletMs : largeWalletMs);
            const found = await cache.get(`${name} ${limit}`, ageOf, () => readPrefix(page));
            ageMs = found.ageMs;
            maxAgeMs = ageOf(found.value);
            knownRows = found.value.first;
            return { ids: found.value.tokens, isComplete: found.value.isComplete };
          },
        }),
      });
      const pageIds = new Set(ids);
      const rows = knownRows.filter((row) => pageIds.has(row.token));
      const knownIds = new Set(rows.map((row) => row.token));
      const missing = ids.filter((id) => !knownIds.has(id));
      if (missing.length > 0) rows.push(...(await tables.rows<PositionRow>(walletTokensSql(wallet, missing))));
      const found = new Map((await positionsOf(rows)).map((position) => [position.tokenId, position]));
      const positions = ids.flatMap((id) => found.get(id) ?? []);
      return { value: { positions, hasMore, maxAgeMs }, ageMs, hit: ageMs > 0 };
    },
  };
}
