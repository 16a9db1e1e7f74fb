import { cashSql, slippageSql } from '../../schemas/copy-pnl/cash.sql.js';
import type { Sql } from '../tables/port.js';
import type { ActivityRow } from './realized.js';

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

/** A row of activity of the window. */
export interface WindowRow extends ActivityRow {
  /** Unix seconds. */
  readonly ts: number;
  readonly block_number: string;
  readonly log_index: number;
  readonly id: string;
  /** Of a fill; ten-thousandths of base units. */
  readonly slippage: string;
}

/** One fill of the window. */
export interface TradeRow extends Pick<WindowRow, 'ts' | 'usdc' | 'shares' | 'slippage'> {
  readonly side: 'BUY' | 'SELL';
}

/**
 * Rows of activity of one wallet in the window after another row (null: from the start), in the order of the log. That is the order of the table's key:
 * sorted by it, a page reads its own rows only, and not the rest of the window.
 */
export const activityOfWindowSql = (
  wallet: string,
  { fromS, toS }: Omit<ScoreWindow, 'wallets'>,
  slippageBps: number,
  after: WindowRow | null,
  limit: number,
): Sql => ({
  text: `SELECT a.action AS action, ${texts('tokens')}, ${texts('amounts')}, toString(a.shares) AS shares, toString(a.usdc) AS usdc,
      toString(a.fee_shares) AS fee_shares, ${texts('payout_numerators')}, toString(a.payout_denominator) AS payout_denominator, ${texts('paid')},
      ${texts('created')}, a.is_resolved AS is_resolved, toUnixTimestamp(a.timestamp) AS ts, toString(a.block_number) AS block_number,
      a.log_index AS log_index, a.id AS id, toString(${slippageSql('{slippage_bps:UInt16}', 'a.usdc', 'a.shares')}) AS slippage
    FROM wallet_activity AS a FINAL
    WHERE a.wallet = {wallet:String} AND a.timestamp >= {from_s:UInt32} AND a.timestamp < {to_s:UInt32}
      ${after === null ? '' : 'AND (a.block_number, a.log_index, a.id) > ({block:UInt64}, {log:UInt32}, {id:String})'}
    ORDER BY a.timestamp, a.block_number, a.log_index, a.id LIMIT {limit:UInt32}`,
  params: {
    wallet,
    from_s: after?.ts ?? fromS,
    to_s: toS,
    slippage_bps: slippageBps,
    limit,
    ...(after === null ? {} : { block: after.block_number, log: after.log_index, id: after.id }),
  },
});
