import type { CopyPeriod } from '../../schemas/copy-pnl/period-scores.sql.js';
import type { Sql } from '../tables/port.js';

/** period, actual (base units), slippage (hundredths of base units), fills, partial, Unix seconds. */
export type ScoreTuple = readonly [string, string, string, number, boolean | number, number];

export interface WalletScoresRow {
  readonly wallet: string;
  readonly scores: readonly ScoreTuple[];
  /** Empty unless the last scoring of the wallet failed. */
  readonly error: string;
  readonly failed_s: number;
}

const ENTRY = '(period, toString(actual), toString(slippage), trade_count, partial, toUnixTimestamp(computed_at))';

/** Scores of every wallet in the periods, and the failure of those whose last scoring failed; a row per wallet, ascending. */
export const walletScoresSql = (wallets: readonly string[], periods: readonly CopyPeriod[]): Sql => ({
  text: `SELECT pool.wallet AS wallet, scored.scores AS scores, if(failed.at > scored.newest, failed.error, '') AS error,
      toUnixTimestamp(failed.at) AS failed_s
    FROM (SELECT arrayJoin({wallets:Array(String)}) AS wallet) AS pool
    LEFT JOIN (
      SELECT wallet, max(computed_at) AS newest, groupArrayIf(${ENTRY}, period IN {periods:Array(String)}) AS scores
      FROM copy_scores FINAL WHERE wallet IN {wallets:Array(String)} GROUP BY wallet
    ) AS scored ON scored.wallet = pool.wallet
    LEFT JOIN (
      SELECT wallet, error, at FROM copy_score_errors FINAL WHERE wallet IN {wallets:Array(String)}
    ) AS failed ON failed.wallet = pool.wallet
    ORDER BY wallet`,
  params: { wallets, periods },
  singleChunk: true,
});

/** Maximum number of entries in a sample. */
const SAMPLE_SIZE = 10;

const TOXIC = '(abs(actual) >= 1000000 AND toInt128(slippage) > 15 * toInt128(abs(actual)))';

/** Exact keys of the order; rate null: the amount is too small to divide by. Scaled by 10,000 x base units where it is money. */
const sortKeys = {
  backtest_copy_pnl_usdc: 'toInt128(actual) * 100 - slippage',
  actual_pnl_usdc: 'toInt128(actual)',
  slippage_amount_usdc: 'toInt128(slippage)',
  slippage_cost_rate_pct: 'if(abs(actual) >= 1000000, slippage / abs(actual), NULL)',
  trade_count: 'toInt128(trade_count)',
} as const;

export type SortKey = keyof typeof sortKeys;
export const sortKeyNames = Object.keys(sortKeys) as readonly SortKey[];

export interface PoolLeaderboardQuery {
  readonly period: CopyPeriod;
  readonly sortBy: SortKey;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly offset: number;
  readonly minTradeCount: number;
  readonly excludeToxic: boolean;
}

export interface PoolLeaderboardRow {
  readonly scored: string;
  readonly filtered_in: string;
  readonly pending: string;
  readonly errored: string;
  /** wallet and the elements of ScoreTuple. */
  readonly page: readonly (readonly [string, ...ScoreTuple])[];
  /** wallet, error, Unix seconds. */
  readonly errored_sample: readonly (readonly [string, string, number])[];
  readonly pending_sample: readonly string[];
}

/**
 * One page of a pool in a period and the counts of its states, in one row so that they agree: scored (has scores in the period), errored (has none, and its
 * last scoring failed) or pending. Ties are in order of wallet; null rates are last in both orders. A rate is above 15 when slippage, in hundredths of
 * base units, is above 15 times the amount.
 */
export const poolLeaderboardSql = (wallets: readonly string[], query: PoolLeaderboardQuery): Sql => ({
  text: `SELECT toString(countIf(state = 'scored')) AS scored, toString(countIf(included)) AS filtered_in,
      toString(countIf(state = 'pending')) AS pending, toString(countIf(state = 'errored')) AS errored,
      arrayMap(e -> e.4, arraySlice(arraySort(groupArrayIf((isNull(sort_key), ifNull(sort_key, 0), wallet, entry), included)),
        {offset:UInt32} + 1, {limit:UInt32})) AS page,
      arraySlice(arraySort(groupArrayIf((wallet, error, failed_s), state = 'errored')), 1, ${SAMPLE_SIZE}) AS errored_sample,
      arraySlice(arraySort(groupArrayIf(wallet, state = 'pending')), 1, ${SAMPLE_SIZE}) AS pending_sample
    FROM (
      SELECT pool.wallet AS wallet, multiIf(scored.period != '', 'scored', failed.error != '', 'errored', 'pending') AS state,
        ${query.order === 'asc' ? '' : '-'}(${sortKeys[query.sortBy]}) AS sort_key,
        (pool.wallet, period, toString(actual), toString(slippage), trade_count, partial, toUnixTimestamp(computed_at)) AS entry,
        failed.error AS error, toUnixTimestamp(failed.at) AS failed_s,
        state = 'scored' AND trade_count >= {min_trade_count:UInt64} AND NOT ({exclude_toxic:Bool} AND ${TOXIC}) AS included
      FROM (SELECT arrayJoin({wallets:Array(String)}) AS wallet) AS pool
      LEFT JOIN (
        SELECT wallet, toString(period) AS period, actual, slippage, trade_count, partial, computed_at
        FROM copy_scores FINAL WHERE wallet IN {wallets:Array(String)} AND period = {period:String}
      ) AS scored ON scored.wallet = pool.wallet
      LEFT JOIN (
        SELECT wallet, error, at FROM copy_score_errors FINAL WHERE wallet IN {wallets:Array(String)}
      ) AS failed ON failed.wallet = pool.wallet
    )`,
  params: {
    wallets,
    period: query.period,
    offset: query.offset,
    limit: query.limit,
    min_trade_count: query.minTradeCount,
    exclude_toxic: query.excludeToxic,
  },
  singleChunk: true,
});

/** End of the last complete cycle over all pools, Unix seconds; 0: none. */
export const lastRefreshSql: Sql = {
  text: 'SELECT toUnixTimestamp(max(completed_at)) AS completed_s FROM copy_cycles',
  params: {},
  singleChunk: true,
};
