import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

export const ticks: TableSpec = {
  name: 'ticks',
  columns: `
      id String,
      feed LowCardinality(String),
      twap_window_s UInt16,
      timestamp_ms DateTime64(3, 'UTC'),
      price Decimal(38, 18),
      bid Nullable(Decimal(38, 18)),
      ask Nullable(Decimal(38, 18)),
      source LowCardinality(String),
      received_at DateTime64(3, 'UTC'),
      _partition UInt16,
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: '(feed, twap_window_s, timestamp_ms, id)',
  placement: { shardBy: 'cityHash64(feed)' },
};

const candles5m: TableSpec = {
  name: 'candles_5m',
  columns: `
      feed LowCardinality(String),
      bucket DateTime('UTC'),
      open AggregateFunction(argMin, Decimal(38, 18), DateTime64(3, 'UTC')),
      high SimpleAggregateFunction(max, Decimal(38, 18)),
      low SimpleAggregateFunction(min, Decimal(38, 18)),
      close AggregateFunction(argMax, Decimal(38, 18), DateTime64(3, 'UTC'))`,
  engine: 'AggregatingMergeTree',
  orderBy: '(feed, bucket)',
  placement: 'with its source',
};

/**
 * `ticks`: oracle prices, one per feed, window and second; twap_window_s 0 = spot.
 * `candles_5m`: state of the 5-minute spot candles, aggregated from ticks on insert; read it through `candles`.
 * A tick on a boundary second closes one candle and opens the next, as the window prices do.
 */
export const oracleTables: Migration = {
  id: '0004_oracle',
  statements: (ddl) => [
    ...ddl.table(ticks),
    ...ddl.table(candles5m),
    ...ddl.materializedView({
      name: 'candles_5m_mv',
      from: ticks,
      to: candles5m,
      select: (from) => `SELECT feed, start AS bucket,
      argMinState(price, timestamp_ms) AS open, max(price) AS high, min(price) AS low, argMaxState(price, timestamp_ms) AS close
    FROM ${from}
    ARRAY JOIN if(toUnixTimestamp64Milli(timestamp_ms) % 300000 = 0,
      [toStartOfInterval(toDateTime(timestamp_ms, 'UTC'), INTERVAL 5 MINUTE), toStartOfInterval(toDateTime(timestamp_ms, 'UTC'), INTERVAL 5 MINUTE) - 300],
      [toStartOfInterval(toDateTime(timestamp_ms, 'UTC'), INTERVAL 5 MINUTE)]) AS start
    WHERE twap_window_s = 0
    GROUP BY feed, bucket`,
    }),
    ...ddl.view(
      'candles',
      `SELECT feed, bucket, argMinMerge(open) AS open, max(high) AS high, min(low) AS low, argMaxMerge(close) AS close
    FROM candles_5m GROUP BY feed, bucket`,
    ),
  ],
};
