import type { Route } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';
import type { Readers } from '../../readers.js';
import type { Tables } from '../../tables/port.js';
import type { ChainState, Profiles } from '../../wallets/ports.js';
import { createV1PnlRoute } from './pnl.js';
import { createV1PositionsRoutes } from './positions.js';
import { createResolveRoute } from './resolve.js';
import { createWalletSummaryRoute } from './summary.js';
import { createTopTradersRoute } from './traders.js';
import { createV1TradesRoutes } from './trades.js';

/** All /v1 endpoints of wallets and of their markets. */
export function createV1WalletRoutes(deps: {
  tables: Tables;
  readers: Readers;
  rateLimitStore: RateLimitStore;
  chainState: ChainState | null;
  profiles: Profiles | null;
}): readonly Route[] {
  const { tables, readers, rateLimitStore, chainState: chain, profiles } = deps;
  return [
    ...createV1TradesRoutes({ readers }),
    ...createV1PositionsRoutes({ readers }),
    createTopTradersRoute({ readers, rateLimitStore }),
    createV1PnlRoute({ readers, cache: readers.cache }),
    createWalletSummaryRoute({ tables, readers }),
    createResolveRoute({ tables, cache: readers.cache, chain, profiles }),
  ];
}
