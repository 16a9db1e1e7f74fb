import { isComboPosition } from '../../schemas/primitives/combo-ids.js';
import { type Cached, createTtlCache } from '../cache/ttl-cache.js';
import type { Lookup } from '../catalogue/held-lookup.js';
import type { Rankings } from '../catalogue/rankings.js';
import type { Tables } from '../tables/port.js';
import { type Outcome, unknownOutcome } from './outcomes.js';
import { type HeldPosition, marked, type Position, type Price, positionFrom, unpriced } from './position.js';
import { type PositionRow, walletPositionsSql } from './positions.sql.js';
import { MAX_POSITIONS } from './reader.js';
import { type WalletOrderRow, type WalletSort, walletOrderSql, walletTokensSql } from './wallet-pages.sql.js';

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

export interface WalletPages {
  /**
   * A page of a wallet's positions by a measure, ties by token, combos after the others; of the first MAX_POSITIONS in that order. What it is cut from
   * is at most `ttlMs` old.
   */
  page(page: WalletPage, ttlMs: number): Promise<Cached<{ positions: readonly HeldPosition[]; hasMore: boolean }>>;
}

/** Wallets with more positions are read in two steps: the order of all of them, then the rows of the page. */
const SMALL = 250;
/** A wallet that was large is taken for large so long. */
const LARGE_MS = 600_000;
const MAX_LARGE = 10_000;
/** Some 20 MB. */
const MAX_HELD = 20_000;

const measures: Readonly<Record<WalletSort, (position: Position) => bigint>> = {
  realized_pnl: (position) => position.realizedPnl,
  size: (position) => position.size,
  total_bought: (position) => position.totalBought,
  avg_price: (position) => position.avgPrice,
  last_at: (position) => BigInt(position.lastAtS),
};

/** The order of `walletOrderSql`. */
function inOrder(positions: readonly HeldPosition[], { sort, order, combos }: WalletPage): readonly HeldPosition[] {
  const sign = order === 'asc' ? 1 : -1;
  const keyed = positions.map((position) => ({
    position,
    combo: isComboPosition(position.tokenId),
    key: measures[sort](position),
    token: BigInt(position.tokenId),
  }));
  const listed = combos ? keyed : keyed.filter(({ combo }) => !combo);
  listed.sort((a, b) => {
    if (a.combo !== b.combo) return a.combo ? 1 : -1;
    if (a.key !== b.key) return a.key < b.key ? -sign : sign;
    return a.token < b.token ? -1 : 1;
  });
  return listed.map(({ position }) => position);
}

/** Pages of single wallets, of few positions or very many. */
export function createWalletPages(deps: {
  tables: Tables;
  rankings: Rankings;
  prices: Lookup<Price>;
  outcomesOf: Lookup<Outcome>;
  nowMs: () => number;
  /** Most positions that are read as a whole. */
  small?: number;
}): WalletPages {
  const { tables, rankings, prices, outcomesOf, nowMs } = deps;
  const small = deps.small ?? SMALL;
  const largeUntilMs = new Map<string, number>();
  const held = createTtlCache({
    maxEntries: 2_000,
    nowMs,
    weigh: (value) =>
      Array.isArray(value) ? value.length : ((value as WalletOrderRow | null)?.tokens.length ?? 0) / 4,
    maxWeight: MAX_HELD,
  });
  const positionsOf = async (rows: readonly PositionRow[]): Promise<readonly HeldPosition[]> => {
    const tokenIds = rows.map((row) => row.token);
    const [priceOf, aboutOf] = await Promise.all([prices(tokenIds), outcomesOf(tokenIds)]);
    return rows.map((row) => ({
      ...positionFrom(row, priceOf.get(row.token) ?? unpriced),
      about: aboutOf.get(row.token) ?? unknownOutcome,
    }));
  };
  const wholeOf = async (wallet: string): Promise<readonly HeldPosition[] | null> => {
    const rows = await tables.rows<PositionRow>(walletPositionsSql(wallet, small + 1));
    if (rows.length <= small) return positionsOf(rows);
    largeUntilMs.delete(wallet);
    largeUntilMs.set(wallet, nowMs() + LARGE_MS);
    for (const oldest of largeUntilMs.keys()) {
      if (largeUntilMs.size <= MAX_LARGE) break;
      largeUntilMs.delete(oldest);
    }
    return null;
  };
  const orderOf = async ({ wallet, sort, order, combos }: WalletPage): Promise<WalletOrderRow> => {
    const [row] = await tables.rows<WalletOrderRow>(
      walletOrderSql(wallet, { sort, order, combos, rows: MAX_POSITIONS }),
    );
    return row ?? { tokens: [], sizes: [], redeemed: [] };
  };
  const wantedOf = async ({ tokens, sizes, redeemed }: WalletOrderRow, wanted: WalletPage['wanted']) => {
    if (wanted === null) return tokens;
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
    async page(page, ttlMs) {
      const { wallet, wanted, walk, offset, limit } = page;
      const large = (largeUntilMs.get(wallet) ?? 0) > nowMs();
      const whole = large ? null : await held.get(`${wallet} ${ttlMs}`, ttlMs, () => wholeOf(wallet));
      if (whole !== null && whole.value !== null) {
        const positions = whole.value;
        const load = async () =>
          inOrder(wanted === null ? positions : positions.filter(wanted), page).map((position) => position.tokenId);
        const { ids, hasMore } = await rankings.page({ walk, offset, limit, load });
        const found = new Map(positions.map((position) => [position.tokenId, position]));
        return { ...whole, value: { positions: ids.flatMap((id) => found.get(id) ?? []), hasMore } };
      }
      let ageMs = 0;
      const { ids, hasMore } = await rankings.page({
        walk,
        offset,
        limit,
        async load() {
          const name = `${wallet} ${page.sort} ${page.order} ${page.combos} ${ttlMs}`;
          const order = await held.get(name, ttlMs, () => orderOf(page));
          ageMs = order.ageMs;
          return wantedOf(order.value, wanted);
        },
      });
      const rows = ids.length === 0 ? [] : await tables.rows<PositionRow>(walletTokensSql(wallet, ids));
      const found = new Map((await positionsOf(rows)).map((position) => [position.tokenId, position]));
      const positions = ids.flatMap((id) => found.get(id) ?? []);
      return { value: { positions, hasMore }, ageMs, hit: ageMs > 0 };
    },
  };
}
