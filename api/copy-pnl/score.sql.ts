import { cashSql, slippageSql } from '../../schemas/copy-pnl/cash.sql.js';
import type { Sql } from '../tables/port.js';

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

const texts = (column: string): string => `arrayMap(value -> toString(value), a.${column}) AS ${column}`;

/** Rows of activity of one wallet in the window after an offset, in the order of the log. See ActivityRow. */
export const activityOfWindowSql = (
  wallet: string,
  { fromS, toS }: Omit<ScoreWindow, 'wallets'>,
  afterOffset: string,
  limit: number,
): Sql => ({
  text: `SELECT a.action AS action, ${texts('tokens')}, ${texts('amounts')}, toString(a.shares) AS shares, toString(a.usdc) AS usdc,
      toString(a.fee_shares) AS fee_shares, ${texts('payout_numerators')}, toString(a.payout_denominator) AS payout_denominator, ${texts('paid')},
      ${texts('created')}, a.is_resolved AS is_resolved, toString(a._offset) AS _offset
    FROM wallet_activity AS a FINAL
    WHERE a.wallet = {wallet:String} AND a.timestamp >= {from_s:UInt32} AND a.timestamp < {to_s:UInt32} AND a._offset > {after:Int64}
    ORDER BY a._offset LIMIT {limit:UInt32}`,
  params: { wallet, from_s: fromS, to_s: toS, after: afterOffset, limit },
});

/** Rows of activity in the window per wallet, from which the reader sees whether a scan was cut off. */
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
