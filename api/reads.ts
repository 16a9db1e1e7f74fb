import { createTtlCache, type TtlCache } from './cache/ttl-cache.js';
import { createChanges } from './catalogue/changes.js';
import { type Condition, createConditionLookup } from './catalogue/conditions.js';
import { createFacts, type HeldFacts } from './catalogue/facts.js';
import type { HeldLookup, Lookup } from './catalogue/held-lookup.js';
import { createRankings, type Rankings } from './catalogue/rankings.js';
import type { RowPage } from './fills/paged.js';
import { createFillReader, type FillReader } from './fills/reader.js';
import { createTitleLookup, type TitleLookup } from './fills/titles.js';
import { createWalks, type Walks } from './fills/walks.js';
import { createPnlReader, type PnlReader } from './pnl/reader.js';
import { type Equity, type EquityFilter, readEquity } from './positions/equity.js';
import { createOutcomeLookup, type Outcome } from './positions/outcomes.js';
import type { Price } from './positions/position.js';
import { createPriceLookup } from './positions/prices.js';
import { createPositionReader, type PositionReader } from './positions/reader.js';
import { createTopHolders, type TopHolders } from './positions/top-holders.js';
import { createWalletPages, type WalletPages } from './positions/wallet-pages.js';
import { type ClosesReader, createClosesReader } from './profit-series/closes.js';
import { createPriceLines } from './profit-series/price-lines.js';
import { createProfitByPositions } from './profit-series/profit-now.js';
import { createProfitSeries, type ProfitSeries } from './profit-series/series.js';
import type { Tables } from './tables/port.js';
import { createWalletEventReader, type WalletEventReader } from './wallet-events/reader.js';

/** Some 12 MB of rows and 36 MB of positions. */
const MAX_CACHED_ROWS = 20_000;
const MAX_CACHED_POSITIONS = 24_000;

/** What the families of endpoints read together; each has serializers of its own. */
export interface Reads {
  readonly facts: HeldFacts;
  readonly fills: FillReader;
  readonly titlesOf: TitleLookup;
  readonly walks: Walks;
  readonly walletEvents: WalletEventReader;
  readonly conditionsOf: Lookup<Condition>;
  readonly rankings: Rankings;
  readonly pnl: PnlReader;
  readonly positions: PositionReader;
  readonly topHolders: TopHolders;
  readonly walletPages: WalletPages;
  /** Of tokens. */
  readonly prices: HeldLookup<Price>;
  readonly closesOf: ClosesReader;
  readonly profitSeries: ProfitSeries;
  /** The equity curve of a wallet. */
  readonly equity: (wallet: string, filter: EquityFilter) => Promise<Equity>;
  /** What positions are about, by token. */
  readonly outcomesOf: Lookup<Outcome>;
  /** Copies of pages of rows. */
  readonly pages: TtlCache;
  readonly nowMs: () => number;
  /** What the tables hold, as caches have it. */
  readonly holding?: (() => unknown) | undefined;
}

export function createReads(deps: { tables: Tables; nowMs: () => number; holding?: () => unknown }): Reads {
  const walks = createWalks(deps);
  const changes = createChanges(deps);
  const facts = createFacts({ ...deps, changes });
  const outcomesOf = createOutcomeLookup(facts);
  const prices = createPriceLookup({ ...deps, changes });
  const closesOf = createClosesReader({ ...deps, changes });
  const rankings = createRankings(deps);
  const books = createTtlCache({
    maxEntries: 2_000,
    nowMs: deps.nowMs,
    holding: deps.holding,
    weigh: (positions) => (positions as readonly unknown[]).length,
    maxWeight: MAX_CACHED_POSITIONS,
  });
  return {
    facts,
    fills: createFillReader({ ...deps, walks }),
    titlesOf: createTitleLookup(facts),
    walks,
    walletEvents: createWalletEventReader({ ...deps, walks }),
    conditionsOf: createConditionLookup(facts),
    rankings,
    pnl: createPnlReader(deps),
    positions: createPositionReader({ tables: deps.tables, books, prices, outcomesOf }),
    topHolders: createTopHolders({ tables: deps.tables, prices }),
    walletPages: createWalletPages({ ...deps, rankings, prices, outcomesOf }),
    prices,
    closesOf,
    profitSeries: createProfitSeries({
      ...deps,
      changes,
      priceLines: createPriceLines({ facts, closesOf, changes }),
      prices,
      profitByPositions: createProfitByPositions({ tables: deps.tables, prices }),
    }),
    equity: (wallet, filter) => readEquity({ tables: deps.tables, facts, prices }, wallet, filter),
    outcomesOf,
    pages: createTtlCache({
      maxEntries: 5_000,
      nowMs: deps.nowMs,
      holding: deps.holding,
      weigh: (page) => (page as RowPage<unknown>).rows.length,
      maxWeight: MAX_CACHED_ROWS,
    }),
    nowMs: deps.nowMs,
    holding: deps.holding,
  };
}
