import { z } from 'zod';
import { divide, moneyToNumber } from '../../../schemas/primitives/money.js';
import type { CopierConditions, CopierDay } from '../../copy-pnl/copier.sql.js';
import type { TradeRow } from '../../copy-pnl/score.sql.js';
import type { WindowScore } from '../../copy-pnl/score-reader.js';
import { scoreValues, usdcOf } from '../../copy-pnl/score-values.js';
import type { CopyWindow } from '../../copy-pnl/window.js';
import { EXAMPLE_WALLET } from '../../http/chain-params.js';

/** Fractions of base units in which slippage is summed. */
const FRACTIONS = 10_000n;
const BASE_UNITS_PER_USD = 1_000_000n;
const activityTypes = ['redemption', 'merge', 'split', 'neg_risk_conversion'] as const;

const usd = (description: string) => z.number().meta({ description: `${description} USDC, 2 decimals.` });

const tradeSchema = z.object({
  ts: z.int().meta({ description: 'Unix seconds.' }),
  side: z.enum(['BUY', 'SELL']).meta({ description: 'Side of the order of the wallet.' }),
  price: z.number().meta({ description: 'USDC of this fill over its shares, 4 decimals.' }),
  shares: z.number().meta({ description: '2 decimals.' }),
  actual_usd: usd('What the wallet paid or received.'),
  backtest_usd: usd('The same with slippage.'),
});

/** A score over one window, as GET and batch have it. */
export const scoreSchema = z.object({
  wallet: z.string(),
  actual_pnl_usdc: usd('Cash flow of the window: sells - buys + settlements in - out, without fees.'),
  backtest_copy_pnl_usdc: usd('PnL of the same trades under the conditions of the copier.'),
  slippage_amount_usdc: usd('Actual minus backtest.'),
  slippage_cost_rate_pct: z
    .number()
    .nullable()
    .meta({ description: 'Slippage over |actual|, percent; null when |actual| is below 1 USD.' }),
  toxic_for_copying: z.boolean().meta({ description: 'The exact rate is above 15.' }),
  trade_count: z.int().meta({
    description: 'Fills of the orders that the wallet signed; counterparty rows of a match are not its trades.',
  }),
  avg_entry_prob_weighted: z.number().nullable().meta({
    description:
      'Average cost per share when a position last realized profit, weighted by absolute realized profit; null when that sums to less than 1 USD. 4 decimals.',
  }),
  avg_hold_seconds_weighted: z
    .null()
    .meta({ description: 'Always null: no average hold time is computed from fills.' }),
  positions_closed: z.int().meta({ description: 'Tokens whose realized profit in the window is not 0.' }),
  total_realized_pnl_usdc: usd('Realized profit by weighted average cost, which starts empty with the window.'),
  pnl_definition: z.literal('cashflow'),
  applied_filters: z.object({
    from: z.int().meta({ description: 'Unix seconds, inclusive.' }),
    to: z.int().meta({ description: 'Unix seconds, exclusive.' }),
    window_days: z.literal(30).nullable().meta({ description: '30 when the default window was used.' }),
  }),
  partial: z.boolean().meta({ description: 'The time budget cut the scan off.' }),
  sources: z.object({
    window_trades: z.int(),
    window_activity: z.int().meta({ description: 'Redemptions, merges, splits and conversions.' }),
    activity_breakdown: z
      .partialRecord(z.enum(activityTypes), z.int())
      .meta({ description: 'Number per type; only types that occur.' }),
    cashflow_breakdown: z.object({
      actual_buy_cost: usd('Paid by the wallet for fills.'),
      actual_sell_rev: usd('Received by the wallet for fills.'),
      settlement_in: usd('Merges, redemptions, and collateral released by conversions.'),
      settlement_out: usd('Splits.'),
    }),
    fifo_breakdown: z.object({
      over_sells: z.int().meta({ description: 'SELL fills of more shares than the wallet bought in the window.' }),
      unresolved_activity: z.int().meta({ description: 'Activity whose tokens or payout per token are unknown.' }),
      total_abs_pnl_usdc: usd('Sum of absolute realized profits.'),
      total_realized_pnl_usdc: usd('As above.'),
    }),
    fetch_ms: z.int(),
  }),
  trades: z.array(tradeSchema).optional().meta({ description: 'Only with include_trades, oldest first.' }),
  trades_truncated: z.literal(true).optional().meta({ description: 'There are more trades than listed.' }),
  fees_usdc: usd('Fees that the wallet paid in USDC; not part of the cash flow, actual and backtest alike.'),
});

