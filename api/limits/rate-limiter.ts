import { commonLimits } from '../../schemas/plans.js';
import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/failure.js';
import type { RateLimitBucketState, RateLimitStore } from './port.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** The stricter of two states: the lower remaining count, then the later reset. */
function stricter(a: RateLimitBucketState, b: RateLimitBucketState): RateLimitBucketState {
  if (a.remaining !== b.remaining) return a.remaining < b.remaining ? a : b;
  return a.resetMs >= b.resetMs ? a : b;
}

/** Limits per account from the plan table. All keys of an account share the buckets. */
export function createRateLimiter(options: { rateLimitStore: RateLimitStore }) {
  return {
    /** Counts a request of the caller, by default as one. `heavy`: also counts in the trade-history bucket. `rejection`: set if it is rejected. */
    async admit(
      caller: Caller,
      request: { readonly heavy: boolean; readonly nowMs: number; readonly requests?: number },
    ): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly rejection: ApiError | null }> {
      const { terms } = caller;
      const standard = { key: `standard:${caller.accountId}`, limit: terms.standardPerMinute };
      const heavyLimit = request.heavy ? terms.heavyPerMinute : null;
      const heavy = heavyLimit === null ? [] : [{ key: `heavy:${caller.accountId}`, limit: heavyLimit }];
      const { allowed, states } = await options.rateLimitStore.take(
        [standard, ...heavy],
        request.nowMs,
        request.requests,
      );
      const [standardState, heavyState] = states;
      const fallback = { limit: standard.limit, remaining: 0, resetMs: request.nowMs + commonLimits.rateWindowMs };
      const first = standardState ?? fallback;
      const binding = heavyState === undefined ? first : stricter(first, heavyState);
      const headers = rateLimitHeaders(binding);
      if (allowed) return { headers, rejection: null };
      const rejection = new ApiError({
        kind: 'rate_limited',
        retryAtMs: binding.resetMs,
        nowMs: request.nowMs,
        limitPerMinute: binding.limit,
        ...(binding === heavyState ? { scope: 'v3_heavy' } : {}),
      });
      return { headers, rejection };
    },
  };
}
