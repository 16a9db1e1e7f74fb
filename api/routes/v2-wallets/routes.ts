import type { ResponseCache } from '../../cache/response-cache.js';
import type { Route } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';
import type { Readers } from '../../readers.js';
import { createEquityRoute } from './equity.js';
import { createV2PositionsRoutes } from './positions.js';

/** All /v2/wallets and /v2/trader endpoints. */
export function createV2WalletRoutes(deps: {
  readers: Readers;
  cache: ResponseCache;
  rateLimitStore: RateLimitStore;
}): readonly Route[] {
  return [createEquityRoute(deps), ...createV2PositionsRoutes(deps)];
}
