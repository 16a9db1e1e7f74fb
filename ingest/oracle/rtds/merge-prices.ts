import type { OracleLiveEvent, OraclePrice } from '../source.js';

/** Prices of one merged event: an append of them stays well below the limits of a log. */
export const MAX_MERGED_PRICES = 5000;

/**
 * The events in their order, with consecutive prices as one event: the writer appends each event by itself, and appending takes about as
 * long for many prices as for one.
 */
export function mergePrices(events: readonly OracleLiveEvent[]): OracleLiveEvent[] {
  const merged: OracleLiveEvent[] = [];
  let open: OraclePrice[] | null = null;
  for (const event of events) {
    if (event.type !== 'prices') {
      open = null;
      merged.push(event);
      continue;
    }
    if (open === null || open.length + event.prices.length > MAX_MERGED_PRICES) {
      open = [];
      merged.push({ type: 'prices', prices: open });
    }
    for (const price of event.prices) open.push(price);
  }
  return merged;
}
