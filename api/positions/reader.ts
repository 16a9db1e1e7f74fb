import type { Cached, ResponseCache } from '../cache/response-cache.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import { MAX_RANKED } from '../catalog/markets.sql.js';
import type { TaggedTokens } from '../catalog/tagged-tokens.js';
import { compareNumbers, compareTexts, type RankOrder } from '../pagination/ranked-page.js';
import type { Tables } from '../tables/port.js';
import { type OutcomeMetadata, unknownOutcomeMetadata } from './outcomes.js';
import { type SpanRow, tradeSpansSql } from './pnl-events.sql.js';
import {
  type Position,
  type PositionWithMetadata,
  type Price,
  positionFrom,
  positionId,
  unpriced,
} from './position.js';
import {
  type HolderFilter,
  type HolderSort,
  holderOrderSql,
  isPricedSort,
  NO_PRICE,
  type PositionPage,
  type PositionRow,
  positionPageSql,
  positionsSql,
  type WalletSelection,
  WINDOWS,
  walletCombosSql,
  walletPositionsSql,
} from './positions.sql.js';

/** Maximum number of positions read per wallet: open ones first, then those with the latest activity. */
export const MAX_POSITIONS = 20_000;
/** The same in descriptions of routes. */
export const MAX_POSITIONS_TEXT = MAX_POSITIONS.toLocaleString('en');

/** A list of a wallet's positions. `isPartial`: there are more than MAX_POSITIONS. */
export type WalletPositions = Cached<readonly PositionWithMetadata[]> & { readonly isPartial: boolean };

const parsePositionId = (id: string): readonly [string, string] => {
  const at = id.indexOf('-');
  return [id.slice(0, at), id.slice(at + 1)];
};

/** A position id and the value by which the position is ranked. */
export interface RankedPosition {
  readonly id: string;
  readonly value: bigint;
}

/** Order of lists of ranked positions: equal values by wallet, then token. */
export const byRank = (direction: 'asc' | 'desc'): RankOrder<RankedPosition> => ({
  value: (one) => one.value,
  id: (one) => one.id,
  direction,
  compareIds(a, b) {
    const [[walletA, tokenA], [walletB, tokenB]] = [parsePositionId(a), parsePositionId(b)];
    return compareTexts(walletA, walletB) || compareNumbers(tokenA, tokenB);
  },
});

export type PositionReader = ReturnType<typeof createPositionReader>;

/** Positions with their prices and outcome metadata. */
export async function withMetadata(
  { prices, outcomesOf }: { readonly prices: Lookup<Price>; readonly outcomesOf: Lookup<OutcomeMetadata> },
  rows: readonly PositionRow[],
): Promise<readonly PositionWithMetadata[]> {
  const tokenIds = rows.map((row) => row.token);
  const [priceOf, metadataOf] = await Promise.all([prices(tokenIds), outcomesOf(tokenIds)]);
  return rows.map((row) => ({
    ...positionFrom(row, priceOf.get(row.token) ?? unpriced),
    metadata: metadataOf.get(row.token) ?? unknownOutcomeMetadata,
  }));
}

/** Adds the last redemption of the condition by the wallet: a position that had no shares then does not know it. */
function withClosedAt(positions: readonly PositionWithMetadata[]): readonly PositionWithMetadata[] {
  const lastByCondition = new Map<string | null, number>();
  for (const { lastRedeemedAtS: at, metadata } of positions) {
    const { conditionId: id } = metadata;
    if (id !== null && at !== null) lastByCondition.set(id, Math.max(at, lastByCondition.get(id) ?? at));
  }
  return positions.map((one) => ({ ...one, closedAtS: lastByCondition.get(one.metadata.conditionId) }));
}

/** Whether a page may be looked for among the next rows of the table; other filters could exclude most of them. */
const hasNextRows = ({ tokens, status, minSize }: PositionPage): boolean =>
  tokens?.among?.tagLists != null && status === 'all' && minSize === null;

