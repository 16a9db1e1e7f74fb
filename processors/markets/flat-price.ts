import type { Migration } from '../../infra/clickhouse/ddl.js';
import { MAX_MID_AGE_S } from './current-price.js';

/** Rows of settlements, quotes, last fills and live order books, one source per row, to be grouped by token. */
const sources = `SELECT token_id, numerator, denominator, timestamp AS settled_at, -1. AS mid, -1. AS quoted, toDateTime(0, 'UTC') AS quoted_at,
          toUInt64(0) AS usdc, toUInt64(0) AS shares, toDateTime(0, 'UTC') AS traded_at, toUInt64(0) AS place, -1. AS book_mid, toDateTime(0, 'UTC') AS booked_at
        FROM token_settlements FINAL
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), ifNull((bid + ask) / 2, -1.), ifNull(price, -1.), toDateTime(updated_at, 'UTC'),
          toUInt64(0), toUInt64(0), toDateTime(0, 'UTC'), toUInt64(0), -1., toDateTime(0, 'UTC')
        FROM token_quotes FINAL
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), -1., -1., toDateTime(0, 'UTC'), usdc, shares, timestamp, place, -1., toDateTime(0, 'UTC')
        FROM last_prices
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), -1., -1., toDateTime(0, 'UTC'), toUInt64(0), toUInt64(0), toDateTime(0, 'UTC'),
          toUInt64(0), toFloat64(assumeNotNull(mid)), toDateTime(updated_at, 'UTC')
        FROM order_books FINAL WHERE verified AND NOT synthetic AND mid IS NOT NULL AND updated_at > now64(3) - ${MAX_MID_AGE_S}`;

/**
 * Current price of a token with its source and time, the only definition of it: `settlement`, the payout; else `clob_mid`, the midpoint of the verified order
 * book, else of the catalogue's best bid and ask, whose last change is less than 60 s old; else the newer of `last_fill`, the last maker fill, and `v1_condition`,
 * the catalogue's quote (its price, else its midpoint). `none`: no price is known. A filter on token_id reads the key range of each table.
 *
 * Choosing source, price and time at once, from one list of sources, takes the engine half as long to plan as the nested form of migration 0061; the
 * statements of requests read so few rows that planning is most of their time.
 */
const flatPriceSelect = `SELECT token_id, chosen.1 AS source, chosen.2 AS price, chosen.3 AS updated_at, denominator > 0 AS resolved,
      nullIf(traded_at, toDateTime(0, 'UTC')) AS last_trade_at
    FROM (
      SELECT token_id, denominator, traded_at,
        multiIf(denominator > 0, ('settlement', toFloat64(numerator) / toFloat64(denominator), settled_at),
          book_mid >= 0, ('clob_mid', book_mid, booked_at),
          mid >= 0 AND quoted_at > now() - ${MAX_MID_AGE_S}, ('clob_mid', mid, quoted_at),
          shares > 0 AND (quote < 0 OR traded_at >= quoted_at), ('last_fill', usdc / shares, traded_at),
          quote >= 0, ('v1_condition', quote, quoted_at),
          ('none', 0., traded_at)) AS chosen
      FROM (
        SELECT token_id, max(numerator) AS numerator, max(denominator) AS denominator, max(settled_at) AS settled_at, max(mid) AS mid,
          if(max(quoted) >= 0, max(quoted), mid) AS quote, max(quoted_at) AS quoted_at,
          argMax(usdc, place) AS usdc, argMax(shares, place) AS shares, max(traded_at) AS traded_at,
          max(book_mid) AS book_mid, max(booked_at) AS booked_at
        FROM (
        ${sources}
        ) GROUP BY token_id
      )
    )`;

/** `token_prices` in a form that is planned faster; its rows are the same. */
export const flatPrice: Migration = {
  id: '0068_flat_price',
  statements: (ddl) => [...ddl.replaceView('token_prices', flatPriceSelect)],
};
