import type { Caller } from '../auth/caller.js';
import type { RateLimitStore } from './port.js';
import { rateLimitHeaders } from './rate-limit-headers.js';
import { takeOrReject } from './take-or-reject.js';

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

/**
 * Counts one request of the caller's key, and of its account, which has as much as all keys of its plan: revoking keys and creating others adds nothing.
 * Throws ApiError when a limit is reached.
 */
export async function enforceFeatureLimit(
  store: RateLimitStore,
  limit: FeatureLimit,
  request: { readonly caller: Caller | null; readonly nowMs: number },
  /** Further headers of a rejection. */
  headers?: Readonly<Record<string, string>>,
): Promise<void> {
  const { caller, nowMs } = request;
  const take = (key: string, requests: number) =>
    takeOrReject(
      store,
      { key, limit: requests, windowMs: limit.windowMs },
      {
        nowMs,
        message: (retryAtMs) => limit.message(Math.ceil(retryAtMs / 1000)),
        limitPerMinute: limit.requests,
        headers: (full) => ({ ...headers, ...rateLimitHeaders(full) }),
      },
    );
  await take(`${limit.name}:${caller?.limitKeyHash ?? ''}`, limit.requests);
  // After the key's own: only then does a request that its key rejects leave the other keys their part.
  const keys = Math.max(1, caller?.terms.apiKeys ?? 1);
  await take(`${limit.name}-keys:${caller?.accountId ?? ''}`, limit.requests * keys);
}
