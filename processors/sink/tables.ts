import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const chunks: TableSpec = {
  name: 'chunks',
  columns: `
      sink LowCardinality(String),
      topic LowCardinality(String),
      partition UInt16,
      first_offset UInt64,
      last_offset UInt64,
      planned_at DateTime64(3, 'UTC')`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['first_offset'],
  orderBy: '(sink, topic, partition)',
  placement: 'everywhere',
};

/**
 * `chunks`: every offset range that a sink has planned, written before its inserts. The newest row of a (sink, topic, partition) is the
 * resume point: the sink inserts it again with the same tokens and continues after it. Merges drop the older rows.
 */
export const sinkTables: Migration = {
  id: '0001_chunks',
  statements: (ddl) => [...ddl.table(chunks)],
};
