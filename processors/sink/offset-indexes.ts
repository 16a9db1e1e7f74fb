import type { Migration } from '../../infra/clickhouse/ddl.js';
import { blocks } from '../chain/tables.js';
import { fills } from '../fills/tables.js';
import { ticks } from '../oracle/tables.js';
import { collateralFlows, walletEvents } from '../wallet-events/tables.js';

/** Reconciliation counts rows by their source offsets (reconcile.ts): the index skips all but the newest granules. */
export const offsetIndexes: Migration = {
  id: '0014_offset_indexes',
  statements: (ddl) =>
    [fills, blocks, ticks, walletEvents, collateralFlows].flatMap((on) =>
      ddl.index({ name: `${on.name}_offset`, on, expression: '_offset', type: 'minmax GRANULARITY 1' }),
    ),
};
