import type { ResponseCache } from '../../cache/response-cache.js';
import type { Route } from '../../http/route.js';
import { createLargestPositionsReader } from '../../leaderboards/largest-positions.js';
import type { OrderBookReader } from '../../order-books/reader.js';
import type { Readers } from '../../readers.js';
import type { Tables } from '../../tables/port.js';
import { createClobCandles } from './candles.js';
import { createNegRiskRoutes } from './neg-risk.js';
import { createClobOrderbook } from './orderbook.js';
import { createClobPositions } from './positions.js';
import { createClobTrades } from './trades.js';
import { createClobVolumes } from './volumes.js';

/** All /clobv2 endpoints. */
export function createClobRoutes(deps: {
  tables: Tables;
  cache: ResponseCache;
  readers: Readers;
  orderBooks: OrderBookReader;
}): readonly Route[] {
  return [
    ...createClobTrades(deps),
    createClobPositions({ ...deps, largest: createLargestPositionsReader(deps) }),
    ...createNegRiskRoutes(deps),
    ...createClobVolumes(deps),
    createClobCandles(deps),
    createClobOrderbook(deps),
  ];
}