/** Reads positions and their events from the tables of the positions processor. */
export function createPositionReader(deps: {
  tables: Tables;
  cache: ResponseCache;
  prices: Lookup<Price>;
  outcomesOf: Lookup<OutcomeMetadata>;
  taggedTokens: TaggedTokens;
}) {
  const { tables, prices } = deps;
  /** The page, if it lies among the next rows of the table: true of tags with most of the positions. Otherwise null. */
  const taggedRows = async (page: PositionPage): Promise<readonly PositionRow[] | null> => {
    const lists = page.tokens?.among?.tagLists ?? null;
    if (lists === null || !hasNextRows(page)) return null;
    const rows = WINDOWS[0] * page.rows;
    // The window counts versions of a position singly, so fewer rows do not mean the end of the table.
    const next = await tables.rows<PositionRow>(positionPageSql({ ...page, tokens: null, rows }, 1));
    const tagged = await deps.taggedTokens(
      next.map((row) => row.token),
      lists,
    );
    const found = next.filter((row) => tagged.has(row.token)).slice(0, page.rows);
    return found.length === page.rows ? found : null;
  };
  const pageRows = async (page: PositionPage): Promise<readonly PositionRow[]> => {
    const rows = await taggedRows(page);
    if (rows !== null) return rows;
    const windows = page.tokens?.tokenIds ? [] : hasNextRows(page) ? WINDOWS.slice(1) : WINDOWS;
    for (const window of windows) {
      const found = await tables.rows<PositionRow>(positionPageSql(page, window));
      if (found.length === page.rows) return found;
    }
    return tables.rows<PositionRow>(positionPageSql(page, null));
  };
  return {
    prices,
    /**
     * Positions of a wallet with prices and outcome metadata, at most MAX_POSITIONS: open ones first, then by last activity, newest first. The result is
     * cached for up to `ttlMs` and shared by all callers with the same `ttlMs`. The caller filters and sorts it; if it is partial, the caller reads those
     * of a `selection` instead, because the others may be among the ones left out.
     */
    async ofWallet(wallet: string, ttlMs: number, selection: WalletSelection = {}): Promise<WalletPositions> {
      const { tokens, status, minSize, first } = selection;
      const name = `wallet positions ${wallet} ${ttlMs} ${tokens} ${status} ${minSize} ${first}`;
      const cached = await deps.cache.get(name, ttlMs, async () => {
        const rows = await tables.rows<PositionRow>(walletPositionsSql(wallet, selection, MAX_POSITIONS + 1));
        const listed = withClosedAt(await withMetadata(deps, rows.slice(0, MAX_POSITIONS)));
        return { listed, isPartial: rows.length > MAX_POSITIONS };
      });
      return { ...cached, value: cached.value.listed, isPartial: cached.value.isPartial };
    },
    /** Combo positions of a wallet, open and closed. */
    async comboPositionsOf(wallet: string): Promise<readonly Position[]> {
      const rows = await tables.rows<PositionRow>(walletCombosSql(wallet, MAX_POSITIONS));
      const priceOf = await prices(rows.map((row) => row.token));
      return rows.map((row) => positionFrom(row, priceOf.get(row.token) ?? unpriced));
    },
    /** Position ids and sort values of the holders of tokens in the given order, at most MAX_RANKED. `settled`: only of tokens that are, or are not; null: of all. */
    async rankedHolders(
      { settled = null, ...filter }: HolderFilter & { readonly settled?: boolean | null },
      sort: HolderSort,
      order: 'asc' | 'desc',
    ): Promise<readonly RankedPosition[]> {
      const isPriced = settled !== null || isPricedSort(sort);
      const priceOf = isPriced ? await prices(filter.tokenIds) : new Map<string, Price>();
      const isSettled = (token: string) => priceOf.get(token)?.source === 'settlement';
      const tokenIds = filter.tokenIds.filter((token) => settled === null || isSettled(token) === settled);
      if (tokenIds.length === 0 || filter.wallets?.length === 0) return [];
      const listed = tokenIds.map((token) => priceOf.get(token)?.usd ?? NO_PRICE);
      const by = { sort, order, prices: listed, rows: MAX_RANKED };
      const rows = await tables.rows<{ wallet: string; token: string; value: string }>(
        holderOrderSql({ ...filter, tokenIds }, by),
      );
      return rows.map((row) => ({
        id: positionId({ wallet: row.wallet, tokenId: row.token }),
        value: BigInt(row.value),
      }));
    },
    /** Positions in the order of their ids; `beyond` continues after the last one of a page without a gap. */
    async page(page: PositionPage): Promise<readonly Position[]> {
      if (page.tokens?.tokenIds?.length === 0) return [];
      const rows = await pageRows(page);
      const priceOf = await prices([...new Set(rows.map((row) => row.token))]);
      return rows.map((row) => positionFrom(row, priceOf.get(row.token) ?? unpriced));
    },
    /** Positions by id, in the order of the ids; ids without a position are omitted. */
    async byId(ids: readonly string[]): Promise<readonly Position[]> {
      if (ids.length === 0) return [];
      const pairs = ids.map(parsePositionId);
      const tokenIds = pairs.map(([, token]) => token);
      const [rows, priceOf] = await Promise.all([
        tables.rows<PositionRow>(
          positionsSql(
            pairs.map(([wallet]) => wallet),
            tokenIds,
          ),
        ),
        prices([...new Set(tokenIds)]),
      ]);
      const found = new Map(
        rows.map((row) => {
          const position = positionFrom(row, priceOf.get(row.token) ?? unpriced);
          return [positionId(position), position] as const;
        }),
      );
      return ids.flatMap((id) => found.get(id) ?? []);
    },
    /** First and last fill of positions, by position id; positions without a fill are omitted. */
    async tradeSpans(
      positions: readonly Pick<Position, 'wallet' | 'tokenId' | 'fills' | 'firstAtS'>[],
    ): Promise<ReadonlyMap<string, { readonly firstS: number; readonly lastS: number }>> {
      const traded = positions.filter((position) => position.fills > 0);
      if (traded.length === 0) return new Map();
      const each = (of: (position: (typeof traded)[number]) => string) => [...new Set(traded.map(of))];
      const fromS = Math.min(...traded.map((position) => position.firstAtS));
      const rows = await tables.rows<SpanRow>(
        tradeSpansSql(
          each((position) => position.wallet),
          each((position) => position.tokenId),
          fromS,
        ),
      );
      return new Map(
        rows.map((row) => [
          positionId({ wallet: row.wallet, tokenId: row.token }),
          { firstS: Number(row.first), lastS: Number(row.last) },
        ]),
      );
    },
  };
}
