import { cashSql, slippageSql } from '../../schemas/copy-pnl/cash.sql.js';
import type { Sql } from '../tables/port.js';

/** Conditions under which a copier repeats the fills of the wallet. */
export interface CopierConditions {
  /** Basis points. */
  readonly slippageBps: number;
  /** Seconds after the wallet's fill; the copier pays the price of the token's next fill from then on. */
  readonly delayS: number;
  /** Base units of USDC that the token must have traded in the window; tokens below are not copied at all. */
  readonly minLiquidity: bigint;
}

/** Sums of one UTC day of the window; integers as text. */
export interface CopierDay {
  /** Start of the day, Unix seconds. */
  readonly day_s: number;
  /** Cash flow of the wallet, base units. */
  readonly actual: string;
  /** Cash flow of the copier before slippage, ten-thousandths of base units. */
  readonly cash: string;
  /** Ten-thousandths of base units. */
  readonly slippage: string;
  /** Fills without a later fill of their token; they are copied at the wallet's own price. */
  readonly without_next_fill: string;
  /** Fills of tokens below the liquidity; they and their settlements are left out. */
  readonly below_liquidity: string;
}

const WINDOW = 'wallet = {wallet:String} AND timestamp >= {from_s:UInt32} AND timestamp < {to_s:UInt32}';
const ownTokens = `SELECT arrayJoin(tokens) AS token_id FROM wallet_activity FINAL WHERE ${WINDOW} AND action IN ('BUY', 'SELL')`;
const liquidTokens = `SELECT token_id FROM token_candles_1h
          WHERE token_id IN (SELECT arrayJoin(tokens) FROM wallet_activity FINAL WHERE ${WINDOW})
            AND bucket >= toStartOfHour(toDateTime({from_s:UInt32}, 'UTC')) AND bucket < {to_s:UInt32}
          GROUP BY token_id HAVING sum(usdc) >= {min_liquidity:UInt64}`;
/** Cost or proceeds of the fill at the later price, ten-thousandths of base units, rounded down. */
const later = 'intDiv(toInt256(later_usdc) * shares * 10000, greatest(later_shares, 1))';

/**
 * The backtest under the copier's conditions per UTC day. A later price is that of the token's first fill (of a maker) at or after the delay. Of the fills
 * after the window and the delay, only a token's first can be one: they are one group, so that memory is bounded by the window. `fills` and hourly candles are read for the wallet's own tokens only; liquidity counts whole hours that the window touches. A settlement names both outcomes: that of
 * the tokens that the wallet has traded counts, of a redemption those that it paid, so that no settlement is copied without its fills.
 */
export const copierSql = (
  window: { readonly wallet: string; readonly fromS: number; readonly toS: number },
  { slippageBps, delayS, minLiquidity }: CopierConditions,
): Sql => ({
  text: `WITH (SELECT groupArray(token_id) FROM (${liquidTokens})) AS liquid_tokens, (SELECT groupUniqArray(token_id) FROM (${ownTokens})) AS own_tokens
    SELECT toUnixTimestamp(toStartOfDay(timestamp, 'UTC')) AS day_s, toString(sum(${cashSql})) AS actual,
      toString(sumIf(if(is_fill AND has_later, if(action = 'BUY', -1, 1) * ${later}, ${cashSql} * 10000), liquid)) AS cash,
      toString(sumIf(if(is_fill AND has_later, intDiv(${slippageSql('{slippage_bps:UInt16}', later, 'toInt256(shares) * 10000')}, 10000), ${slippageSql('{slippage_bps:UInt16}')}), liquid)) AS slippage,
      toString(countIf(is_fill AND liquid AND NOT has_later AND {delay_s:UInt32} > 0)) AS without_next_fill,
      toString(countIf(is_fill AND NOT liquid)) AS below_liquidity
    FROM (
      SELECT timestamp, action, usdc, shares, action IN ('BUY', 'SELL') AS is_fill,
        {delay_s:UInt32} > 0 AND later_shares > 0 AS has_later, later_usdc, later_shares,
        {min_liquidity:UInt64} = 0 OR hasAny(arrayIntersect(deciding, own_tokens), liquid_tokens)
          OR (NOT hasAny(deciding, own_tokens) AND hasAny(deciding, liquid_tokens)) AS liquid
      FROM (
        SELECT timestamp, action, usdc, shares, tokens[1] AS token, toUnixTimestamp(timestamp) + {delay_s:UInt32} AS due_s,
          arrayFilter((token_id, n) -> payout_numerators[n] > 0, tokens, arrayEnumerate(tokens)) AS paid_tokens, if(empty(paid_tokens), tokens, paid_tokens) AS deciding
        FROM wallet_activity FINAL WHERE ${WINDOW} AND action NOT IN ('SEND', 'RECEIVE')
      ) AS own
      ASOF LEFT JOIN (
        SELECT token_id, least(toUnixTimestamp(timestamp), {to_s:UInt32} + {delay_s:UInt32}) AS at_s, argMin(usdc, (block_number, log_index)) AS later_usdc,
          argMin(shares, (block_number, log_index)) AS later_shares
        FROM fills_by_token FINAL
        WHERE {delay_s:UInt32} > 0 AND token_id IN (${ownTokens}) AND NOT is_taker_order AND shares > 0
          AND timestamp >= {from_s:UInt32} + {delay_s:UInt32}
        GROUP BY token_id, at_s
      ) AS next ON own.token = next.token_id AND next.at_s >= own.due_s
    ) GROUP BY day_s ORDER BY day_s`,
  params: {
    wallet: window.wallet,
    from_s: window.fromS,
    to_s: window.toS,
    slippage_bps: slippageBps,
    delay_s: delayS,
    min_liquidity: minLiquidity,
  },
});
