import type { TtlCache } from '../../cache/ttl-cache.js';
import type { Route } from '../../http/route.js';
import { createLargestReader } from '../../leaderboards/largest.js';
import { createLeaderboardReader } from '../../leaderboards/reader.js';
import { createTurns } from '../../limits/turns.js';
import { createComboReader } from '../../positions/combos.js';
import type { Reads } from '../../reads.js';
import type { Tables } from '../../tables/port.js';
import { createBuilderRoutes } from './global/builders.js';
import { createGlobalComboRoutes } from './global/combos.js';
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
import { createWalletProfitRoutes } from './wallets/profits.js';

export interface V3Deps {
  readonly tables: Tables;
  readonly cache: TtlCache;
  readonly reads: Reads;
}

/** Every /v3 endpoint over the tables. */
export function createV3Routes(deps: V3Deps): readonly Route[] {
  const { fills, titlesOf, walletEvents, conditionsOf } = deps.reads;
  const { pnl } = deps.reads;
  const turns = createTurns({
    perAccount: 2,
    total: 16,
    waitMs: 750,
    message: BUSY,
    accountScope: 'v3_pnl_account_concurrency',
    totalScope: 'v3_pnl_global_concurrency',
    nowMs: deps.reads.nowMs,
  });
  const views = createMarketViews({ ...deps, ...deps.reads });
  return [
    ...createTradesRoutes({ fills, titlesOf, combos: createComboTrades({ fills }) }),
    createComboTradesRoute({ fills }),
    ...createWalletEventRoutes({ walletEvents, conditionsOf }),
    ...createWalletMoneyRoutes({ fills, titlesOf, walletEvents }),
    ...createWalletProfitRoutes({ pnl }),
    ...createWalletPnlRoutes({ pnl, fills, turns }),
    createWalletPositionsRoute(deps.reads),
    ...createComboPositionRoutes(deps.reads),
    ...createHolderRoutes({ ...deps, ...deps.reads }),
    createPositionsRoute({ ...deps, ...deps.reads, largest: createLargestReader(deps) }),
    ...createLeaderboardRoutes({
      ...deps.reads,
      leaderboards: createLeaderboardReader({ ...deps, pnl }),
    }),
    ...createMarketRoutes({ ...deps, ...deps.reads, views }),
    ...createTagRoutes({ ...deps, ...deps.reads, views }),
    ...createCandleRoutes({ ...deps, ...deps.reads }),
    ...createBuilderRoutes({ ...deps, ...deps.reads }),
    ...createGlobalComboRoutes({ ...deps.reads, combos: createComboReader({ ...deps, ...deps.reads }) }),
    createResolutionsRoute({ ...deps, ...deps.reads }),
  ];
}
