import type { TtlCache } from '../../cache/ttl-cache.js';
import type { Route } from '../../http/route.js';
import { createLargestReader } from '../../leaderboards/largest.js';
import type { Reads } from '../../reads.js';
import type { Tables } from '../../tables/port.js';
import { createNegRiskRoutes } from './neg-risk.js';
import { createClobOrderbook } from './orderbook.js';
import { createClobPositions } from './positions.js';
import { createClobTrades } from './trades.js';
import { createClobVolumes } from './volumes.js';

/** Every /clobv2 endpoint over the tables. */
export function createClobRoutes(deps: { tables: Tables; cache: TtlCache; reads: Reads }): readonly Route[] {
  return [
    ...createClobTrades(deps),
    createClobPositions({ ...deps, largest: createLargestReader(deps) }),
    ...createNegRiskRoutes(deps),
    ...createClobVolumes(deps),
    createClobOrderbook(deps),
  ];
}
