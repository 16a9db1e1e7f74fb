import type { Migration } from '../../infra/clickhouse/ddl.js';
import { priceRows } from './token-prices.js';

/** Longest age in seconds at which the midpoint of bid and ask is used. */
const MAX_MID_AGE_S = 60;

/**
 * Current price of a token with its source and time: `settlement`, the payout; else `clob_mid`, the midpoint of the best bid and ask while it is
 * younger than 60 s; else the newer of `last_fill`, the last maker fill, and `v1_condition`, the catalogue's quote (its price, else its midpoint).
 * `none`: no price is known. A filter on token_id reads the key range of each table.
 */
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

/** `token_prices` by the rule above. The earlier view preferred a catalogue quote of any age to the last fill. */
export const currentPrice: Migration = {
  id: '0051_price_now',
  statements: (ddl) => [...ddl.replaceView('token_prices', currentPriceSelect)],
};
