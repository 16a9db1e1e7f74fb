/** While the history loads, how often to ask whether it is loaded. */
const POLL_INTERVAL_MS = 500;

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
