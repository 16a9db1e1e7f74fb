import type { Migration } from '../infra/clickhouse/ddl.js';
import { coverageFeeds } from './coverage/tables.js';
import { comboMarkets } from './positions/combo-tables.js';
import { mintedByToken, walletDays } from './positions/tables.js';

/** At the highest rate measured, 1,000 blocks in eleven minutes, those of almost two hours; a token takes some 200 bytes. */
const BLOCKS = 10_000;

/**
 * Sums over topics that several processes read: a process that gets the response to its insert late repeats it after the others have inserted. Tables
 * of rows need no larger window, since a repeated row replaces the first.
 */
export const deduplicationWindows: Migration = {
  id: '0071_deduplication_windows',
  statements: (ddl) =>
    [walletDays, mintedByToken, comboMarkets, coverageFeeds].flatMap((table) => ddl.deduplicationWindow(table, BLOCKS)),
};
