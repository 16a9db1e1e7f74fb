/**
 * Rows of settlements, quotes and last fills, one source per row, to be grouped by token. Part of applied migrations (0041, 0051, 0061): the text must
 * not change.
 */
export const priceRows = `SELECT token_id, numerator, denominator, timestamp AS settled_at, -1. AS mid, -1. AS quoted, toDateTime(0, 'UTC') AS quoted_at,
          toUInt64(0) AS usdc, toUInt64(0) AS shares, toDateTime(0, 'UTC') AS traded_at, toUInt64(0) AS place
        FROM token_settlements FINAL
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), ifNull((bid + ask) / 2, -1.), ifNull(price, -1.), toDateTime(updated_at, 'UTC'),
          toUInt64(0), toUInt64(0), toDateTime(0, 'UTC'), toUInt64(0)
        FROM token_quotes FINAL
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), -1., -1., toDateTime(0, 'UTC'), usdc, shares, timestamp, place
        FROM last_prices`;

/** `token_prices` as created by migration 0041; replaced by `current-price.ts` and `flat-price.ts`. */
export const tokenPricesSelect = `SELECT token_id,
      multiIf(denominator > 0, toFloat64(numerator) / toFloat64(denominator), mid >= 0, mid, quoted >= 0, quoted, shares > 0, usdc / shares, 0) AS price,
      multiIf(denominator > 0, 'settlement', mid >= 0, 'clob_mid', quoted >= 0, 'catalog', shares > 0, 'last_fill', 'none') AS source,
      multiIf(denominator > 0, settled_at, mid >= 0 OR quoted >= 0, quoted_at, traded_at) AS updated_at,
      denominator > 0 AS resolved,
      nullIf(traded_at, toDateTime(0, 'UTC')) AS last_trade_at
    FROM (
      SELECT token_id, max(numerator) AS numerator, max(denominator) AS denominator, max(settled_at) AS settled_at, max(mid) AS mid, max(quoted) AS quoted,
        max(quoted_at) AS quoted_at, argMax(usdc, place) AS usdc, argMax(shares, place) AS shares, max(traded_at) AS traded_at
      FROM (
        ${priceRows}
      ) GROUP BY token_id
    )`;
