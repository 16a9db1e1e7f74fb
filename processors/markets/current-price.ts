import type { Migration } from '../../infra/clickhouse/ddl.js';
import { priceRows } from './token-prices.js';

/** Longest age in seconds at which the midpoint of bid and ask is used. Part of applied migrations (0051, 0061, 0068): it must not change. */
export const MAX_MID_AGE_S = 60;

/** Price without order books, as created by migration 0051: the text must not change. */
const currentPriceSelect = `SELECT token_id,
      multiIf(denominator > 0, 'settlement', mid >= 0 AND quoted_at > now() - ${MAX_MID_AGE_S}, 'clob_mid',
        shares > 0 AND (quote < 0 OR traded_at >= quoted_at), 'last_fill', quote >= 0, 'v1_condition', 'none') AS source,
      multiIf(source = 'settlement', toFloat64(numerator) / toFloat64(denominator), source = 'clob_mid', mid, source = 'last_fill', usdc / shares,
        source = 'v1_condition', quote, 0) AS price,
      multiIf(source = 'settlement', settled_at, source IN ('clob_mid', 'v1_condition'), quoted_at, traded_at) AS updated_at,
      denominator > 0 AS resolved,
      nullIf(traded_at, toDateTime(0, 'UTC')) AS last_trade_at
    FROM (
      SELECT token_id, max(numerator) AS numerator, max(denominator) AS denominator, max(settled_at) AS settled_at, max(mid) AS mid,
        if(max(quoted) >= 0, max(quoted), mid) AS quote, max(quoted_at) AS quoted_at,
        argMax(usdc, place) AS usdc, argMax(shares, place) AS shares, max(traded_at) AS traded_at
      FROM (
        ${priceRows}
      ) GROUP BY token_id
    )`;

/** `token_prices` without order books. The earlier view preferred a catalogue quote of any age to the last fill. */
export const currentPrice: Migration = {
  id: '0051_price_now',
  statements: (ddl) => [...ddl.replaceView('token_prices', currentPriceSelect)],
};

/** Rows of live order books that may price a token: verified against the venue's hash, of the venue itself, and with two sides. */
const bookRows = `SELECT token_id, mid AS book_mid, toDateTime(updated_at, 'UTC') AS booked_at
        FROM order_books FINAL WHERE verified AND NOT synthetic AND mid IS NOT NULL AND updated_at > now64(3) - ${MAX_MID_AGE_S}`;

/** Price with order books, as created by migration 0061: the text must not change. `flat-price.ts` has the definition of today. */
export const livePriceSelect = `SELECT token_id,
      multiIf(denominator > 0, 'settlement', book_mid >= 0 OR (mid >= 0 AND quoted_at > now() - ${MAX_MID_AGE_S}), 'clob_mid',
        shares > 0 AND (quote < 0 OR traded_at >= quoted_at), 'last_fill', quote >= 0, 'v1_condition', 'none') AS source,
      multiIf(source = 'settlement', toFloat64(numerator) / toFloat64(denominator), source = 'clob_mid', if(book_mid >= 0, book_mid, mid),
        source = 'last_fill', usdc / shares, source = 'v1_condition', quote, 0) AS price,
      multiIf(source = 'settlement', settled_at, source = 'clob_mid' AND book_mid >= 0, booked_at, source IN ('clob_mid', 'v1_condition'), quoted_at,
        traded_at) AS updated_at,
      denominator > 0 AS resolved,
      nullIf(traded_at, toDateTime(0, 'UTC')) AS last_trade_at
    FROM (
      SELECT token_id, max(numerator) AS numerator, max(denominator) AS denominator, max(settled_at) AS settled_at, max(mid) AS mid,
        if(max(quoted) >= 0, max(quoted), mid) AS quote, max(quoted_at) AS quoted_at,
        argMax(usdc, place) AS usdc, argMax(shares, place) AS shares, max(traded_at) AS traded_at,
        max(book_mid) AS book_mid, max(booked_at) AS booked_at
      FROM (
        SELECT *, -1. AS book_mid, toDateTime(0, 'UTC') AS booked_at FROM (
        ${priceRows}
        )
        UNION ALL
        SELECT token_id, toUInt256(0), toUInt256(0), toDateTime(0, 'UTC'), -1., -1., toDateTime(0, 'UTC'), toUInt64(0), toUInt64(0), toDateTime(0, 'UTC'),
          toUInt64(0), toFloat64(assumeNotNull(book_mid)), booked_at
        FROM (${bookRows})
      ) GROUP BY token_id
    )`;

/** `token_prices` with the midpoints of live order books. */
export const livePrice: Migration = {
  id: '0061_live_price',
  statements: (ddl) => [...ddl.replaceView('token_prices', livePriceSelect)],
};
