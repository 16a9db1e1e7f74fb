import type { MaterializedViewSpec, Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

export const orderBooks: TableSpec = {
  name: 'order_books',
  columns: `
      token_id UInt256,
      condition_id String,
      bid_prices Array(String),
      bid_sizes Array(String),
      ask_prices Array(String),
      ask_sizes Array(String),
      best_bid Nullable(Decimal(18, 10)),
      best_ask Nullable(Decimal(18, 10)),
      mid Nullable(Decimal(18, 10)),
      verified Bool,
      verified_since DateTime64(3, 'UTC'),
      reason LowCardinality(String),
      hash String,
      tick_size String,
      last_trade_price String,
      last_trade_size String,
      last_trade_side LowCardinality(String),
      last_trade_at Nullable(DateTime64(3, 'UTC')),
      synthetic Bool,
      updated_at DateTime64(3, 'UTC'),
      received_at DateTime64(3, 'UTC'),
      epoch String,
      seq UInt64,
      _partition UInt16,
      _offset UInt64,
      _resume UInt64,
      _version UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'token_id',
  ttl: 'toDateTime(received_at) + INTERVAL 1 DAY',
  // A granule holds the levels of its books; most reads are of one book.
  settings: ['index_granularity = 64'],
  placement: 'everywhere',
};

const coverageBooks: TableSpec = {
  name: 'coverage_books',
  columns: `
      bucket DateTime('UTC'),
      synthetic Bool,
      first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
      last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
      books AggregateFunction(uniqCombined(12), UInt256),
      unverified AggregateFunction(uniqCombinedIf(12), UInt256, UInt8)`,
  engine: 'AggregatingMergeTree',
  orderBy: '(bucket, synthetic)',
  placement: 'everywhere',
};

const coverageView: MaterializedViewSpec = {
  name: 'coverage_books_mv',
  from: orderBooks,
  to: coverageBooks,
  select: (
    from,
  ) => `SELECT toStartOfFiveMinutes(toDateTime(b.received_at, 'UTC')) AS bucket, b.synthetic AS synthetic, min(b.received_at) AS first_at, max(b.received_at) AS last_at,
      uniqCombinedState(12)(b.token_id) AS books, uniqCombinedIfState(12)(b.token_id, toUInt8(NOT b.verified)) AS unverified
    FROM ${from} AS b GROUP BY bucket, synthetic`,
};

/**
 * `order_books`: the newest order book per token, one row; expires a day after the last message. Levels are the venue's texts, best first. `updated_at`: time of
 * the venue; `received_at`: of ingest. `mid` is null for a side without levels and for crossed sides. `verified_since`: since when `verified` has its value.
 * `epoch`, `seq`: position in the feed; `_offset`: in the log, and `_resume` is an offset before which every record of the partition is in the table.
 * `_version` rises with each insert.
 * `coverage_books`: about how many books were read in five minutes, and how many of them were unverified at some time. Its states may be merged repeatedly.
 */
export const orderBookTables: Migration = {
  id: '0059_order_books',
  statements: (ddl) => [...ddl.table(orderBooks), ...ddl.table(coverageBooks), ...ddl.materializedView(coverageView)],
};
