import type { Request, RequestHandler } from 'express';
import { commonLimits } from '../../schemas/plans.js';
import type { KeyDirectory } from '../auth/caller.js';
import { keyFrom } from '../auth/carriers.js';
import { clientNetwork } from '../auth/client-ip.js';
import { ApiError } from '../errors/failure.js';
import { createMemoryWindow } from './memory-window.js';

/** A page of /app takes some 25 requests. */
export const KEYLESS_PER_MINUTE = 1_200;
/** Networks counted one by one; when there are more in a minute, they share one count. */
const MAX_NETWORKS = 100_000;

/**
 * Limits requests without a valid key (pages, documents, health, making keys, wrong keys) per client address, IPv6 per /64 network: this process
 * counts for itself, in bounded memory.
 */
export function limitKeyless(options: { keys: KeyDirectory; nowMs: () => number; perMinute?: number }): RequestHandler {
  const { keys, nowMs, perMinute = KEYLESS_PER_MINUTE } = options;
  const window = createMemoryWindow({ windowMs: commonLimits.rateWindowMs });
  return async (request, _response, next) => {
    if (hasValidKey(request, keys)) return next();
    const at = nowMs();
    const key = window.size < MAX_NETWORKS ? clientNetwork(request.ip ?? '') : 'others';
    const { allowed, states } = await window.take([{ key, limit: perMinute }], at);
    if (allowed) return next();
    const retryAtMs = states[0]?.resetMs ?? at + commonLimits.rateWindowMs;
    next(new ApiError({ kind: 'rate_limited', retryAtMs, nowMs: at, limitPerMinute: perMinute }));
  };
}

function hasValidKey(request: Request, keys: KeyDirectory): boolean {
  const at = request.originalUrl.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1));
  const key = keyFrom(request.headers, query);
  return key !== null && keys.lookup(key) !== null;
}
