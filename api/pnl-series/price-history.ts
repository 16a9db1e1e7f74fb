import type { ChangeFeed } from '../catalog/change-feed.js';
import type { MetadataLookups } from '../catalog/metadata.js';
import { oppositeTokenOf } from '../catalog/metadata.js';
import type { YieldIfDue } from './background-throttle.js';
import type { HourlyClosesReader } from './hourly-closes.js';
import { priceStepsOf, settlementOf } from './price-steps.js';
import { newestTimeOf, servingHourOf, type TimeGrid } from './time-grid.js';

/** Prices of a token in the buckets of a grid. */
export interface PriceHistory {
  /** Alternating bucket index and price from it on, 1e-6 USD; null if not read because the token settled before. */
  readonly priceSteps: readonly number[] | null;
  /** Bucket from which the token is settled, and its payout, 1e-6 USD; null if it is open in the newest bucket. */
  readonly settled: { readonly bucketIndex: number; readonly price: bigint } | null;
}

/** Reads price histories. `firstBuckets`: first bucket with shares by token, from which prices are needed; `yieldIfDue`: awaited after each history. */
export type PriceHistoryReader = (
  timeGrid: TimeGrid,
  firstBuckets: ReadonlyMap<string, number>,
  yieldIfDue: YieldIfDue,
) => Promise<ReadonlyMap<string, PriceHistory>>;

/** Number of cached grids: of the requested periods, for this hour and the previous one. */
const MAX_TIME_GRIDS = 4;
/** Capacity of all histories in numbers: 10 MB. */
const MAX_NUMBERS = 1_200_000;
/** Overhead of a history besides its price steps, in numbers. */
const HISTORY_OVERHEAD_NUMBERS = 24;

interface CachedHistories {
  readonly timeGrid: TimeGrid;
  readonly histories: Map<string, PriceHistory>;
  numbers: number;
}

/**
 * Caches price histories for all wallets per grid, because computing one takes ten times as long as reading it. A late trade or settlement discards the history.
 * Histories of a wallet-specific grid are not cached here, only within the wallet's series.
 */
export function createPriceHistoryReader(deps: {
  metadata: MetadataLookups;
  readHourlyCloses: HourlyClosesReader;
  changes: ChangeFeed;
}): PriceHistoryReader {
  const { metadata } = deps;
  /** By use: the most recently used grid is last. */
  const cached = new Map<string, CachedHistories>();
  deps.changes.subscribe(['fills', 'resolutions'], (ids, _source, sinceS) => {
    for (const [name, { timeGrid }] of cached)
      if (ids === null || sinceS <= newestTimeOf(timeGrid)) cached.delete(name);
  });

  const cachedFor = (timeGrid: TimeGrid): CachedHistories => {
    const name = Object.values(timeGrid).join(' ');
    const entry = cached.get(name) ?? { timeGrid, histories: new Map<string, PriceHistory>(), numbers: 0 };
    if (timeGrid.isWalletSpecific) return entry;
    cached.delete(name);
    cached.set(name, entry);
    while (cached.size > MAX_TIME_GRIDS) cached.delete(cached.keys().next().value as string);
    return entry;
  };
  /** True if a history can be cached; evicts grids of earlier hours. */
  const hasCapacity = (timeGrid: TimeGrid): boolean => {
    for (;;) {
      let numbers = 0;
      for (const entry of cached.values()) numbers += entry.numbers;
      if (numbers < MAX_NUMBERS) return true;
      const earlier = [...cached].find(([, entry]) => servingHourOf(entry.timeGrid) < servingHourOf(timeGrid));
      if (earlier === undefined) return false;
      cached.delete(earlier[0]);
    }
  };

  const read = async (
    ...[timeGrid, firstBuckets, yieldIfDue]: Parameters<PriceHistoryReader>
  ): Promise<Map<string, PriceHistory>> => {
    const tokens = await metadata.tokensOf([...firstBuckets.keys()]);
    const conditions = [...tokens.values()].flatMap((token) => (token === null ? [] : [token.conditionId]));
    const [markets, resolutions] = await Promise.all([
      metadata.marketsOf(conditions),
      metadata.resolutionsOf(conditions),
    ]);
    const settled = new Map<string, NonNullable<PriceHistory['settled']>>();
    const priced = new Set<string>();
    const otherOf = new Map<string, string>();
    for (const [token, tokenMetadata] of tokens) {
      await yieldIfDue();
      const resolution = tokenMetadata === null ? null : (resolutions.get(tokenMetadata.conditionId) ?? null);
      const settlement = settlementOf(tokenMetadata, resolution, timeGrid);
      if (settlement !== null) {
        settled.set(token, settlement);
        // Prices before the first bucket with shares are not needed.
        if (settlement.bucketIndex <= (firstBuckets.get(token) ?? 0)) continue;
      }
      priced.add(token);
      if (tokenMetadata === null) continue;
      const tokenIds = markets.get(tokenMetadata.conditionId)?.tokenIds ?? [];
      const { outcomeIndex } = tokenMetadata;
      const other = tokenMetadata.otherTokenId ?? oppositeTokenOf({ outcomeIndex, tokenIds });
      if (other !== null) otherOf.set(token, other);
    }
    const closes = await deps.readHourlyCloses([...new Set([...priced, ...otherOf.values()])], timeGrid.startS);
    const historyOf = (token: string): PriceHistory => {
      const other = otherOf.get(token);
      return {
        priceSteps: priced.has(token)
          ? priceStepsOf(timeGrid, closes(token), other === undefined ? [] : closes(other))
          : null,
        settled: settled.get(token) ?? null,
      };
    };
    const result = new Map<string, PriceHistory>();
    for (const token of firstBuckets.keys()) {
      result.set(token, historyOf(token));
      await yieldIfDue();
    }
    return result;
  };

  return async (timeGrid, firstBuckets, yieldIfDue) => {
    await deps.changes.sync();
    const cachedGrid = cachedFor(timeGrid);
    const found = new Map<string, PriceHistory>();
    const missing = new Map<string, number>();
    for (const [token, bucketIndex] of firstBuckets) {
      const history = cachedGrid.histories.get(token);
      const isCovered =
        history !== undefined &&
        (history.priceSteps !== null || (history.settled !== null && history.settled.bucketIndex <= bucketIndex));
      if (isCovered) found.set(token, history);
      else missing.set(token, bucketIndex);
    }
    if (missing.size === 0) return found;
    const canCache = timeGrid.isWalletSpecific || hasCapacity(timeGrid);
    for (const [token, history] of await read(timeGrid, missing, yieldIfDue)) {
      found.set(token, history);
      if (!canCache) continue;
      cachedGrid.histories.set(token, history);
      cachedGrid.numbers += HISTORY_OVERHEAD_NUMBERS + (history.priceSteps?.length ?? 0);
    }
    return found;
  };
}