export const exampleScoreBody = {
  wallet: EXAMPLE_WALLET,
  actual_pnl_usdc: 64,
  backtest_copy_pnl_usdc: 51.2,
  slippage_amount_usdc: 12.8,
  slippage_cost_rate_pct: 20,
  toxic_for_copying: true,
  trade_count: 9,
  avg_entry_prob_weighted: 0.4125,
  avg_hold_seconds_weighted: null,
  positions_closed: 2,
  total_realized_pnl_usdc: 70.5,
  pnl_definition: 'cashflow',
  applied_filters: { from: 1808408000, to: 1811000000, window_days: 30 },
  partial: false,
  sources: {
    window_trades: 9,
    window_activity: 2,
    activity_breakdown: { redemption: 1, split: 1 },
    cashflow_breakdown: { actual_buy_cost: 390, actual_sell_rev: 304, settlement_in: 180, settlement_out: 30 },
    fifo_breakdown: {
      over_sells: 0,
      unresolved_activity: 0,
      total_abs_pnl_usdc: 90.5,
      total_realized_pnl_usdc: 70.5,
    },
    fetch_ms: 24,
  },
  fees_usdc: 0.35,
};

function tradeFrom(row: TradeRow): z.output<typeof tradeSchema> {
  const [usdc, shares, slippage] = [BigInt(row.usdc), BigInt(row.shares), BigInt(row.slippage)];
  const sign = row.side === 'BUY' ? 1n : -1n;
  const cent = 10_000n * FRACTIONS;
  return {
    ts: Number(row.ts),
    side: row.side,
    price: shares === 0n ? 0 : moneyToNumber(divide(usdc * 10_000n, shares, 'half_up'), 4),
    shares: usdcOf(shares),
    actual_usd: usdcOf(usdc),
    backtest_usd: moneyToNumber(divide(usdc * FRACTIONS + sign * slippage, cent, 'half_up'), 2),
  };
}

/** Sum of entry price x profit over the sum of profits, 4 decimals. */
function weightedEntry(weighted: bigint, absolute: bigint): number | null {
  if (absolute < BASE_UNITS_PER_USD) return null;
  // 18 decimals to 4.
  return moneyToNumber(divide(weighted, absolute * 10n ** 14n, 'half_up'), 4);
}

