import type { ChangeFeed } from '../catalog/change-feed.js';
import type { MetadataLookups } from '../catalog/metadata.js';
import { oppositeTokenOf } from '../catalog/metadata.js';
import type { YieldIfDue } from './background-throttle.js';
import type { HourlyClosesReader } from './hourly-closes.js';
import { priceStepsOf, settlementOf } from './price-steps.js';
import { newestTimeOf, servingHourOf, type TimeGrid } from './time-grid.js';

/** What a token was worth at the slots of a frame. */
export interface PriceHistory {
  /** A slot and the price from it on, 1e-6 USD, in turn; null where it was not asked for, as the token had been settled before. */
  readonly priceSteps: readonly number[] | null;
  /** From which slot on it is settled, and what it pays, 1e-6 USD; null while it is open at the newest slot. */
  readonly settled: { readonly bucketIndex: number; readonly price: bigint } | null;
}

/** Lines of tokens. `heldFrom`: tokens, and the slot from which their prices count; `turn`: awaited after each line that is put together. */
export type PriceHistoryReader = (
  frame: TimeGrid,
  firstBuckets: ReadonlyMap<string, number>,
  yieldIfDue: YieldIfDue,
) => Promise<ReadonlyMap<string, PriceHistory>>;

/** Frames of which lines are held: of the periods that are asked for, in this hour and the one before. */
const MAX_TIME_GRIDS = 4;
/** Of the lines of all frames: some 10 MB. */
const MAX_NUMBERS = 1_200_000;
/** What a line takes besides its marks, in numbers. */
const HISTORY_OVERHEAD_NUMBERS = 24;

interface CachedHistories {
  readonly timeGrid: TimeGrid;
  readonly histories: Map<string, PriceHistory>;
  numbers: number;
}

/**
 * Shared between wallets, and held while their frame serves: putting a line together takes ten times as long as following it. Lines of a frame into which
 * a trade or a settlement came late are put together anew. Those of a wallet's own frame are held with its series alone.
 */
export function createPriceHistoryReader(deps: {
  metadata: MetadataLookups;
  readHourlyCloses: HourlyClosesReader;
  changes: ChangeFeed;
}): PriceHistoryReader {
  const { metadata } = deps;
  /** The one used last comes last. */
  const cached = new Map<string, CachedHistories>();
  deps.changes.subscribe(['fills', 'resolutions'], (ids, _source, sinceS) => {
    for (const [name, { timeGrid }] of cached)
      if (ids === null || sinceS <= newestTimeOf(timeGrid)) cached.delete(name);
  });

  const cachedFor = (timeGrid: TimeGrid): CachedHistories => {
    const name = Object.values(timeGrid).join(' ');
    const held = cached.get(name) ?? { timeGrid, histories: new Map<string, PriceHistory>(), numbers: 0 };
    if (timeGrid.isWalletSpecific) return held;
    cached.delete(name);
    cached.set(name, held);
    while (cached.size > MAX_TIME_GRIDS) cached.delete(cached.keys().next().value as string);
    return held;
  };
  /** Frames of earlier hours make way. */
  const hasCapacity = (frame: TimeGrid): boolean => {
    for (;;) {
      let numbers = 0;
      for (const held of cached.values()) numbers += held.numbers;
      if (numbers < MAX_NUMBERS) return true;
      const earlier = [...cached].find(([, held]) => servingHourOf(held.timeGrid) < servingHourOf(frame));
      if (earlier === undefined) return false;
      cached.delete(earlier[0]);
    }
  };

  const read = async (
    ...[frame, heldFrom, turn]: Parameters<PriceHistoryReader>
  ): Promise<Map<string, PriceHistory>> => {
    const tokens = await metadata.tokensOf([...heldFrom.keys()]);
    const conditions = [...tokens.values()].flatMap((about) => (about === null ? [] : [about.conditionId]));
    const [markets, resolutions] = await Promise.all([
      metadata.marketsOf(conditions),
      metadata.resolutionsOf(conditions),
    ]);
    const settled = new Map<string, NonNullable<PriceHistory['settled']>>();
    const priced = new Set<string>();
    const otherOf = new Map<string, string>();
    for (const [token, about] of tokens) {
      await turn();
      const resolution = about === null ? null : (resolutions.get(about.conditionId) ?? null);
      const settlement = settlementOf(about, resolution, frame);
      if (settlement !== null) {
        settled.set(token, settlement);
        // What was settled before it is first seen held needs no other price.
        if (settlement.bucketIndex <= (heldFrom.get(token) ?? 0)) continue;
      }
      priced.add(token);
      if (about === null) continue;
      const tokenIds = markets.get(about.conditionId)?.tokenIds ?? [];
      const { outcomeIndex } = about;
      const other = about.otherTokenId ?? oppositeTokenOf({ outcomeIndex, tokenIds });
      if (other !== null) otherOf.set(token, other);
    }
    const closes = await deps.readHourlyCloses([...new Set([...priced, ...otherOf.values()])], frame.startS);
    const historyOf = (token: string): PriceHistory => {
      const other = otherOf.get(token);
      return {
        priceSteps: priced.has(token)
          ? priceStepsOf(frame, closes(token), other === undefined ? [] : closes(other))
          : null,
        settled: settled.get(token) ?? null,
      };
    };
    const lines = new Map<string, PriceHistory>();
    for (const token of heldFrom.keys()) {
      lines.set(token, historyOf(token));
      await turn();
    }
    return lines;
  };

  return async (frame, heldFrom, turn) => {
    await deps.changes.sync();
    const held = cachedFor(frame);
    const found = new Map<string, PriceHistory>();
    const missing = new Map<string, number>();
    for (const [token, slot] of heldFrom) {
      const line = held.histories.get(token);
      const serves =
        line !== undefined && (line.priceSteps !== null || (line.settled !== null && line.settled.bucketIndex <= slot));
      if (serves) found.set(token, line);
      else missing.set(token, slot);
    }
    if (missing.size === 0) return found;
    const isRoom = frame.isWalletSpecific || hasCapacity(frame);
    for (const [token, line] of await read(frame, missing, turn)) {
      found.set(token, line);
      if (!isRoom) continue;
      held.histories.set(token, line);
      held.numbers += HISTORY_OVERHEAD_NUMBERS + (line.priceSteps?.length ?? 0);
    }
    return found;
  };
}
