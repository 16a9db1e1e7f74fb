import type { Migration } from '../../infra/clickhouse/ddl.js';
import { eventTransactionSql } from '../../schemas/primitives/positions.sql.js';
import { comboEvents, comboEventsView, comboTransactions } from './combo-tables.js';
import { pnlEvents } from './tables.js';

/** The id of an event begins with its transaction: `pnl_events` and `combo_events` do not store that a second time. */
export const eventTransactions: Migration = {
  id: '0070_event_transactions',
  statements: (ddl) => [
    ...ddl.dropView(comboEventsView.name),
    ...ddl.dropIndex(comboTransactions),
    ...[pnlEvents, comboEvents].flatMap((table) => ddl.dropColumns(table, ['tx_hash'])),
    ...ddl.index({ ...comboTransactions, name: 'combo_events_transaction', expression: eventTransactionSql('id') }),
    ...ddl.materializedView(comboEventsView),
  ],
};
