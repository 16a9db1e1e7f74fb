import type { TtlCache } from '../../cache/ttl-cache.js';
import type { Route } from '../../http/route.js';
import type { RateWindow } from '../../limits/port.js';
import type { Reads } from '../../reads.js';
import { createEquityRoute } from './equity.js';
import { createV2PositionsRoutes } from './positions.js';

/** Every /v2/wallets and /v2/trader endpoint. */
export function createV2WalletRoutes(deps: { reads: Reads; cache: TtlCache; window: RateWindow }): readonly Route[] {
  return [createEquityRoute(deps), ...createV2PositionsRoutes(deps)];
}
