import type { Caller } from '../auth/caller.js';
import { ApiError } from '../errors/failure.js';
import { rateLimitHeaders } from './rate-limit-headers.js';

/** The rejection of a request of an account that has nothing left of its requests until `untilMs`, the end of its service month. */
export const usedUpRejection = (caller: Caller, untilMs: number, nowMs: number): ApiError =>
  new ApiError({
    kind: 'rate_limited',
    retryAtMs: untilMs,
    nowMs,
    limitPerMinute: 0,
    scope: 'monthly_allowance',
    message: 'The requests of your plan and all packages are used up for this service month.',
    headers: rateLimitHeaders({
      limit: caller.terms.monthlyAllowance.api_requests ?? 0,
      remaining: 0,
      resetMs: untilMs,
    }),
  });
