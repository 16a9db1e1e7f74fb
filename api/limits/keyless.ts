import type { Request, RequestHandler } from 'express';
import { commonLimits } from '../../schemas/plans.js';
import { apiKeyFromRequest } from '../auth/api-key-from-request.js';
import type { KeyDirectory } from '../auth/caller.js';
import { clientNetwork } from '../auth/client-ip.js';
import { ApiError } from '../errors/failure.js';
import { createAddressCounter } from './address-counter.js';

/** Limit of counted networks, about 30 MB; further networks of the same minute share one count. */
const MAX_NETWORKS = 100_000;

/**
 * Limits requests without a valid key (pages, documents, health, key creation, wrong keys) per client address, IPv6 per /64 network. Counts per
 * process, in bounded memory.
 */
export function limitKeyless(options: { keys: KeyDirectory; nowMs: () => number; perMinute?: number }): RequestHandler {
  const { keys, nowMs, perMinute = commonLimits.keylessPerMinute } = options;
  const { rateWindowMs: windowMs } = commonLimits;
  const counter = createAddressCounter({ windowMs, limit: perMinute, maxClients: MAX_NETWORKS });
  return (request, _response, next) => {
    if (hasValidKey(request, keys)) return next();
    const at = nowMs();
    const { allowed, resetMs: retryAtMs } = counter.take(clientNetwork(request.ip ?? ''), at);
    if (allowed) return next();
    next(new ApiError({ kind: 'rate_limited', retryAtMs, nowMs: at, limitPerMinute: perMinute }));
  };
}

function hasValidKey(request: Request, keys: KeyDirectory): boolean {
  const at = request.originalUrl.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1));
  const key = apiKeyFromRequest(request.headers, query);
  return key !== null && keys.lookup(key) !== null;
}
