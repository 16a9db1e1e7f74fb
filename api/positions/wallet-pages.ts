import { type Cached, createTtlCache } from '../cache/ttl-cache.js';
import type { Lookup } from '../catalogue/held-lookup.js';
import type { Rankings } from '../catalogue/rankings.js';
import type { Tables } from '../tables/port.js';
import { type Outcome, unknownOutcome } from './outcomes.js';
import { type HeldPosition, marked, type Position, type Price, positionFrom, unpriced } from './position.js';
import type { PositionRow } from './positions.sql.js';
import { MAX_POSITIONS } from './reader.js';
import {
  firstRowsOf,
  type WalletOrderRow,
  type WalletSort,
  walletFirstSql,
  walletNamesSql,
  walletOrderSql,
  walletTokensSql,
} from './wallet-pages.sql.js';

/** What a filter may know of a position. */
export type BriefPosition = Pick<Position, 'tokenId' | 'size' | 'price' | 'currentValue' | 'lastRedeemedAtS'>;

export interface WalletPage {
  readonly wallet: string;
  readonly sort: WalletSort;
  readonly order: 'asc' | 'desc';
  readonly combos: boolean;
  /** null: all of them. */
  readonly wanted: ((position: BriefPosition) => boolean) | null;
  /** Names the caller, the wallet and all of the question but where its page begins. */
  readonly walk: string;
  readonly offset: number;
  readonly limit: number;
}

/** How old a copy may be: of a wallet with up to a thousand positions, and with more, which take long to read. */
export interface Ages {
  readonly fewMs: number;
  readonly manyMs: number;
}

export interface WalletPages {
  /**
   * A page of a wallet's positions by a measure, ties by token, combos after the others; of the first MAX_POSITIONS in that order. What it is cut from
   * is at most `maxAgeMs` old: one of `ages`, by how many positions the wallet has.
   */
  page(
    page: WalletPage,
    ages: Ages,
  ): Promise<Cached<{ positions: readonly HeldPosition[]; hasMore: boolean; maxAgeMs: number }>>;
}

/** A wallet's positions in order: three lists of the same length, and the rows of the first of them. */
interface Order extends Omit<WalletOrderRow, 'first'> {
  readonly first: readonly PositionRow[];
}

/** How a wallet's order begins. */
interface WalletBeginning {
  readonly tokens: readonly string[];
  readonly whole: boolean;
  /** Rows of the first page, and one more. */
  readonly first: readonly PositionRow[];
}

/** Positions behind a first page that its walk is sure to have in the order they had then. */
const BEGINNING = 1_000;
/** Some megabyte. */
const MAX_LARGE = 10_000;
/** In rows of some 500 bytes. */
const MAX_HELD = 8_000;
/** Of an order without rows in it, per position, in rows. */
const ORDER_WEIGHT = 0.25;

/**
 * Pages of single wallets, of few positions or very many. The first page is read; where there is more, how the order begins with it, and the rest when a page
 * from there is asked for. Where only some are wanted, the order of all is read at once.
 */
