import type { TableSpec } from '../../infra/clickhouse/ddl.js';

/** A table of signed sums in base units per token, filled by a materialized view. */
export const tokenAmountsTable = (name: string): TableSpec => ({
  name,
  columns: `
      token_id UInt256,
      amount Int64`,
  engine: 'SummingMergeTree',
  engineArgs: ['amount'],
  orderBy: 'token_id',
  placement: 'with its source',
});
