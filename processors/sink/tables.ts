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
 * `chunks`: every offset range a sink has decided to insert, written before the inserts. The newest row of a (sink, topic, partition) is
 * the resume point: it is inserted again under the same tokens, then reading goes on after it. Merges forget the older rows.
 */
export const sinkTables: Migration = {
  id: '0001_chunks',
  statements: (ddl) => [...ddl.table(chunks)],
};
