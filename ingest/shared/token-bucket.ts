import { pause } from './pause.js';

/** Limits the rate of calls; callers are served in order of arrival. */
export interface TokenBucket {
  /** Resolves when the call is permitted, or immediately when the signal is aborted. */
  take(signal: AbortSignal): Promise<void>;
}

/** Permits `burst` calls without delay and `perSecond` calls per second on average. */
export function createTokenBucket(options: {
  perSecond: number;
  burst: number;
  nowMs?: () => number;
  wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}): TokenBucket {
  const { perSecond, burst, nowMs = () => performance.now(), wait = pause } = options;
  const intervalMs = 1000 / perSecond;
  // Time at which the bucket is full again; each call moves it forward by one interval.
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
