import type { ResponseCache } from './cache/response-cache.js';
import { createChangeFeed } from './catalog/change-feed.js';
import { createConditionLookup } from './catalog/conditions.js';
import { createMetadataLookups } from './catalog/metadata.js';
import { createTaggedTokens } from './catalog/tagged-tokens.js';
import { createFillReader } from './fills/reader.js';
import { createTitles } from './fills/titles.js';
import { createLargestPositionsReader } from './leaderboards/largest-positions.js';
import { createLeaderboardReader } from './leaderboards/reader.js';
import { createPnlReader } from './pnl/reader.js';
import { createCurrentPnlReader } from './pnl-series/current-pnl.js';
import { createHourlyClosesReader } from './pnl-series/hourly-closes.js';
import { createPnlSeriesReader } from './pnl-series/series.js';
import { createComboReader } from './positions/combos.js';
import { type EquityFilter, readEquity } from './positions/equity.js';
import { createEventMarketReader } from './positions/event-markets.js';
import { createOutcomeMetadataLookup } from './positions/outcomes.js';
import { createPriceLookup } from './positions/prices.js';
import { createPositionReader } from './positions/reader.js';
import { createTopHolders } from './positions/top-holders.js';
import { createWalletPositionPages } from './positions/wallet-position-pages.js';
import type { Tables } from './tables/port.js';
import { createWalletEventReader } from './wallet-events/reader.js';

/** Readers shared by the API groups; each group has its own serializers. */
export type Readers = ReturnType<typeof createReaders>;

export function createReaders(deps: {
  tables: Tables;
  /** Cached pages and responses. */
  cache: ResponseCache;
  nowMs: () => number;
  /** Markets whose metadata and prices fit into their caches. */
  cachedMarkets: number;
}) {
  const changes = createChangeFeed(deps);
  const metadata = createMetadataLookups({ ...deps, changes });
  const outcomesOf = createOutcomeMetadataLookup(metadata);
  const taggedTokens = createTaggedTokens(metadata);
  const prices = createPriceLookup({ ...deps, changes });
  const conditionsOf = createConditionLookup({ tables: deps.tables, metadata });
  const hourlyCloses = createHourlyClosesReader({ ...deps, changes });
  const currentPnl = createCurrentPnlReader({ ...deps, prices });
  const pnl = createPnlReader(deps);
  const positions = createPositionReader({ ...deps, prices, outcomesOf, taggedTokens });
  return {
    ...deps,
    ...createTitles(metadata),
    metadata,
    fills: createFillReader({ ...deps, taggedTokens }),
    walletEvents: createWalletEventReader(deps),
    conditionsOf,
    pnl,
    positions,
    combos: createComboReader({ ...deps, positions }),
    largest: createLargestPositionsReader(deps),
    leaderboards: createLeaderboardReader({ ...deps, pnl }),
    topHolders: createTopHolders({ tables: deps.tables, prices }),
    walletPositionPages: createWalletPositionPages({ ...deps, prices, outcomesOf }),
    /** Prices by token. */
    prices,
    eventMarkets: createEventMarketReader({ tables: deps.tables, conditionsOf, prices }),
    hourlyCloses,
    pnlSeries: createPnlSeriesReader({ ...deps, metadata, hourlyCloses, currentPnl }),
    /** The equity curve of a wallet. */
    equity: (wallet: string, filter: EquityFilter) =>
      readEquity({ tables: deps.tables, metadata, prices }, wallet, filter),
    /** Outcome metadata by token. */
    outcomesOf,
  };
}
