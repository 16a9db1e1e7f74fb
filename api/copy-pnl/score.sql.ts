import { cashSql, slippageSql } from '../../schemas/copy-pnl/cash.sql.js';
import type { Sql } from '../tables/port.js';
import { eventKinds, GROUP_EVENT, groupHoldingsSql, TOKEN_EVENT, tokenHoldingSql } from './average-cost.sql.js';

/** Wallets and the window of a score. */
export interface ScoreWindow {
  readonly wallets: readonly string[];
  /** Unix seconds: from <= t < to. */
  readonly fromS: number;
  readonly toS: number;
}

const WINDOW = `wallet IN {wallets:Array(String)} AND timestamp >= {from_s:UInt32} AND timestamp < {to_s:UInt32}`;
const windowParams = ({ wallets, fromS, toS }: ScoreWindow) => ({ wallets, from_s: fromS, to_s: toS });

/** Cash and counts of a wallet in the window; integers as text, cash in base units. */
export interface CashRow {
  readonly wallet: string;
  readonly rows: string;
  readonly fills: string;
  readonly bought: string;
  readonly sold: string;
  readonly settled_in: string;
  readonly settled_out: string;
  readonly fees: string;
  /** Ten-thousandths of base units. */
  readonly slippage: string;
  readonly redemptions: string;
  readonly merges: string;
  readonly splits: string;
  readonly conversions: string;
  readonly unresolved: string;
}

/** Cash of the window per wallet, from one scan. A wallet without activity has no row. */
export const cashOfWindowSql = (window: ScoreWindow, slippageBps: number): Sql => ({
  text: `SELECT wallet, toString(count()) AS rows, toString(countIf(action IN ('BUY', 'SELL'))) AS fills,
      toString(sumIf(toInt128(usdc), action = 'BUY')) AS bought, toString(sumIf(toInt128(usdc), action = 'SELL')) AS sold,
      toString(sumIf(${cashSql}, action IN ('MERGE', 'REDEEM', 'CONVERT'))) AS settled_in,
      toString(-sumIf(${cashSql}, action = 'SPLIT')) AS settled_out, toString(sum(toInt128(fee))) AS fees,
      toString(sum(${slippageSql('{slippage_bps:UInt16}')})) AS slippage,
      toString(countIf(action = 'REDEEM')) AS redemptions, toString(countIf(action = 'MERGE')) AS merges,
      toString(countIf(action = 'SPLIT')) AS splits, toString(countIf(action = 'CONVERT')) AS conversions,
      toString(countIf(NOT is_resolved)) AS unresolved
    FROM wallet_activity FINAL WHERE ${WINDOW} AND action NOT IN ('SEND', 'RECEIVE') GROUP BY wallet`,
  params: { ...windowParams(window), slippage_bps: slippageBps },
});

/** Realized profit of a wallet in the window; integers as text, base units. */
export interface RealizedRow {
  readonly wallet: string;
  /** Tokens with a realized profit other than 0. */
  readonly closed: string;
  readonly over_sells: string;
  readonly realized: string;
  readonly absolute: string;
  /** Sum over tokens of entry price (18 decimals) x absolute realized profit. */
  readonly weighted: string;
}

const { acquire, sell, settle, redeemAll, giveAway, receive, convert } = eventKinds;
const SCALE = 'toInt256(1000000000000)';
const int = (value: string) => `toInt256(${value})`;
/** 18 decimals to base units, halves away from zero. */
const toBase = (value: string) => `sign(${value}) * intDiv(abs(${value}) + intDiv(${SCALE}, 2), ${SCALE})`;
/** The average of 18-decimal cost over 6-decimal shares, 18 decimals, halves away from zero. */
const averageOf = (cost: string, quantity: string) =>
  `if(${quantity} = 0, ${int('0')}, sign(${cost}) * intDiv(abs(${cost}) * 2000000 + ${quantity}, greatest(${quantity} * 2, 1)))`;

const isConversion = `(action = 'CONVERT' AND is_resolved)`;
const kind = `multiIf(action IN ('BUY', 'SPLIT'), ${acquire}, action = 'SELL', ${sell}, action = 'MERGE', ${settle}, action = 'RECEIVE', ${receive},
        ${isConversion}, ${convert}, action != 'REDEEM' OR NOT is_resolved, ${giveAway}, empty(amounts), ${redeemAll}, ${settle})`;
/** Rows of a wallet's window that are accounted at most: they are kept in memory. */
export const MAX_ACCOUNTED_ROWS = 500_000;
/** One event per row and token; a conversion is one event. See TOKEN_EVENT for a, b and c. */
const events = (
  columns: string,
  source: string,
) => `SELECT wallet, _offset, toUInt16(i) AS i, tokens[i] AS token, toUInt8(${kind}) AS kind,
        toInt64(if(empty(amounts), -1, if(action = 'REDEEM', amounts[i], shares))) AS amount, fee_shares AS fee,
        multiIf(action = 'BUY', usdc, action = 'SPLIT', shares, action = 'SELL', usdc, action = 'MERGE', 1,
          empty(amounts), payout_numerators[i], paid[i]) AS a,
        multiIf(action = 'SELL', shares, action IN ('MERGE', 'SPLIT'), length(tokens), action = 'BUY', 1,
          empty(amounts), payout_denominator, amounts[i]) AS b,
        usdc AS c${columns}
      FROM ${source} ARRAY JOIN if(${isConversion}, [1], arrayEnumerate(tokens)) AS i`;
