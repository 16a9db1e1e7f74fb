import { divide, moneyToNumber } from '../../schemas/primitives/money.js';

/** The money of a score, exact. */
export interface ScoreAmounts {
  /** Base units. */
  readonly actual: bigint;
  /** In fractions of base units; default: hundredths, as 2 % of base units needs them. */
  readonly slippage: bigint;
  readonly fractionsPerBaseUnit?: bigint;
}

const BASE_UNITS_PER_USD = 1_000_000n;
const BASE_UNITS_PER_CENT = 10_000n;
const TOXIC_ABOVE_PCT = 15n;

const cents = (amount: bigint, fractionsPerBaseUnit: bigint): number =>
  moneyToNumber(divide(amount, BASE_UNITS_PER_CENT * fractionsPerBaseUnit, 'half_up'), 2);

/** Base units as USDC with 2 decimals, halves away from zero. */
export const usdcOf = (baseUnits: bigint): number => cents(baseUnits, 1n);

/**
 * The fields of a score as responses have them: USDC and percent with 2 decimals, each rounded once from the exact amounts, halves away from zero.
 * rate = slippage / |actual| x 100; null when |actual| is below 1 USD. Toxic: the exact rate is above 15.
 */
export function scoreValues({ actual, slippage, fractionsPerBaseUnit = 100n }: ScoreAmounts) {
  const size = actual < 0n ? -actual : actual;
  const hasRate = size >= BASE_UNITS_PER_USD;
  const scaledSize = size * fractionsPerBaseUnit;
  return {
    actual_pnl_usdc: usdcOf(actual),
    backtest_copy_pnl_usdc: cents(actual * fractionsPerBaseUnit - slippage, fractionsPerBaseUnit),
    slippage_amount_usdc: cents(slippage, fractionsPerBaseUnit),
    // In percent with 2 decimals: times 100 twice.
    slippage_cost_rate_pct: hasRate ? moneyToNumber(divide(slippage * 10_000n, scaledSize, 'half_up'), 2) : null,
    toxic_for_copying: hasRate && slippage * 100n > TOXIC_ABOVE_PCT * scaledSize,
  };
}
