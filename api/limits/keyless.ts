import type { Request, RequestHandler, Response } from 'express';
import { VERSIONED_PREFIX } from '../../pages/versioned-assets.js';
import { commonLimits } from '../../schemas/plans.js';
import { apiKeyFromRequest } from '../auth/api-key-from-request.js';
import type { KeyDirectory } from '../auth/caller.js';
import { clientNetwork } from '../auth/client-ip.js';
import { ApiError } from '../errors/failure.js';
import { createAddressCounter } from './address-counter.js';

/** Limit of counted networks of each of both counts, about 30 MB; further networks of the same minute share one count. */
const MAX_NETWORKS = 100_000;

/** Counts a request that is left to `countIfKeyed`, and throws ApiError rate_limited. */
type Count = () => void;

/** For requests that no account limit counts (routes without a key, unknown paths): counts them by address, also with a valid key. */
export function countIfKeyed(response: Response): void {
  (response.locals.countByAddress as Count | undefined)?.();
}

/**
 * Limits requests that count against no account (pages, documents, health, key creation, wrong keys) per client address, IPv6 per /64 network. A request
 * with a valid key to an API path is left to the limit of its account and to `countIfKeyed`. Scripts and style sheets of the pages are counted
 * separately, so that many browsers behind one address do not use up the limit of the pages. Counts per process, in bounded memory.
 */
export function limitKeyless(options: {
  keys: KeyDirectory;
  nowMs: () => number;
  /** Whether the API, not a page, responds to the path. */
  isApiPath: (path: string) => boolean;
  perMinute?: number;
  assetsPerMinute?: number;
}): RequestHandler {
  const { keys, nowMs, isApiPath, perMinute = commonLimits.keylessPerMinute } = options;
  const counterOf = (limit: number) => ({
    limit,
    counter: createAddressCounter({ windowMs: commonLimits.rateWindowMs, limit, maxClients: MAX_NETWORKS }),
  });
  const assets = counterOf(options.assetsPerMinute ?? commonLimits.assetsPerMinute);
  const others = counterOf(perMinute);
  const count = (request: Request): void => {
    const at = nowMs();
    const { counter, limit } = request.originalUrl.startsWith(VERSIONED_PREFIX) ? assets : others;
    const { allowed, resetMs: retryAtMs } = counter.take(clientNetwork(request.ip ?? ''), at);
    if (!allowed) throw new ApiError({ kind: 'rate_limited', retryAtMs, nowMs: at, limitPerMinute: limit });
  };
  return (request, response, next) => {
    if (isApiPath(request.path) && hasValidKey(request, keys)) response.locals.countByAddress = () => count(request);
    else count(request);
    next();
  };
}

function hasValidKey(request: Request, keys: KeyDirectory): boolean {
  const at = request.originalUrl.indexOf('?');
  const query = new URLSearchParams(at < 0 ? '' : request.originalUrl.slice(at + 1));
  const key = apiKeyFromRequest(request.headers, query);
  return key !== null && keys.lookup(key) !== null;
}
