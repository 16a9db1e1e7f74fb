import { SCALE } from './holding.js';

export interface ConversionCosts {
  /** Collateral released, per NO position. */
  readonly cash: readonly bigint[];
  /** Profit per NO position; nonzero only if no YES is created that could carry the difference as cost. */
  readonly profit: readonly bigint[];
  /** Cost of the created YES, per position. */
  readonly created: readonly bigint[];
}

/** Splits `total` into `parts` integers that differ by at most one; the first ones get the remainder. */
export function splitEvenly(total: bigint, parts: number): bigint[] {
  if (parts === 0) return [];
  const base = total / BigInt(parts);
  let rest = total - base * BigInt(parts);
  const step = rest < 0n ? -1n : 1n;
  return Array.from({ length: parts }, () => {
    if (rest === 0n) return base;
    rest -= step;
    return base + step;
  });
}

/**
 * Costs of a neg-risk conversion. n NO positions are replaced by shares x (n - 1) of collateral and `shares` YES of every other question: the
 * NO shares given per question, less the venue's fee. The cost of the YES is the cost of the NO minus that collateral, split equally: per
 * share (no x n - (n - 1)) / (q - n) for an average NO price `no` and q questions. Without another question the difference is profit.
 *
 * `given`: cost of the NO shares per position, 18 decimals, like all results. `shares`: after the fee, base units.
 */
export function conversionCosts(given: readonly bigint[], createdCount: number, shares: bigint): ConversionCosts {
  const released = shares * SCALE * BigInt(Math.max(given.length - 1, 0));
  const cash = splitEvenly(released, given.length);
  const paid = given.reduce((sum, cost) => sum + cost, 0n);
  if (createdCount > 0)
    return { cash, profit: given.map(() => 0n), created: splitEvenly(paid - released, createdCount) };
  return { cash, profit: given.map((cost, i) => (cash[i] ?? 0n) - cost), created: [] };
}
