import { pause } from '../../shared/pause.js';

/** Holds callers back to a rate; callers are served in the order they came. */
export interface TokenBucket {
  /** Resolves when the caller may go, or at once when the signal is aborted. */
  take(signal: AbortSignal): Promise<void>;
}

/** `burst` calls at once, `perSecond` on average. */
export function createTokenBucket(options: {
  perSecond: number;
  burst: number;
  nowMs?: () => number;
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}): TokenBucket {
  const { perSecond, burst, nowMs = () => performance.now(), wait = pause } = options;
  const intervalMs = 1000 / perSecond;
  // Time at which the bucket is full again; each caller moves it one interval on.
  let fullAtMs = nowMs();
  return {
    async take(signal) {
      const now = nowMs();
      fullAtMs = Math.max(fullAtMs, now) + intervalMs;
      const waitMs = fullAtMs - burst * intervalMs - now;
      if (waitMs > 0) await wait(waitMs, signal);
    },
  };
}
