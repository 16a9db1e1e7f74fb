import type { Migration } from '../../infra/clickhouse/ddl.js';
import { comboEvents } from './combo-tables.js';
import { pnlEvents } from './tables.js';

/**
 * Adds to `pnl_events` and `combo_events` what a position holds after each event: `received_after`, the shares without a cost, and `fee_cost_after`, the cost
 * of shares paid as fees of all closed holdings. Events that were processed before have 0.
 */
export const eventHoldings: Migration = {
  id: '0067_event_holdings',
  statements: (ddl) =>
    [pnlEvents, comboEvents].flatMap((table) => [
      ...ddl.addColumn(table, 'received_after UInt64'),
      ...ddl.addColumn(table, 'fee_cost_after Int64'),
    ]),
};
