import type { IndexSpec, MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';
import { isComboSql } from '../../schemas/primitives/positions.sql.js';
import { pnlColumns, pnlEvents } from './tables.js';

export const comboEvents: TableSpec = {
  name: 'combo_events',
  columns: `${pnlColumns},
      INDEX combo_events_timestamp timestamp TYPE minmax GRANULARITY 1,
      INDEX combo_events_token token_id TYPE bloom_filter(0.01) GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(block_number, log_index, id, leg)',
  settings: ['index_granularity = 1024'],
  placement: 'with its source',
};

export const comboMarkets: TableSpec = {
  name: 'combo_markets',
  columns: `
      condition_id String,
      events SimpleAggregateFunction(sum, UInt64),
      redemptions SimpleAggregateFunction(sum, UInt64),
      first_at SimpleAggregateFunction(min, DateTime('UTC')),
      last_at SimpleAggregateFunction(max, DateTime('UTC'))`,
  engine: 'AggregatingMergeTree',
  orderBy: 'condition_id',
  settings: ['index_granularity = 1024'],
  placement: 'with its source',
};

export const comboEventsView: MaterializedViewSpec = {
  name: 'combo_events_mv',
  from: pnlEvents,
  to: comboEvents,
  select: (from) => `SELECT * FROM ${from} WHERE ${isComboSql('token_id')}`,
};

const views: readonly MaterializedViewSpec[] = [
  comboEventsView,
  {
    name: 'combo_markets_mv',
    from: pnlEvents,
    to: comboMarkets,
    select: (from) => `SELECT concat('0x', lower(hex(bitShiftRight(token_id, 8)))) AS condition_id, count() AS events,
      countIf(action = 'REDEEM') AS redemptions, min(timestamp) AS first_at, max(timestamp) AS last_at
    FROM ${from} WHERE ${isComboSql('token_id')} GROUP BY condition_id`,
  },
];

/**
 * `combo_events`: rows of `pnl_events` about combos, of all wallets in chain order. `combo_markets`: their number per combo condition and the
 * times of the first and the last one.
 */
export const comboTables: Migration = {
  id: '0037_combos',
  statements: (ddl) => views.flatMap((view) => [...ddl.table(view.to), ...ddl.materializedView(view)]),
};

/** Backfills the rows of `pnl_events` that predate the views. Sinks do not run during migrations. */
export const comboBackfill: Migration = {
  id: '0038_combos_backfill',
  statements: (ddl) => views.flatMap((view) => ddl.backfill(view)),
};

/** A query for a transaction without a wallet reads the whole table unless the index skips granules. */
export const comboTransactions: IndexSpec = {
  name: 'combo_events_tx',
  on: comboEvents,
  expression: 'tx_hash',
  type: 'bloom_filter(0.01) GRANULARITY 1',
};

export const comboIndex: Migration = {
  id: '0039_combos_index',
  statements: (ddl) => ddl.index(comboTransactions),
};
