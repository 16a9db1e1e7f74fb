import type { PriceTick } from '../../schemas/types.gen.js';
import { COMPUTED_SOURCE } from './frames/price-feed.js';

/** Averaging windows in seconds, as the oracle publishes them. */
const TWAP_WINDOWS_S = [30, 60] as const;
/** The only source without TWAPs. TWAPs of other sources are published unchanged. */
const SPOT_ONLY_SOURCE = 'recorded';
/** Longest time after its timestamp for which a spot price is valid. */
const MAX_GAP_MS = 10_000;
const WIDEST_MS = Math.max(...TWAP_WINDOWS_S) * 1000;

interface SpotPrice {
  readonly timestampMs: number;
  readonly price: bigint;
}

/** Time-weighted mean over (end - window, end]; each price is valid until the next. null when the window has a gap or is not covered. */
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
 * Computes TWAP ticks for a source without TWAPs: for every spot tick with a newer timestamp, one per covered window. Ticks with the same or
 * an older timestamp have no effect. Ids have the format of the oracle's TWAP ticks.
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
      // Retains the last price at or before the start of the widest window.
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
