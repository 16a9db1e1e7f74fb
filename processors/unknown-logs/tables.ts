import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const unknownLogs: TableSpec = {
  name: 'unknown_logs',
  columns: `
      block_number UInt64,
      log_index UInt32,
      timestamp DateTime('UTC'),
      tx_hash String,
      address LowCardinality(String),
      topics Array(String),
      data String,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(block_number, log_index)',
  placement: 'everywhere',
};

/** Logs of watched contracts whose event was unknown when their block was read, as the node returned them. */
export const unknownLogTables: Migration = {
  id: '0052_unknown_logs',
  statements: (ddl) => ddl.table(unknownLogs),
};
