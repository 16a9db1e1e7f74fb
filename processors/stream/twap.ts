import type { PriceTick } from '../../schemas/types.gen.js';
import { COMPUTED_SOURCE } from './frames/price-feed.js';

/** Averaging windows, seconds: those the oracle itself publishes. */
const TWAP_WINDOWS_S = [30, 60] as const;
/** A source that records spot prices only; every other source publishes its own TWAPs, which are passed on as they are. */
const SPOT_ONLY_SOURCE = 'recorded';
/** A spot price says nothing of the time this long after it. */
const MAX_GAP_MS = 10_000;
const WIDEST_MS = Math.max(...TWAP_WINDOWS_S) * 1000;

interface SpotPrice {
  readonly timestampMs: number;
  readonly price: bigint;
}

/** Time-weighted mean over (end - window, end]: each price holds until the next. null where the window is not covered without a gap. */
function timeWeightedMean(spots: readonly SpotPrice[], endMs: number, windowMs: number): bigint | null {
  const startMs = endMs - windowMs;
  let weighted = 0n;
  for (let index = spots.length - 2; index >= 0; index--) {
    const spot = spots[index] as SpotPrice;
    const until = (spots[index + 1] as SpotPrice).timestampMs;
    if (until - spot.timestampMs > MAX_GAP_MS) return null;
    const from = Math.max(spot.timestampMs, startMs);
    weighted += spot.price * BigInt(until - from);
    if (spot.timestampMs > startMs) continue;
    const window = BigInt(windowMs);
    return (weighted + window / 2n) / window;
  }
  return null;
}

/**
 * TWAP ticks for a source that has none: for every spot tick that goes on in time, one per window that is covered. Late ticks and
 * repeated seconds change nothing. Ids are those a tick of the oracle's own would have.
 */
export function createTwapCalculator() {
  const feeds = new Map<string, SpotPrice[]>();
  return {
    apply(tick: PriceTick): PriceTick[] {
      if (tick.is_twap || tick.source !== SPOT_ONLY_SOURCE) return [];
      const spots = feeds.get(tick.feed) ?? [];
      feeds.set(tick.feed, spots);
      const newest = spots.at(-1);
      if (newest !== undefined && tick.timestamp_ms <= newest.timestampMs) return [];
      spots.push({ timestampMs: tick.timestamp_ms, price: tick.price });
      // The last price at or before the widest window's start is still needed.
      while ((spots[1]?.timestampMs ?? Number.POSITIVE_INFINITY) <= tick.timestamp_ms - WIDEST_MS) spots.shift();
      return TWAP_WINDOWS_S.flatMap((window): PriceTick[] => {
        const price = timeWeightedMean(spots, tick.timestamp_ms, window * 1000);
        if (price === null) return [];
        return [
          {
            ...tick,
            id: `${tick.feed}@${window}-${tick.timestamp_ms}-0`,
            source: COMPUTED_SOURCE,
            price,
            bid: null,
            ask: null,
            is_twap: true,
            twap_window_s: window,
          },
        ];
      });
    },
  };
}
