import type { Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { createAllTradesRoutes } from './all-trades.js';
import { createOnchainCandleRoutes } from './candles.js';
import { createOnchainLists } from './lists.js';
import { createOnchainMarketRoutes } from './market.js';
import { createOpenInterestRoutes } from './open-interest.js';
import { createOnchainPositionsRoute } from './positions.js';
import { createOnchainTradesRoute } from './trades.js';

/** All /v2/onchain endpoints. */
export const createOnchainRoutes = (readers: Readers): readonly Route[] => [
  ...createOnchainLists(readers),
  ...createOnchainMarketRoutes(readers),
  ...createOpenInterestRoutes(readers),
  ...createOnchainCandleRoutes(readers),
  ...createAllTradesRoutes(readers),
  createOnchainTradesRoute(readers),
  createOnchainPositionsRoute(readers),
];
