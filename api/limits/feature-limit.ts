import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/failure.js';
import type { RateLimitStore } from './port.js';

/** A limit of one feature per key, in addition to the account's limits. A key that replaces another one shares its count. */
export interface FeatureLimit {
  /** Prefix of the limit's bucket keys. */
  readonly name: string;
  readonly requests: number;
  /** At most the common window (commonLimits.rateWindowMs). */
  readonly windowMs: number;
  /** Error message, given the Unix second from which a request is accepted again. */
  readonly message: (retryAtS: number) => string;
}

/** Counts one request of the caller's key. Throws ApiError when the limit is reached. */
export async function enforceFeatureLimit(
  store: RateLimitStore,
  limit: FeatureLimit,
  request: { readonly caller: Caller | null; readonly nowMs: number },
  /** Further headers of a rejection. */
  headers?: Readonly<Record<string, string>>,
): Promise<void> {
  const bucket = {
    key: `${limit.name}:${request.caller?.limitKeyHash ?? ''}`,
    limit: limit.requests,
    windowMs: limit.windowMs,
  };
  const { allowed, states } = await store.take([bucket], request.nowMs);
  if (allowed) return;
  const retryAtMs = states[0]?.resetMs ?? request.nowMs + limit.windowMs;
  throw new ApiError({
    kind: 'rate_limited',
    retryAtMs,
    nowMs: request.nowMs,
    limitPerMinute: limit.requests,
    message: limit.message(Math.ceil(retryAtMs / 1000)),
    ...(headers === undefined ? {} : { headers }),
  });
}
