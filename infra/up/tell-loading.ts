import { setTimeout as sleep } from 'node:timers/promises';
import type { Standing } from './progress.js';

/** Said once the tables hold all history. */
export const LOADED = 'The history is loaded: everything is ready.';
const HISTORY = 'api: history: ';
const FIRST_MS = 5_000;
const LONGEST_MS = 600_000;

/**
 * Says how far the history is, ever more seldom (a backfill takes months), and once that it is loaded. Ends then, or with the signal. A start
 * that is loaded at the first look is not worth a word.
 */
export async function tellLoading(options: {
  standing: () => Promise<Standing>;
  say: (text: string) => void;
  signal: AbortSignal;
  lookMs?: number;
  nowMs?: () => number;
}): Promise<void> {
  const { standing, say, signal, lookMs = 1_000, nowMs = Date.now } = options;
  let pauseMs = FIRST_MS;
  let nextMs = nowMs() + pauseMs;
  let wasLoading = false;
  while (!signal.aborted) {
    const { loading, trouble, down } = await standing();
    if (signal.aborted) return;
    const history = loading.find((text) => text.startsWith(HISTORY));
    if (loading.length + trouble.length + down.length === 0) {
      if (wasLoading) say(LOADED);
      return;
    }
    if (history !== undefined) {
      wasLoading = true;
      if (nowMs() >= nextMs) {
        say(`The history is loading: ${history.slice(HISTORY.length)}`);
        pauseMs = Math.min(LONGEST_MS, pauseMs * 2);
        nextMs = nowMs() + pauseMs;
      }
    }
    await sleep(lookMs, undefined, { signal }).catch(() => undefined);
  }
}
