import type { Request, Response } from 'express';
import { commonLimits } from '../../schemas/plans.js';
import { ApiError } from '../errors/failure.js';
import { hideFromOtherOrigins } from '../http/site-guards.js';
import type { RateLimitStore } from '../limits/port.js';
import type { Cookie } from './cookies.js';
import { isCsrfTokenOf, type SessionCaller, type SessionDirectory } from './session.js';

export type AdmitSession = (request: Request, response: Response, nowMs: number) => Promise<SessionCaller>;

/**
 * Admits requests of signed-in browsers. Throws ApiError: forbidden for pages of other origins and for a wrong CSRF token, no_session, rate_limited.
 * Counts requests per account; the address is counted with all requests without a key.
 */
export function createSessionAdmission(deps: {
  sessions: SessionDirectory;
  cookie: Cookie;
  rateLimitStore: RateLimitStore;
  serverOrigin: string;
}): AdmitSession {
  const limit = commonLimits.sessionRequestsPerMinute;
  return async (request, response, nowMs) => {
    hideFromOtherOrigins(request, response, deps.serverOrigin);
    const token = deps.cookie.read(request.headers);
    const session = token === null ? null : deps.sessions.lookup(token, nowMs);
    if (session === null) throw new ApiError({ kind: 'no_session' });
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead && !isCsrfTokenOf(session, request.headers['x-csrf-token']))
      throw new ApiError({
        kind: 'forbidden',
        message: 'The x-csrf-token header is missing or wrong. Use `csrf_token` of GET /v1/account.',
      });
    const { allowed, states } = await deps.rateLimitStore.take([{ key: `session:${session.accountId}`, limit }], nowMs);
    if (!allowed) {
      const retryAtMs = states[0]?.resetMs ?? nowMs + commonLimits.rateWindowMs;
      throw new ApiError({ kind: 'rate_limited', retryAtMs, nowMs, limitPerMinute: limit });
    }
    return session;
  };
}
