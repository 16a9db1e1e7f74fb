import type { ResponseCache } from './cache/response-cache.js';
import type { CachedLookup, Lookup } from './catalog/cached-lookup.js';
import { createChangeFeed } from './catalog/change-feed.js';
import { type Condition, createConditionLookup } from './catalog/conditions.js';
import { type CachedMetadataLookups, createMetadataLookups } from './catalog/metadata.js';
import { createTaggedTokens } from './catalog/tagged-tokens.js';
import { createFillReader, type FillReader } from './fills/reader.js';
import { createTitleLookup, type TitleLookup } from './fills/titles.js';
import { createPnlReader, type PnlReader } from './pnl/reader.js';
import { createCurrentPnlReader } from './pnl-series/current-pnl.js';
import { createHourlyClosesReader, type HourlyClosesReader } from './pnl-series/hourly-closes.js';
import { createPnlSeriesReader, type PnlSeriesReader } from './pnl-series/series.js';
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
export interface Readers {
  readonly metadata: CachedMetadataLookups;
  readonly fills: FillReader;
  readonly titlesOf: TitleLookup;
  readonly walletEvents: WalletEventReader;
  readonly conditionsOf: Lookup<Condition>;
  readonly pnl: PnlReader;
  readonly positions: PositionReader;
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
  return {
    metadata,
    fills: createFillReader({ ...deps, taggedTokens }),
    titlesOf: createTitleLookup(metadata),
    walletEvents: createWalletEventReader(deps),
    conditionsOf: createConditionLookup({ tables: deps.tables, metadata }),
    pnl: createPnlReader(deps),
    positions: createPositionReader({ ...deps, prices, outcomesOf, taggedTokens }),
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
    cache: deps.cache,
    nowMs: deps.nowMs,
  };
}
