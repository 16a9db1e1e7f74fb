// How many candles to request again when new trades have come.

const SECONDS = { '1m': 60, '5m': 300, '15m': 900, '1h': 3_600, '4h': 14_400, '1d': 86_400 };
const FEWEST = 3;

/**
 * Number of candles from the last one shown, which may have changed, to the running one; null: more than `page`. A page that was hidden has missed many.
 * `lastS`: start of the last one shown, undefined for none; Unix seconds.
 */
export function newestCount({ resolution, lastS, nowS, page }) {
  if (lastS === undefined) return page;
  const missing = Math.floor((nowS - lastS) / SECONDS[resolution]) + 1;
  return missing > page ? null : Math.max(FEWEST, missing);
}
