import type { Migration } from '../infra/clickhouse/ddl.js';
import { chainTokenTables } from './activity/chain-tokens.js';
import { activityTables } from './activity/tables.js';
import { changeIndexes } from './catalog/change-indexes.js';
import { catalogLookupIndexes } from './catalog/lookup-indexes.js';
import { catalogTables } from './catalog/tables.js';
import { tagTokenTables } from './catalog/tag-tokens.js';
import { chainTables } from './chain/tables.js';
import { copyScoreTables } from './copy-pnl/tables.js';
import { coverageTables } from './coverage/tables.js';
import { deduplicationWindows } from './deduplication-windows.js';
import { binaryHashes } from './fills/binary-hashes.js';
import { fillsFineGranularity } from './fills/fine-granularity.js';
import { matchesByDay } from './fills/matches-by-day.js';
import { fillsFilterIndexes, fillsOrderIndex } from './fills/order-index.js';
import { fillsTables } from './fills/tables.js';
import { fillTotals, fillTotalsBackfill, resolutionsInOrder } from './fills/totals.js';
import {
  largestPositionTables,
  leaderboardCompleteness,
  leaderboardTables,
  tagLeaderboardTables,
} from './leaderboards/tables.js';
import { currentPrice, livePrice } from './markets/current-price.js';
import { flatPrice } from './markets/flat-price.js';
import { marketViews, quoteTables } from './markets/tables.js';
import { oracleTables } from './oracle/tables.js';
import { orderBookTables } from './order-books/tables.js';
import { comboBackfill, comboIndex, comboTables } from './positions/combo-tables.js';
import { eventHoldings } from './positions/event-holdings.js';
import { eventTransactions } from './positions/event-transactions.js';
import { pnlTables, positionsTables } from './positions/tables.js';
import { offsetIndexes } from './sink/offset-indexes.js';
import { sinkProgressTable } from './sink/progress-table.js';
import { sinkTables } from './sink/tables.js';
import { socialTables } from './social/tables.js';
import { unknownLogTables } from './unknown-logs/tables.js';
import { usageKeys, usageTables } from './usage/tables.js';
import { walletActivityTables } from './wallet-activity/tables.js';
import { walletEventTables } from './wallet-events/tables.js';
import { walletTagsTables } from './wallet-tags/tables.js';
import { wideFilters } from './wide-filters.js';

/** The schema's history, oldest first. */
export const migrations: readonly Migration[] = [
  sinkTables,
  fillsTables,
  chainTables,
  oracleTables,
  catalogTables,
  fillsOrderIndex,
  usageTables,
  walletEventTables,
  fillTotals,
  resolutionsInOrder,
  fillsFilterIndexes,
  catalogLookupIndexes,
  offsetIndexes,
  fillTotalsBackfill,
  activityTables,
  positionsTables,
  pnlTables,
  quoteTables,
  marketViews,
  leaderboardTables,
  largestPositionTables,
  comboTables,
  comboBackfill,
  comboIndex,
  changeIndexes,
  fillsFineGranularity,
  matchesByDay,
  coverageTables,
  sinkProgressTable,
  chainTokenTables,
  currentPrice,
  unknownLogTables,
  tagTokenTables,
  tagLeaderboardTables,
  wideFilters,
  walletActivityTables,
  copyScoreTables,
  walletTagsTables,
  orderBookTables,
  usageKeys,
  livePrice,
  socialTables,
  leaderboardCompleteness,
  eventHoldings,
  flatPrice,
  binaryHashes,
  eventTransactions,
  deduplicationWindows,
];
