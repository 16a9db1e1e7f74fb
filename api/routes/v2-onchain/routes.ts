import type { ResponseCache } from '../../cache/response-cache.js';
import type { Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import type { Tables } from '../../tables/port.js';
import { createAllTradesRoutes } from './all-trades.js';
import { createOnchainCandleRoutes } from './candles.js';
import { createOnchainLists } from './lists.js';
import { createOnchainMarketRoutes } from './market.js';
import { createOpenInterestRoutes } from './open-interest.js';
import { createOnchainPositionsRoute } from './positions.js';
import { createOnchainTradesRoute } from './trades.js';

/** All /v2/onchain endpoints. */
export function createOnchainRoutes(deps: {
  tables: Tables;
  cache: ResponseCache;
  readers: Readers;
}): readonly Route[] {
  return [
    ...createOnchainLists(deps),
    ...createOnchainMarketRoutes(deps),
    ...createOpenInterestRoutes(deps),
    ...createOnchainCandleRoutes(deps),
    ...createAllTradesRoutes(deps),
    createOnchainTradesRoute(deps),
    createOnchainPositionsRoute(deps),
  ];
}
