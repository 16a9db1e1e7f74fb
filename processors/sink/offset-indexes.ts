import type { Migration } from '../../infra/clickhouse/ddl.js';
import { blocks } from '../chain/tables.js';
import { fills } from '../fills/tables.js';
import { ticks } from '../oracle/tables.js';
import { collateralFlows, walletEvents } from '../wallet-events/tables.js';

/** Rows are counted by the offsets they came from (reconcile.ts): all but the newest granules are passed over. */
export const offsetIndexes: Migration = {
  id: '0014_offset_indexes',
  statements: (ddl) =>
    [fills, blocks, ticks, walletEvents, collateralFlows].flatMap((on) =>
      ddl.index({ name: `${on.name}_offset`, on, expression: '_offset', type: 'minmax GRANULARITY 1' }),
    ),
};