/** The response of a score. `copierSlippage`: under the copier's conditions, in fractions of base units; default: 2 % slippage. */
export function scoreBody(
  score: WindowScore,
  window: CopyWindow,
  copierSlippage?: bigint,
): z.output<typeof scoreSchema> {
  const { cash, realized, trades } = score;
  const [bought, sold, settledIn, settledOut] = [
    BigInt(cash?.bought ?? 0),
    BigInt(cash?.sold ?? 0),
    BigInt(cash?.settled_in ?? 0),
    BigInt(cash?.settled_out ?? 0),
  ];
  const actual = sold - bought + settledIn - settledOut;
  const slippage = copierSlippage ?? BigInt(cash?.slippage ?? 0);
  const counts = {
    redemption: cash?.redemptions,
    merge: cash?.merges,
    split: cash?.splits,
    neg_risk_conversion: cash?.conversions,
  };
  const breakdown = activityTypes
    .map((type) => [type, Number(counts[type] ?? 0)] as const)
    .filter(([, count]) => count > 0);
  const fills = Number(cash?.fills ?? 0);
  const profit = usdcOf(realized.realized);
  return {
    wallet: score.wallet,
    ...scoreValues({ actual, slippage, fractionsPerBaseUnit: FRACTIONS }),
    trade_count: fills,
    avg_entry_prob_weighted: weightedEntry(realized.weighted, realized.absolute),
    avg_hold_seconds_weighted: null,
    positions_closed: realized.closed,
    total_realized_pnl_usdc: profit,
    pnl_definition: 'cashflow',
    applied_filters: { from: window.fromS, to: window.toS, window_days: window.defaultDays },
    partial: score.partial,
    sources: {
      window_trades: fills,
      window_activity: breakdown.reduce((sum, [, count]) => sum + count, 0),
      activity_breakdown: Object.fromEntries(breakdown),
      cashflow_breakdown: {
        actual_buy_cost: usdcOf(bought),
        actual_sell_rev: usdcOf(sold),
        settlement_in: usdcOf(settledIn),
        settlement_out: usdcOf(settledOut),
      },
      fifo_breakdown: {
        over_sells: realized.overSells,
        unresolved_activity: Number(cash?.unresolved ?? 0),
        total_abs_pnl_usdc: usdcOf(realized.absolute),
        total_realized_pnl_usdc: profit,
      },
      fetch_ms: score.fetchMs,
    },
    ...(trades === null ? {} : { trades: trades.map(tradeFrom) }),
    ...(score.tradesTruncated ? { trades_truncated: true as const } : {}),
    fees_usdc: usdcOf(BigInt(cash?.fees ?? 0)),
  };
}

/** Backtest under the copier's conditions: only if the request sets one of them, or requests the curve. */
export const copierSchema = {
  copier: z
    .object({
      slippage_pct: z.number(),
      delay_seconds: z.int(),
      min_liquidity_usd: z.number(),
      fills_without_next_fill: z.int().meta({
        description: 'Fills whose token was not traded again after the delay; they count at the price of the wallet.',
      }),
      fills_below_liquidity: z.int().meta({
        description: 'Fills of tokens below the liquidity; the backtest leaves them and their settlements out.',
      }),
    })
    .optional()
    .meta({ description: 'Only if the request sets slippage_pct, delay_seconds or min_liquidity_usd.' }),
  curve: z
    .array(
      z.object({
        t: z.int().meta({ description: 'Start of the UTC day, Unix seconds.' }),
        actual: usd('Cash flow from the start of the window to the end of the day.'),
        backtest: usd('The same for the copier.'),
      }),
    )
    .optional()
    .meta({ description: 'Only with include_curve: days with activity, oldest first.' }),
};

/**
 * What the copier has less than the wallet, in fractions of base units. Both sides are of one statement: a fill that becomes visible between two statements would
 * be in one of them only.
 */
export const copierSlippageOf = (days: readonly CopierDay[]): bigint =>
  days.reduce((sum, day) => sum + BigInt(day.actual) * FRACTIONS - BigInt(day.cash) + BigInt(day.slippage), 0n);

export function copierBody(days: readonly CopierDay[], conditions: CopierConditions) {
  const count = (of: (day: CopierDay) => string) => days.reduce((sum, day) => sum + Number(of(day)), 0);
  return {
    slippage_pct: conditions.slippageBps / 100,
    delay_seconds: conditions.delayS,
    min_liquidity_usd: moneyToNumber(conditions.minLiquidity),
    fills_without_next_fill: count((day) => day.without_next_fill),
    fills_below_liquidity: count((day) => day.below_liquidity),
  };
}

/** Cumulative cash flow per day. */
export function curveBody(days: readonly CopierDay[]) {
  let actual = 0n;
  let backtest = 0n;
  return days.map((day) => {
    actual += BigInt(day.actual);
    backtest += BigInt(day.cash) - BigInt(day.slippage);
    return {
      t: Number(day.day_s),
      actual: usdcOf(actual),
      backtest: moneyToNumber(divide(backtest, 10_000n * FRACTIONS, 'half_up'), 2),
    };
  });
}
