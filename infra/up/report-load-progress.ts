import { setTimeout as sleep } from 'node:timers/promises';
import type { ReadinessSummary } from './readiness-summary.js';

/** Printed once the tables contain the complete history. */
export const LOADED_MESSAGE = 'The history is loaded: everything is ready.';
/** Start of the check of the API that sums up the progress of all tables. */
export const HISTORY_PREFIX = 'api: history: ';
const INITIAL_INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = 600_000;

/**
 * Reports the load progress of the history at growing intervals (a backfill takes months), and once that it is loaded. Ends then, or when the signal
 * aborts. Reports nothing when the history is already loaded at the first check.
 */
export async function reportLoadProgress(options: {
  readReadiness: () => Promise<ReadinessSummary>;
  print: (text: string) => void;
  signal: AbortSignal;
  pollMs?: number;
  nowMs?: () => number;
}): Promise<void> {
  const { readReadiness, print, signal, pollMs = 1_000, nowMs = Date.now } = options;
  let pauseMs = INITIAL_INTERVAL_MS;
  let nextMs = nowMs() + pauseMs;
  let wasLoading = false;
  while (!signal.aborted) {
    const { loading, failing, down } = await readReadiness();
    if (signal.aborted) return;
    const history = loading.find((text) => text.startsWith(HISTORY_PREFIX));
    if (loading.length + failing.length + down.length === 0) {
      if (wasLoading) print(LOADED_MESSAGE);
      return;
    }
    if (history !== undefined) {
      wasLoading = true;
      if (nowMs() >= nextMs) {
        print(`The history is loading: ${history.slice(HISTORY_PREFIX.length)}`);
        pauseMs = Math.min(MAX_INTERVAL_MS, pauseMs * 2);
        nextMs = nowMs() + pauseMs;
      }
    }
    await sleep(pollMs, undefined, { signal }).catch(() => undefined);
  }
}
