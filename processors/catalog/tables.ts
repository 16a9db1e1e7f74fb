import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

export const events: TableSpec = {
  name: 'events',
  columns: `
      id String, slug String, title String, description String, image Nullable(String), icon Nullable(String),
      active Bool, closed Bool, archived Bool, neg_risk Bool, neg_risk_market_id Nullable(String),
      volume Float64, volume_24h Float64, liquidity Float64, open_interest Float64,
      start_at Nullable(DateTime64(3, 'UTC')), end_at Nullable(DateTime64(3, 'UTC')), created_at Nullable(DateTime64(3, 'UTC')),
      series_id Nullable(String), series_slug Nullable(String), tag_slugs Array(String), market_condition_ids Array(String), raw String,
      _offset UInt64,
      INDEX slug_bloom slug TYPE bloom_filter(0.01) GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

export const markets: TableSpec = {
  name: 'markets',
  columns: `
      condition_id String, id String, question_id Nullable(String), slug String, question String, description String,
      image Nullable(String), icon Nullable(String), event_id Nullable(String), event_slug Nullable(String), event_title Nullable(String),
      outcomes Array(String), token_ids Array(UInt256), outcome_prices Array(String),
      active Bool, closed Bool, archived Bool, neg_risk Bool, neg_risk_market_id Nullable(String), neg_risk_request_id Nullable(String),
      group_item_title Nullable(String), tick_size Nullable(Float64), min_order_size Nullable(Float64), taker_base_fee Nullable(Float64), fee_rate Nullable(Float64),
      volume Float64, volume_24h Float64, liquidity Float64, best_bid Nullable(Float64), best_ask Nullable(Float64), last_trade_price Nullable(Float64),
      start_at Nullable(DateTime64(3, 'UTC')), end_at Nullable(DateTime64(3, 'UTC')), event_start_at Nullable(DateTime64(3, 'UTC')),
      created_at Nullable(DateTime64(3, 'UTC')), closed_at Nullable(DateTime64(3, 'UTC')),
      resolution_source Nullable(String), crypto_asset Nullable(String), crypto_duration Nullable(String), twap_enabled Bool, twap_lookback_s Nullable(UInt16),
      tag_slugs Array(String), raw String,
      _offset UInt64,
      INDEX slug_bloom slug TYPE bloom_filter(0.01) GRANULARITY 1,
      INDEX event_bloom event_id TYPE bloom_filter(0.01) GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'condition_id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

export const tokens: TableSpec = {
  name: 'tokens',
  columns: `
      token_id UInt256, condition_id String, outcome_index UInt8, outcome String, market_slug String, event_id Nullable(String), event_slug Nullable(String),
      _offset UInt64,
      INDEX condition_bloom condition_id TYPE bloom_filter(0.01) GRANULARITY 1,
      INDEX slug_bloom market_slug TYPE bloom_filter(0.01) GRANULARITY 1,
      INDEX event_bloom event_id TYPE bloom_filter(0.01) GRANULARITY 1`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'token_id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

const series: TableSpec = {
  name: 'series',
  columns: `
      id String, slug String, title String, recurrence String, active Bool, closed Bool, event_count Nullable(UInt32), _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'id',
  placement: 'everywhere',
};

const tags: TableSpec = {
  name: 'tags',
  columns: `
      id String, slug String, label String, _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'slug',
  placement: 'everywhere',
};

/**
 * The venue's catalogue, newest version per key (read with FINAL): `events`, `markets`, `tokens` (one row per outcome token), `series`, `tags`.
 * Prices are decimal text as published; volumes and liquidity are USD as published by the catalogue, not sums of fills.
 */
export const catalogTables: Migration = {
  id: '0005_catalog',
  statements: (ddl) => [
    ...ddl.table(events),
    ...ddl.table(markets),
    ...ddl.table(tokens),
    ...ddl.table(series),
    ...ddl.table(tags),
  ],
};
