import type { Route } from '../../http/route.js';
import type { OrderBookReader } from '../../order-books/reader.js';
import type { Readers } from '../../readers.js';
import { createClobCandles } from './candles.js';
import { createNegRiskRoutes } from './neg-risk.js';
import { createClobOrderbook } from './orderbook.js';
import { createClobPositions } from './positions.js';
import { createClobTrades } from './trades.js';
import { createClobVolumes } from './volumes.js';

/** All /clobv2 endpoints. */
export const createClobRoutes = (readers: Readers, orderBooks: OrderBookReader): readonly Route[] => [
  ...createClobTrades(readers),
  createClobPositions(readers),
  ...createNegRiskRoutes(readers),
  ...createClobVolumes(readers),
  createClobCandles(readers),
  createClobOrderbook(readers, orderBooks),
];
