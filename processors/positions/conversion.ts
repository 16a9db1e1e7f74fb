import { SCALE } from './holding.js';

export interface ConversionCosts {
  /** Collateral released, per NO position. */
  readonly cash: readonly bigint[];
  /** Profit, per NO position; only where no YES is left to carry the difference. */
  readonly profit: readonly bigint[];
  /** Cost of the YES made, per position. */
  readonly created: readonly bigint[];
}

/** `total` in `parts` that differ by one unit at most; the first ones take what is left over. */
export function splitEvenly(total: bigint, parts: number): bigint[] {
  if (parts === 0) return [];
  const each = total / BigInt(parts);
  let rest = total - each * BigInt(parts);
  const step = rest < 0n ? -1n : 1n;
  return Array.from({ length: parts }, () => {
    if (rest === 0n) return each;
    rest -= step;
    return each + step;
  });
}

/**
 * Price of a neg-risk conversion. n NO positions release shares x (n - 1) of collateral, and `shares` of every other question's YES come in their
 * place: as many as NO shares were given of each question, less the venue's fee. Their cost is what the NO cost less that collateral, in equal parts: per share (no x n - (n - 1)) / (q - n) for an
 * average NO price `no` and q questions. With no other question the difference is profit.
 *
 * `given`: cost of the NO shares per position, 18 decimals, as everything returned. `shares`: less the fee, base units.
 */
export function conversionCosts(given: readonly bigint[], createdCount: number, shares: bigint): ConversionCosts {
  const released = shares * SCALE * BigInt(Math.max(given.length - 1, 0));
  const cash = splitEvenly(released, given.length);
  const paid = given.reduce((sum, cost) => sum + cost, 0n);
  if (createdCount > 0)
    return { cash, profit: given.map(() => 0n), created: splitEvenly(paid - released, createdCount) };
  return { cash, profit: given.map((cost, i) => (cash[i] ?? 0n) - cost), created: [] };
}
