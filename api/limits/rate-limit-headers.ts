import type { RateLimitBucketState } from './port.js';

/** The headers that report the state of a limit. Those of a rejection replace the ones of the account's limits. */
export const rateLimitHeaders = ({
  limit,
  remaining,
  resetMs,
}: RateLimitBucketState): Readonly<Record<string, string>> => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
  'x-ratelimit-reset': String(Math.ceil(resetMs / 1000)),
});
