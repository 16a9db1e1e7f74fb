import type { Migration } from '../../infra/clickhouse/ddl.js';
import { conditionTokens, tokenSettlements } from '../activity/tables.js';
import { resolutions } from '../chain/tables.js';
import { tokenQuotes } from '../markets/tables.js';
import { markets, tokens } from './tables.js';

/** Caches of these tables poll for new rows: the indexes skip granules without any. */
export const changeIndexes: Migration = {
  id: '0040_change_indexes',
  statements: (ddl) =>
    [markets, tokens, tokenQuotes, resolutions, conditionTokens, tokenSettlements].flatMap((on) =>
      ddl.index({ name: `${on.name}_offset`, on, expression: '_offset', type: 'minmax GRANULARITY 1' }),
    ),
};
