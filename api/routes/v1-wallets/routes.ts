import type { Route } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';
import type { Readers } from '../../readers.js';
import type { ChainState, Profiles } from '../../wallets/ports.js';
import { createV1PnlRoute } from './pnl.js';
import { createV1PositionsRoutes } from './positions.js';
import { createResolveRoute } from './resolve.js';
import { createWalletSummaryRoute } from './summary.js';
import { createTopTradersRoute } from './traders.js';
import { createV1TradesRoutes } from './trades.js';

/** All /v1 endpoints of wallets and of their markets. */
export const createV1WalletRoutes = (
  readers: Readers,
  deps: { rateLimitStore: RateLimitStore; chainState: ChainState | null; profiles: Profiles | null },
): readonly Route[] => [
  ...createV1TradesRoutes(readers),
  ...createV1PositionsRoutes(readers),
  createTopTradersRoute(readers, deps.rateLimitStore),
  createV1PnlRoute(readers),
  createWalletSummaryRoute(readers),
  createResolveRoute({ ...readers, chain: deps.chainState, profiles: deps.profiles }),
];