export function createWalletPages(deps: {
  tables: Tables;
  rankings: Rankings;
  prices: Lookup<Price>;
  outcomesOf: Lookup<Outcome>;
  nowMs: () => number;
  holding?: (() => unknown) | undefined;
}): WalletPages {
  const { tables, rankings, prices, outcomesOf, nowMs } = deps;
  const held = createTtlCache({
    maxEntries: 2_000,
    nowMs,
    holding: deps.holding,
    weigh: (value) => {
      const { tokens, first } = value as Order | WalletBeginning;
      return 1 + tokens.length * ORDER_WEIGHT + first.length;
    },
    maxWeight: MAX_HELD,
    packing: { pack: (value) => JSON.stringify(value), unpack: (text) => JSON.parse(text) },
  });
  const positionsOf = async (rows: readonly PositionRow[]): Promise<readonly HeldPosition[]> => {
    const tokenIds = rows.map((row) => row.token);
    const [priceOf, aboutOf] = await Promise.all([prices(tokenIds), outcomesOf(tokenIds)]);
    return rows.map((row) => ({
      ...positionFrom(row, priceOf.get(row.token) ?? unpriced),
      about: aboutOf.get(row.token) ?? unknownOutcome,
    }));
  };
  const orderOf = async ({ wallet, sort, order, combos, offset, limit }: WalletPage): Promise<Order> => {
    const by = { sort, order, combos, rows: MAX_POSITIONS, shown: offset === 0 ? limit : 0 };
    const [row] = await tables.rows<WalletOrderRow>(walletOrderSql(wallet, by));
    if (row === undefined) return { tokens: [], sizes: [], redeemed: [], first: [] };
    return { ...row, first: firstRowsOf(wallet, row) };
  };
  const namesOf = async (page: WalletPage, rows: number): Promise<readonly string[]> => {
    const [row] = await tables.rows<{ tokens: readonly string[] }>(walletNamesSql(page.wallet, { ...page, rows }));
    return row?.tokens ?? [];
  };
  /** Wallets that were found to have more positions than a first page: what else is to be read of them is asked for at the same time. */
  const large = new Set<string>();
  const beginningOf = async (page: WalletPage): Promise<WalletBeginning> => {
    const { wallet, combos, limit } = page;
    const size = `${wallet} ${combos} ${limit}`;
    const read = () => namesOf(page, BEGINNING + limit);
    const early = large.has(size) ? read() : null;
    const [first, known] = await Promise.all([
      tables.rows<PositionRow>(walletFirstSql(wallet, { ...page, rows: limit + 1 })),
      early,
    ]);
    const shown = first.map((row) => row.token);
    if (first.length <= limit) return { tokens: shown, whole: true, first };
    if (large.size >= MAX_LARGE) large.clear();
    large.add(size);
    const tokens = known ?? (await read());
    const before = new Set(shown);
    // The two statements may see different moments.
    const listed = [...shown, ...tokens.filter((token) => !before.has(token))];
    return { tokens: listed, whole: tokens.length < BEGINNING + limit, first };
  };
  const wantedOf = async ({ tokens, sizes, redeemed }: Order, wanted: NonNullable<WalletPage['wanted']>) => {
    const priceOf = await prices(tokens);
    return tokens.filter((tokenId, n) => {
      const size = BigInt(sizes[n] as string);
      const price = priceOf.get(tokenId) ?? unpriced;
      const redeemedS = Number(redeemed[n]);
      const currentValue = price.usd === null ? 0n : marked(size, price.usd);
      return wanted({ tokenId, size, price, currentValue, lastRedeemedAtS: redeemedS === 0 ? null : redeemedS });
    });
  };

  return {
    async page(page, { fewMs, manyMs }) {
      const { wallet, wanted, walk, offset, limit } = page;
      let ageMs = 0;
      let maxAgeMs = fewMs;
      let known: readonly PositionRow[] = [];
      const name = `${wallet} ${page.sort} ${page.order} ${page.combos} ${fewMs} ${manyMs}`;
      const { ids, hasMore } = await rankings.page({
        walk,
        offset,
        limit,
        async load() {
          // What a walk goes on with must not be older than how it began.
          if (wanted === null) return namesOf(page, MAX_POSITIONS);
          const ageOf = ({ tokens }: Order) => (tokens.length > BEGINNING ? manyMs : fewMs);
          const order = await held.get(name, ageOf, () => orderOf(page));
          ageMs = order.ageMs;
          maxAgeMs = ageOf(order.value);
          known = order.value.first;
          return wantedOf(order.value, wanted);
        },
        ...(wanted === null && {
          async begin() {
            const ageOf = ({ whole }: WalletBeginning) => (whole ? fewMs : manyMs);
            const found = await held.get(`${name} ${limit}`, ageOf, () => beginningOf(page));
            ageMs = found.ageMs;
            maxAgeMs = ageOf(found.value);
            known = found.value.first;
            return { ids: found.value.tokens, whole: found.value.whole };
          },
        }),
      });
      const asked = new Set(ids);
      const rows = known.filter((row) => asked.has(row.token));
      const there = new Set(rows.map((row) => row.token));
      const missing = ids.filter((id) => !there.has(id));
      if (missing.length > 0) rows.push(...(await tables.rows<PositionRow>(walletTokensSql(wallet, missing))));
      const found = new Map((await positionsOf(rows)).map((position) => [position.tokenId, position]));
      const positions = ids.flatMap((id) => found.get(id) ?? []);
      return { value: { positions, hasMore, maxAgeMs }, ageMs, hit: ageMs > 0 };
    },
  };
}
