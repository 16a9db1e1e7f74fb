import type { Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { createBuilderRoutes } from './global/builders.js';
import { createGlobalComboRoutes } from './global/combos.js';
import { createLastDayRoutes } from './global/last-day.js';
import { createLeaderboardRoutes } from './global/leaderboard.js';
import { createResolutionsRoute } from './global/resolutions.js';
import { createCandleRoutes } from './markets/candles.js';
import { createMarketRoutes } from './markets/markets.js';
import { createTagRoutes } from './markets/tags.js';
import { createMarketViews } from './markets/views.js';
import { createComboPositionRoutes } from './positions/combos.js';
import { createHolderRoutes } from './positions/holders.js';
import { createPositionsRoute } from './positions/market.js';
import { createWalletPositionsRoute } from './positions/wallet.js';
import { createComboTradesRoute } from './trades/combos.js';
import { createTradesRoutes } from './trades/trades.js';
import { createWalletEventRoutes } from './wallets/events.js';
import { createWalletMoneyRoutes } from './wallets/money.js';
import { createWalletPnlRoutes } from './wallets/pnl.js';
import { createWalletPnlSummaryRoutes } from './wallets/pnl-summary.js';

/** All /v3 endpoints. */
export function createV3Routes(readers: Readers): readonly Route[] {
  const views = createMarketViews(readers);
  return [
    // Before the routes whose last segment is an id.
    ...createLastDayRoutes(readers, views),
    ...createTradesRoutes(readers),
    createComboTradesRoute(readers),
    ...createWalletEventRoutes(readers),
    ...createWalletMoneyRoutes(readers),
    ...createWalletPnlSummaryRoutes(readers),
    ...createWalletPnlRoutes(readers),
    createWalletPositionsRoute(readers),
    ...createComboPositionRoutes(readers),
    ...createHolderRoutes(readers),
    createPositionsRoute(readers),
    ...createLeaderboardRoutes(readers),
    ...createMarketRoutes(readers, views),
    ...createTagRoutes(readers, views),
    ...createCandleRoutes(readers),
    ...createBuilderRoutes(readers),
    ...createGlobalComboRoutes(readers),
    createResolutionsRoute(readers),
  ];
}
