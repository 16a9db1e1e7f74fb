import { z } from 'zod';
import { copyPeriods } from '../../../schemas/copy-pnl/period-scores.sql.js';
import type { PoolScore } from '../../copy-pnl/pool-scores.js';
import { scoreValues } from '../../copy-pnl/score-values.js';

export const INVALID_PERIOD = `Invalid period. Allowed: ${copyPeriods.join(', ')}`;

/** The score of a wallet in one period, as snapshot and leaderboard have it. */
export const scoreFields = {
  actual_pnl_usdc: z.number().meta({ description: 'Cash flow of the period: sells - buys + settlements in - out.' }),
  backtest_copy_pnl_usdc: z.number().meta({ description: 'The same trades with 2 % slippage.' }),
  slippage_amount_usdc: z.number().meta({ description: 'Actual minus backtest.' }),
  slippage_cost_rate_pct: z
    .number()
    .nullable()
    .meta({ description: 'Slippage over |actual|, percent; null when |actual| is below 1 USD.' }),
  toxic_for_copying: z.boolean().meta({ description: 'The exact rate is above 15.' }),
  trade_count: z.int().meta({ description: 'Fills in the period.' }),
  partial: z.boolean().meta({ description: 'The time budget cut the scan off.' }),
  computed_at: z.int().meta({ description: 'Unix seconds.' }),
};

export const exampleScore = {
  actual_pnl_usdc: 64,
  backtest_copy_pnl_usdc: 51.2,
  slippage_amount_usdc: 12.8,
  slippage_cost_rate_pct: 20,
  toxic_for_copying: true,
  trade_count: 9,
  partial: false,
  computed_at: 1811000400,
};

export const scoreFrom = (score: PoolScore) => ({
  ...scoreValues(score),
  trade_count: score.trades,
  partial: score.partial,
  computed_at: score.computedS,
});

/** Field `last_refresh` of snapshot and leaderboard. */
export const lastRefreshSchema = z
  .int()
  .nullable()
  .meta({ description: 'End of the last refresh of all wallets, Unix seconds; null before the first.' });
