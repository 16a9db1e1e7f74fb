/** While the history loads, how often to ask whether it is loaded. */
const POLL_INTERVAL_MS = 500;

/** Largest share of the time that refreshes may use: a snapshot of all wallets of a large venue uses most of a core and slows concurrent page requests. */
const MAX_TIME_SHARE = 0.04;
/**
 * Bound of the pause for that share, a third of the shortest lifetime of a snapshot: the last one must not expire while refreshes pause, because they take
 * minutes or because ClickHouse did not answer one until its timeout.
 */
const MAX_SHARE_PAUSE_MS = 20 * 60_000;

/** Pause after a refresh, or an attempt, of `tookMs`. */
export const pauseForShareMs = (tookMs: number): number => Math.min(MAX_SHARE_PAUSE_MS, tookMs / MAX_TIME_SHARE);

export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

/** Pauses that end when the history has loaded. `loading`: whether the tables are still being loaded; undefined: never. */
export function createLoadingPause(loading: (() => Promise<boolean>) | undefined, pause: Pause) {
  const isLoading = async (): Promise<boolean> => (await loading?.().catch(() => false)) ?? false;
  return {
    isLoading,
    /** Resolves with true as soon as the history has loaded, with false after `ms` if it has not. */
    async pauseWhileLoading(ms: number, signal: AbortSignal): Promise<boolean> {
      for (let leftMs = ms; leftMs > 0 && !signal.aborted; leftMs -= POLL_INTERVAL_MS) {
        await pause(Math.min(leftMs, POLL_INTERVAL_MS), signal);
        if (!(await isLoading())) return true;
      }
      return false;
    },
  };
}
