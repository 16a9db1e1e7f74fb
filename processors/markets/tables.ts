import type { Migration, TableSpec } from '../../infra/clickhouse/ddl.js';

export const tokenQuotes: TableSpec = {
  name: 'token_quotes',
  columns: `
      token_id UInt256,
      condition_id String,
      outcome_index UInt8,
      price Nullable(Float64),
      bid Nullable(Float64),
      ask Nullable(Float64),
      updated_at DateTime64(3, 'UTC'),
      _offset UInt64`,
  engine: 'ReplacingMergeTree',
  engineArgs: ['_offset'],
  orderBy: 'token_id',
  settings: ['index_granularity = 256'],
  placement: 'everywhere',
};

/** `token_quotes`: newest price, best bid and best ask of every token from the catalogue; those of the second outcome mirror those of the first. */
export const quoteTables: Migration = {
  id: '0023_quotes',
  statements: (ddl) => [...ddl.table(tokenQuotes)],
};

/**
 * `token_prices`: the price of a token with its source: settlement, else the midpoint of the catalogue's best bid and ask, else its price, else the
 * last maker fill. `open_interest`: collateral of the full sets of a token's condition; a condition's is the sum over its tokens.
 * `market_status`: status of a condition from catalogue and chain. All three views read only the key range of the filtered ids.
 */
export const marketViews: Migration = {
  id: '0024_market_views',
  statements: (ddl) => [
    ...ddl.view(
      'token_prices',
      `SELECT token_id,
      multiIf(denominator > 0, toFloat64(numerator) / toFloat64(denominator), mid >= 0, mid, quoted >= 0, quoted, shares > 0, usdc / shares, 0) AS price,
      multiIf(denominator > 0, 'settlement', mid >= 0, 'clob_mid', quoted >= 0, 'catalog', shares > 0, 'last_fill', 'none') AS source,
      multiIf(denominator > 0, settled_at, mid >= 0 OR quoted >= 0, quoted_at, traded_at) AS updated_at,
      denominator > 0 AS resolved,
      nullIf(traded_at, toDateTime(0, 'UTC')) AS last_trade_at
    FROM (
      SELECT token_id, max(numerator) AS numerator, max(denominator) AS denominator, max(settled_at) AS settled_at, max(mid) AS mid, max(quoted) AS quoted,
        max(quoted_at) AS quoted_at, max(usdc) AS usdc, max(shares) AS shares, max(traded_at) AS traded_at
      FROM (
        SELECT token_id, numerator, denominator, timestamp AS settled_at, -1. AS mid, -1. AS quoted, toDateTime(0, 'UTC') AS quoted_at,
          toUInt64(0) AS usdc, toUInt64(0) AS shares, toDateTime(0, 'UTC') AS traded_at
        FROM token_settlements FINAL
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), ifNull((bid + ask) / 2, -1.), ifNull(price, -1.), toDateTime(updated_at, 'UTC'),
          toUInt64(0), toUInt64(0), toDateTime(0, 'UTC')
        FROM token_quotes FINAL
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), -1., -1., toDateTime(0, 'UTC'),
          tupleElement(argMaxMerge(last), 'usdc'), tupleElement(argMaxMerge(last), 'shares'), tupleElement(argMaxMerge(last), 'timestamp')
        FROM last_prices GROUP BY token_id
      ) GROUP BY token_id
    )`,
    ),
    ...ddl.view(
      'open_interest',
      `SELECT token_id, sum(amount) AS amount
    FROM (SELECT token_id, amount FROM minted_by_token UNION ALL SELECT token_id, amount FROM collateral_by_token) GROUP BY token_id`,
    ),
    ...ddl.view(
      'market_status',
      `SELECT condition_id, max(known) AS in_catalog, max(is_active) AS active, max(is_closed) AS closed,
      nullIf(max(settled), toDateTime(0, 'UTC')) AS resolved_at, max(numerators) AS payout_numerators,
      if(resolved_at IS NULL OR arrayCount(n -> n > 0, payout_numerators) != 1, NULL, toInt32(arrayFirstIndex(n -> n > 0, payout_numerators) - 1)) AS winning_outcome_index,
      multiIf(resolved_at IS NOT NULL, 'resolved', closed, 'closed', 'live') AS status
    FROM (
      SELECT condition_id, true AS known, active AS is_active, closed AS is_closed, toDateTime(0, 'UTC') AS settled, CAST([], 'Array(UInt256)') AS numerators FROM markets FINAL
      UNION ALL
      SELECT condition_id, false, false, false, timestamp, payout_numerators FROM resolutions FINAL
    ) GROUP BY condition_id`,
    ),
  ],
};
