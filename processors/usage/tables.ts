import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

const usage: TableSpec = {
  name: 'usage',
  columns: `
      id String,
      account_id String,
      meter LowCardinality(String),
      hour DateTime('UTC'),
      quantity UInt64,
      counted_at DateTime64(3, 'UTC'),
      process_id String,
      _partition UInt16,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['quantity'],
  orderBy: '(account_id, hour, meter, id)',
  placement: { shardBy: 'cityHash64(account_id)' },
};

/**
 * `usage`: usage of one account and meter in one UTC hour, one row per API key and counting process (read it with FINAL: totals grow).
 * `usage_hourly`, `usage_monthly`: sums over processes, per UTC hour and per UTC calendar month. Bytes as encoded, or requests.
 */
export const usageTables: Migration = {
  id: '0007_usage',
  statements: (ddl) => [
    ...ddl.table(usage),
    ...ddl.view(
      'usage_hourly',
      `SELECT account_id, meter, hour, sum(total) AS used
    FROM (SELECT account_id, meter, hour, id, max(quantity) AS total FROM usage GROUP BY account_id, meter, hour, id)
    GROUP BY account_id, meter, hour`,
    ),
    ...ddl.view(
      'usage_monthly',
      `SELECT account_id, meter, toStartOfMonth(hour) AS month, sum(used) AS used
    FROM usage_hourly GROUP BY account_id, meter, month`,
    ),
  ],
};

/** `key_id`: first 16 hex characters of the SHA-256 of the key that was used; empty for earlier usage. */
export const usageKeys: Migration = {
  id: '0060_usage_keys',
  statements: (ddl) => [...ddl.addColumn(usage, 'key_id String')],
};
