import type { Route } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';
import type { Readers } from '../../readers.js';
import { createEquityRoute } from './equity.js';
import { createV2PositionsRoutes } from './positions.js';

/** All /v2/wallets and /v2/trader endpoints. */
export const createV2WalletRoutes = (readers: Readers, rateLimitStore: RateLimitStore): readonly Route[] => [
  createEquityRoute(readers, rateLimitStore),
  ...createV2PositionsRoutes(readers),
];
