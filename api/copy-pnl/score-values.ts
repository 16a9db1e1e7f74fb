import { divide, moneyToNumber } from '../../schemas/primitives/money.js';

/** The money of a score, exact. */
export interface ScoreAmounts {
  /** Base units. */
  readonly actual: bigint;
  /** Hundredths of base units, as 2 % of base units needs them. */
  readonly slippage: bigint;
}

export interface ScoreValues {
  readonly actual_pnl_usdc: number;
  readonly backtest_copy_pnl_usdc: number;
  readonly slippage_amount_usdc: number;
  readonly slippage_cost_rate_pct: number | null;
  readonly toxic_for_copying: boolean;
}

const BASE_UNITS_PER_USD = 1_000_000n;
/** A cent in hundredths of base units. */
const CENT = 1_000_000n;
const TOXIC_ABOVE_PCT = 15n;

const cents = (hundredths: bigint): number => moneyToNumber(divide(hundredths, CENT, 'half_up'), 2);

/**
 * The fields of a score as responses have them: USDC and percent with 2 decimals, each rounded once from the exact amounts, halves away from zero.
 * rate = slippage / |actual| x 100; null when |actual| is below 1 USD. Toxic: the exact rate is above 15.
 */
export function scoreValues({ actual, slippage }: ScoreAmounts): ScoreValues {
  const size = actual < 0n ? -actual : actual;
  const hasRate = size >= BASE_UNITS_PER_USD;
  return {
    actual_pnl_usdc: cents(actual * 100n),
    backtest_copy_pnl_usdc: cents(actual * 100n - slippage),
    slippage_amount_usdc: cents(slippage),
    // Hundredths over units is the rate in percent; two more digits are its decimals.
    slippage_cost_rate_pct: hasRate ? moneyToNumber(divide(slippage * 100n, size, 'half_up'), 2) : null,
    toxic_for_copying: hasRate && slippage > TOXIC_ABOVE_PCT * size,
  };
}
