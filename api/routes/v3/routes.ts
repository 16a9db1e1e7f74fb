import { commonLimits } from '../../../schemas/plans.js';
import type { ResponseCache } from '../../cache/response-cache.js';
import type { Route } from '../../http/route.js';
import { createLargestPositionsReader } from '../../leaderboards/largest-positions.js';
import { createLeaderboardReader } from '../../leaderboards/reader.js';
import { createConcurrencyLimiter } from '../../limits/concurrency-limiter.js';
import { createComboReader } from '../../positions/combos.js';
import type { Readers } from '../../readers.js';
import type { Tables } from '../../tables/port.js';
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
import { createComboTrades, createComboTradesRoute } from './trades/combos.js';
import { createTradesRoutes } from './trades/trades.js';
import { createWalletEventRoutes } from './wallets/events.js';
import { createWalletMoneyRoutes } from './wallets/money.js';
import { BUSY, createWalletPnlRoutes } from './wallets/pnl.js';
import { createWalletPnlSummaryRoutes } from './wallets/pnl-summary.js';

export interface V3Deps {
  readonly tables: Tables;
  readonly cache: ResponseCache;
  readonly readers: Readers;
}

/** All /v3 endpoints. */
export function createV3Routes(deps: V3Deps): readonly Route[] {
  const { fills, titlesOf, walletEvents, conditionsOf } = deps.readers;
  const { pnl } = deps.readers;
  const concurrencyLimiter = createConcurrencyLimiter({
    perAccount: commonLimits.v3PnlAtOncePerAccount,
    total: commonLimits.v3PnlAtOncePerProcess,
    maxWaitMs: 750,
    message: BUSY,
    accountScope: 'v3_pnl_account_concurrency',
    totalScope: 'v3_pnl_global_concurrency',
    nowMs: deps.readers.nowMs,
  });
  const combos = createComboReader({ ...deps, ...deps.readers });
  const views = createMarketViews({ ...deps, ...deps.readers });
  return [
    // Before the routes whose last segment is an id.
    ...createLastDayRoutes({ ...deps, ...deps.readers, views }),
    ...createTradesRoutes({ fills, titlesOf, combos: createComboTrades({ fills }) }),
    createComboTradesRoute({ fills }),
    ...createWalletEventRoutes({ walletEvents, conditionsOf }),
    ...createWalletMoneyRoutes({ fills, titlesOf, walletEvents }),
    ...createWalletPnlSummaryRoutes({ pnl }),
    ...createWalletPnlRoutes({ pnl, fills, concurrencyLimiter }),
    createWalletPositionsRoute(deps.readers),
    ...createComboPositionRoutes({ ...deps.readers, combos }),
    ...createHolderRoutes({ ...deps, ...deps.readers }),
    createPositionsRoute({ ...deps, ...deps.readers, largest: createLargestPositionsReader(deps) }),
    ...createLeaderboardRoutes({
      ...deps.readers,
      leaderboards: createLeaderboardReader({ ...deps, pnl }),
    }),
    ...createMarketRoutes({ ...deps, ...deps.readers, views }),
    ...createTagRoutes({ ...deps, ...deps.readers, views }),
    ...createCandleRoutes({ ...deps, ...deps.readers }),
    ...createBuilderRoutes({ ...deps, ...deps.readers }),
    ...createGlobalComboRoutes({ combos }),
    createResolutionsRoute({ ...deps, ...deps.readers }),
  ];
}
