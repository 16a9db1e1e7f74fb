import type { ResponseCache } from './cache/response-cache.js';
import type { CachedLookup, Lookup } from './catalog/cached-lookup.js';
import { createChangeFeed } from './catalog/change-feed.js';
import { type Condition, createConditionLookup } from './catalog/conditions.js';
import { type CachedMetadataLookups, createMetadataLookups } from './catalog/metadata.js';
import { createTaggedTokens } from './catalog/tagged-tokens.js';
import { createFillReader, type FillReader } from './fills/reader.js';
import { createTitles, type Titles } from './fills/titles.js';
import { createLargestPositionsReader, type LargestPositionsReader } from './leaderboards/largest-positions.js';
import { createLeaderboardReader, type LeaderboardReader } from './leaderboards/reader.js';
import { createPnlReader, type PnlReader } from './pnl/reader.js';
import { createCurrentPnlReader } from './pnl-series/current-pnl.js';
import { createHourlyClosesReader, type HourlyClosesReader } from './pnl-series/hourly-closes.js';
import { createPnlSeriesReader, type PnlSeriesReader } from './pnl-series/series.js';
import { type ComboReader, createComboReader } from './positions/combos.js';
import { type Equity, type EquityFilter, readEquity } from './positions/equity.js';
import { createOutcomeMetadataLookup, type OutcomeMetadata } from './positions/outcomes.js';
import type { Price } from './positions/position.js';
import { createPriceLookup } from './positions/prices.js';
import { createPositionReader, type PositionReader } from './positions/reader.js';
import { createTopHolders, type TopHolders } from './positions/top-holders.js';
import { createWalletPositionPages, type WalletPositionPages } from './positions/wallet-position-pages.js';
import type { Tables } from './tables/port.js';
import { createWalletEventReader, type WalletEventReader } from './wallet-events/reader.js';

/** Readers shared by the API groups; each group has its own serializers. */
export interface Readers extends Titles {
  readonly tables: Tables;
  readonly metadata: CachedMetadataLookups;
  readonly fills: FillReader;
  readonly walletEvents: WalletEventReader;
  readonly conditionsOf: Lookup<Condition>;
  readonly pnl: PnlReader;
  readonly positions: PositionReader;
  readonly combos: ComboReader;
  readonly largest: LargestPositionsReader;
  readonly leaderboards: LeaderboardReader;
  readonly topHolders: TopHolders;
  readonly walletPositionPages: WalletPositionPages;
  /** Prices by token. */
  readonly prices: CachedLookup<Price>;
  readonly hourlyCloses: HourlyClosesReader;
  readonly pnlSeries: PnlSeriesReader;
  /** The equity curve of a wallet. */
  readonly equity: (wallet: string, filter: EquityFilter) => Promise<Equity>;
  /** Outcome metadata by token. */
  readonly outcomesOf: Lookup<OutcomeMetadata>;
  /** Cached pages and responses. */
  readonly cache: ResponseCache;
  readonly nowMs: () => number;
}

export function createReaders(deps: {
  tables: Tables;
  cache: ResponseCache;
  nowMs: () => number;
  /** Markets whose metadata and prices fit into their caches. */
  cachedMarkets: number;
}): Readers {
  const changes = createChangeFeed(deps);
  const metadata = createMetadataLookups({ ...deps, changes });
  const outcomesOf = createOutcomeMetadataLookup(metadata);
  const taggedTokens = createTaggedTokens(metadata);
  const prices = createPriceLookup({ ...deps, changes });
  const hourlyCloses = createHourlyClosesReader({ ...deps, changes });
  const pnl = createPnlReader(deps);
  const positions = createPositionReader({ ...deps, prices, outcomesOf, taggedTokens });
  return {
    ...deps,
    ...createTitles(metadata),
    metadata,
    fills: createFillReader({ ...deps, taggedTokens }),
    walletEvents: createWalletEventReader(deps),
    conditionsOf: createConditionLookup({ tables: deps.tables, metadata }),
    pnl,
    positions,
    combos: createComboReader({ ...deps, positions }),
    largest: createLargestPositionsReader(deps),
    leaderboards: createLeaderboardReader({ ...deps, pnl }),
    topHolders: createTopHolders({ tables: deps.tables, prices }),
    walletPositionPages: createWalletPositionPages({ ...deps, prices, outcomesOf }),
    prices,
    hourlyCloses,
    pnlSeries: createPnlSeriesReader({
      ...deps,
      metadata,
      hourlyCloses,
      currentPnl: createCurrentPnlReader({ ...deps, prices }),
    }),
    equity: (wallet, filter) => readEquity({ tables: deps.tables, metadata, prices }, wallet, filter),
    outcomesOf,
  };
}
