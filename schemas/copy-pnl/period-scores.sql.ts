import { cashSql, DEFAULT_SLIPPAGE_BPS, slippageSql } from './cash.sql.js';

/** The periods that wallets of a pool are scored for; each ends now. */
export const copyPeriods = ['7d', '14d', '30d', '60d', '90d', '180d'] as const;
export type CopyPeriod = (typeof copyPeriods)[number];

/** Days of a period: `7d` is 7. */
export const daysOf = (period: CopyPeriod): number => Number.parseInt(period, 10);

const days = copyPeriods.map(daysOf);
const DAY_S = 86_400;
const longest = Math.max(...days);
/** Index of the shortest period that contains the row. */
const firstPeriod = `multiIf(${days.slice(0, -1).map((d, i) => `timestamp >= {now_s:UInt32} - ${d * DAY_S}, ${i}`)}, ${days.length - 1})`;

/**
 * Scores of wallets in all periods from one scan of their activity: a row per wallet and period, zeros where nothing happened. A row of activity
 * is added to the shortest period that contains it, and a period is the sum of itself and the shorter ones.
 *
 * Parameters: wallets Array(String), now_s UInt32 (end of every period, exclusive). Rows: wallet, period, actual (base units), slippage
 * (hundredths of base units), trade_count (fills).
 */
export const periodScoresSql = `SELECT requested.wallet AS wallet, ['${copyPeriods.join("', '")}'][requested.p + 1] AS period,
    toInt64(sumIf(cash, sums.p <= requested.p)) AS actual,
    toInt64(intDiv(sumIf(slippage, sums.p <= requested.p), 100)) AS slippage,
    toUInt32(sumIf(fills, sums.p <= requested.p)) AS trade_count
  FROM (
    SELECT wallet, p FROM (SELECT arrayJoin(arrayDistinct({wallets:Array(String)})) AS wallet)
      ARRAY JOIN range(${days.length}) AS p
  ) AS requested
  LEFT JOIN (
    SELECT wallet, ${firstPeriod} AS p, sum(${cashSql}) AS cash, sum(${slippageSql(String(DEFAULT_SLIPPAGE_BPS))}) AS slippage,
      countIf(action IN ('BUY', 'SELL')) AS fills
    FROM wallet_activity FINAL
    WHERE wallet IN {wallets:Array(String)} AND timestamp >= {now_s:UInt32} - ${longest * DAY_S} AND timestamp < {now_s:UInt32}
      AND action NOT IN ('SEND', 'RECEIVE')
    GROUP BY wallet, p
  ) AS sums ON sums.wallet = requested.wallet
  GROUP BY wallet, requested.p
  ORDER BY wallet, requested.p`;
