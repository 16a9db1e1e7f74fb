import { ApiError } from '../errors/failure.js';
import type { RateLimitBucketState, RateLimitStore } from './port.js';

/** Counts a request in a bucket. Throws ApiError `rate_limited` when it is full; `message` gets the time from which a request is admitted, Unix ms. */
export async function takeOrReject(
  store: RateLimitStore,
  bucket: { readonly key: string; readonly limit: number; readonly windowMs: number },
  rejection: {
    readonly nowMs: number;
    readonly message: (retryAtMs: number) => string;
    readonly limitPerMinute?: number;
    readonly headers?: (full: RateLimitBucketState) => Readonly<Record<string, string>>;
  },
): Promise<void> {
  const { nowMs, message, limitPerMinute = bucket.limit, headers } = rejection;
  const { allowed, states } = await store.take([bucket], nowMs);
  if (allowed) return;
  const retryAtMs = states[0]?.resetMs ?? nowMs + bucket.windowMs;
  throw new ApiError({
    kind: 'rate_limited',
    retryAtMs,
    nowMs,
    limitPerMinute,
    message: message(retryAtMs),
    ...(headers === undefined ? {} : { headers: headers({ limit: bucket.limit, remaining: 0, resetMs: retryAtMs }) }),
  });
}
