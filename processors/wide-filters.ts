import type { Migration } from '../infra/clickhouse/ddl.js';
import { tokenTagTables } from './catalog/token-tags.js';
import { builderTimes } from './fills/fine-granularity.js';
import { tagLeaderboardSums } from './leaderboards/tables.js';

/** Tables and indexes for filters by tags with very many markets. */
export const wideFilters: Migration = {
  id: '0055_wide_filters',
  statements: (ddl) => [
    ...tokenTagTables.statements(ddl),
    ...ddl.index(builderTimes),
    ...tagLeaderboardSums.statements(ddl),
  ],
};