const source = (isLarge: boolean) =>
  isLarge
    ? `(SELECT * FROM wallet_activity FINAL WHERE ${WINDOW} ORDER BY timestamp, block_number, log_index, id LIMIT ${MAX_ACCOUNTED_ROWS})`
    : `(SELECT * FROM wallet_activity FINAL WHERE ${WINDOW})`;

const sums = `toString(countIf(profit != 0)) AS closed, toString(sum(over_sells)) AS over_sells,
      toString(sum(profit)) AS realized, toString(sum(abs(profit))) AS absolute, toString(sum(entry * abs(profit))) AS weighted`;
const ofHolding = `${toBase('h.realized')} AS profit, h.over_sells AS over_sells, ${averageOf('h.entry_cost', 'h.entry_quantity')} AS entry`;
const sorted = (fields: string) => `arraySort(groupArray((_offset, i, kind, amount, fee, a, b, c${fields})))`;
const toEvents = (type: string, fields: string) =>
  `arrayMap(e -> CAST((e.3, e.4, e.5, e.6, e.7, e.8${fields}), '${type}'), events)`;

/**
 * Realized profit of wallets by weighted average cost, from an empty state at the start of the window: for windows without conversions. `isLarge`: only the
 * first MAX_ACCOUNTED_ROWS rows of the window, of one wallet.
 */
export const realizedInWindowSql = (window: ScoreWindow, isLarge = false): Sql => ({
  text: `SELECT wallet, ${sums} FROM (
      SELECT wallet, ${ofHolding} FROM (
        SELECT wallet, ${tokenHoldingSql(toEvents(TOKEN_EVENT, ''))} AS h
        FROM (SELECT wallet, ${sorted('')} AS events FROM (${events('', source(isLarge))}) GROUP BY wallet, token)
      )
    ) GROUP BY wallet`,
  params: windowParams(window),
});

/** The same for windows with conversions: tokens that conversions connect are accounted together, which takes longer. */
export const realizedWithConversionsSql = (window: ScoreWindow, isLarge = false): Sql => ({
  text: `SELECT wallet, ${sums} FROM (
      SELECT wallet, ${ofHolding} FROM (
        SELECT wallet, arrayJoin(${groupHoldingsSql(
          toEvents(GROUP_EVENT, ', arrayMap(t -> indexOf(ids, t), e.9), arrayMap(t -> indexOf(ids, t), e.10)'),
          'length(ids)',
        )}) AS h
        FROM (
          SELECT wallet, events, arrayDistinct(arrayFlatten(arrayMap(e -> arrayConcat(e.9, e.10), events))) AS ids
          FROM (
            SELECT wallet, ${sorted(', given, created')} AS events
            FROM (${events(`, if(${isConversion}, tokens, [tokens[i]]) AS given, if(${isConversion}, created, []) AS created`, source(isLarge))}) AS e
            LEFT JOIN (
              SELECT wallet, arrayJoin(arrayConcat(tokens, created)) AS token, any(subject) AS market
              FROM wallet_activity FINAL WHERE ${WINDOW} AND ${isConversion} GROUP BY wallet, token
            ) AS converted ON converted.wallet = e.wallet AND converted.token = e.token
            GROUP BY wallet, if(market = '', toString(e.token), market)
          )
        )
      )
    ) GROUP BY wallet`,
  params: windowParams(window),
});

/** Rows of activity in the window per wallet, to tell whether a scan was cut off. */
export const countOfWindowSql = (window: ScoreWindow): Sql => ({
  text: `SELECT wallet, toString(count()) AS rows FROM wallet_activity FINAL
    WHERE ${WINDOW} AND action NOT IN ('SEND', 'RECEIVE') GROUP BY wallet`,
  params: windowParams(window),
});

/** One fill of the window. */
export interface TradeRow {
  readonly wallet: string;
  readonly ts: number;
  readonly side: 'BUY' | 'SELL';
  readonly usdc: string;
  readonly shares: string;
  /** Ten-thousandths of base units. */
  readonly slippage: string;
}

/** The first `limit` fills of each wallet's window, oldest first. */
export const tradesOfWindowSql = (window: ScoreWindow, slippageBps: number, limit: number): Sql => ({
  text: `SELECT wallet, toUnixTimestamp(timestamp) AS ts, action AS side, toString(usdc) AS usdc, toString(shares) AS shares,
      toString(${slippageSql('{slippage_bps:UInt16}')}) AS slippage
    FROM wallet_activity FINAL WHERE ${WINDOW} AND action IN ('BUY', 'SELL')
    ORDER BY wallet, timestamp, block_number, log_index, id LIMIT {limit:UInt32} BY wallet`,
  params: { ...windowParams(window), slippage_bps: slippageBps, limit },
});
