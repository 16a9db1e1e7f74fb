import type { TtlCache } from '../../cache/ttl-cache.js';
import type { Route } from '../../http/route.js';
import type { Reads } from '../../reads.js';
import type { Tables } from '../../tables/port.js';
import { createNegRiskRoutes } from './neg-risk.js';
import { createClobTrades } from './trades.js';
import { createClobVolumes } from './volumes.js';

/** Every /clobv2 endpoint over the tables. */
export function createClobRoutes(deps: { tables: Tables; cache: TtlCache; reads: Reads }): readonly Route[] {
  return [...createClobTrades(deps), ...createNegRiskRoutes(deps), ...createClobVolumes(deps)];
}
