import type { LogPosition } from './log-position.js';
import type { TokenQuery } from './tokens.sql.js';

/** Filter of fills after slugs and conditions were resolved to token ids. All conditions that are not null must be met. */
export interface FillFilter {
  /** Fills in which one of these wallets took part as `role`. */
  readonly wallets: readonly string[] | null;
  /** null: either role. A fill of a wallet with itself is one row, as maker. Ignored without `wallets`. */
  readonly role: 'maker' | 'taker' | null;
  readonly tokenIds: readonly string[] | null;
  /** Fills of tokens that are too many to be listed; `tokenIds` is null then. */
  readonly among: TokenQuery | null;
  readonly afterS: number | null;
  readonly beforeS: number | null;
  readonly orderHash: string | null;
  readonly minUsdc: bigint | null;
  readonly minMakerAmount: bigint | null;
  /** Base units; 1: fills with a fee. */
  readonly minFee: bigint | null;
  /** '': fills without a builder code. */
  readonly builder: string | null;
  /** Side of the signed order. */
  readonly side: 'BUY' | 'SELL' | null;
  /** Exchange generations, both ends included. */
  readonly versions: { readonly min: number; readonly max: number } | null;
  /** Each match once: excludes the takers' own rows, which repeat the makers' rows. */
  readonly matchesOnly: boolean;
  /** Only the takers' own rows. */
  readonly takerOrdersOnly: boolean;
  /** Exclusive bound: only fills after this one in the order of the page. */
  readonly beyond: LogPosition | null;
  /** Inclusive upper bound: the newest fill when the first page was read. */
  readonly atMost: LogPosition | null;
}

/** The filter without conditions. */
export const allFills: FillFilter = {
  wallets: null,
  role: null,
  tokenIds: null,
  among: null,
  afterS: null,
  beforeS: null,
  orderHash: null,
  minUsdc: null,
  minMakerAmount: null,
  minFee: null,
  builder: null,
  side: null,
  versions: null,
  matchesOnly: false,
  takerOrdersOnly: false,
  beyond: null,
  atMost: null,
};

/** Exchange generation whose tokens are combos. */
const COMBO_VERSION = 3;
export const withoutCombos = { min: 1, max: COMBO_VERSION - 1 } as const;
export const onlyCombos = { min: COMBO_VERSION, max: COMBO_VERSION } as const;

const MAX_UINT32 = 2 ** 32 - 1;

/** Seconds clamped to the range of the tables' DateTime columns; null for no value. */
export const clampToDateTimeSeconds = (value: number | null | undefined): number | null =>
  value === null || value === undefined ? null : Math.min(value, MAX_UINT32);

/** Both ends of a time range of a query for a filter. */
export const timeRangeOf = (after: number | null | undefined, before: number | null | undefined) => ({
  afterS: clampToDateTimeSeconds(after),
  beforeS: clampToDateTimeSeconds(before),
});

export const NO_BUILDER = `0x${'0'.repeat(64)}`;

/** The stored form of a builder code: '' for the code that means no builder. */
export const storedBuilderCode = (code: string | undefined): string | null =>
  code === NO_BUILDER ? '' : (code ?? null);

/** True if no fill can match. */
export const matchesNothing = (filter: FillFilter): boolean =>
  filter.tokenIds?.length === 0 || filter.wallets?.length === 0;

export interface Page {
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
}

const RECENT_S = 900;
/** Deepest page (offset + limit) that is first tried on recent fills only. */
const RECENT_ROWS = 1_000;

/**
 * The filter restricted to the last 15 minutes; null if that cannot help. The newest page of all fills is nearly always in this range, and ClickHouse
 * skips older parts by their time bounds. A full page of the restricted filter is a page of the filter, since block order is time order.
 */
export function recentFillsFilter(filter: FillFilter, page: Page, nowS: number): FillFilter | null {
  const sinceS = Math.floor(nowS) - RECENT_S;
  const narrow = [
    filter.wallets,
    filter.tokenIds,
    filter.among,
    filter.orderHash,
    filter.builder,
    filter.minUsdc,
    filter.minMakerAmount,
    filter.minFee,
    filter.beyond,
  ];
  if (page.order !== 'desc' || narrow.some((value) => value !== null)) return null;
  if (page.offset + page.limit > RECENT_ROWS) return null;
  if ((filter.afterS ?? 0) >= sinceS || (filter.beforeS ?? MAX_UINT32) < nowS) return null;
  return { ...filter, afterS: sinceS };
}
