import type { WalletActivity } from '../../schemas/types.gen.js';

export interface PayoutRate {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * What each token of a redemption paid per share, or undefined where the records do not tell. The resolution says it; without one the payout
 * does, when it is zero, when one token alone was given, or when two were in unequal amounts (their rates add up to one).
 * `shares`: given in, aligned with the tokens.
 */
export function redemptionRates(
  activity: Pick<WalletActivity, 'numerators' | 'denominator' | 'amounts' | 'usdc'>,
  shares: readonly bigint[],
): readonly PayoutRate[] | undefined {
  const { numerators, usdc } = activity;
  if (numerators !== null) {
    const denominator = BigInt(activity.denominator);
    return numerators.map((numerator) => ({ numerator: BigInt(numerator), denominator }));
  }
  if (usdc === 0n) return shares.map(() => ({ numerator: 0n, denominator: 1n }));
  // A combo names one position and redeems all of it.
  const single = shares.length === 1;
  // What is held may be less than what was given, so else only amounts that a log tells can be set against the payout.
  if (activity.amounts === null && !single) return undefined;
  const given = shares.filter((amount) => amount > 0n);
  const [only] = given;
  if (given.length === 1 && only !== undefined && usdc <= only)
    return shares.map(() => ({ numerator: usdc, denominator: only }));
  const [first, second] = shares;
  if (shares.length !== 2 || first === undefined || second === undefined || first === second) return undefined;
  // usdc = first x r + second x (1 - r)
  const sign = first > second ? 1n : -1n;
  const denominator = (first - second) * sign;
  const numerator = (usdc - second) * sign;
  if (numerator < 0n || numerator > denominator) return undefined;
  return [
    { numerator, denominator },
    { numerator: denominator - numerator, denominator },
  ];
}

/** What one token of a redemption was paid, base units. */
export interface RedemptionLeg {
  readonly paid: bigint;
  /** Of it, what known shares pay; the rest was paid for shares that were never seen coming. */
  readonly known: bigint;
  /** Shares that were never seen coming, beside those that `shares` has. */
  readonly untrackedShares: bigint;
}

/**
 * The logged payout, shared by the tokens: by what their shares pay, in whole base units per outcome as ConditionalTokens does. Where the chain paid more,
 * the rest is for shares of the outcome that pays most; where it paid less, every token gets its part of the payout. Their sum is `usdc`.
 */
export function redemptionLegs(
  usdc: bigint,
  shares: readonly bigint[],
  rates: readonly PayoutRate[],
): readonly RedemptionLeg[] {
  const expected = shares.map((amount, i) => {
    const { numerator, denominator } = rates[i] as PayoutRate;
    return (amount * numerator) / denominator;
  });
  const sum = expected.reduce((total, amount) => total + amount, 0n);
  if (usdc >= sum) {
    const extra = usdc - sum;
    const best = rates.reduce((found, rate, i) => {
      const { numerator, denominator } = rates[found] as PayoutRate;
      return rate.numerator * denominator > numerator * rate.denominator ? i : found;
    }, 0);
    return expected.map((known, i) => {
      if (i !== best || extra === 0n) return { paid: known, known, untrackedShares: 0n };
      const { numerator, denominator } = rates[i] as PayoutRate;
      const untrackedShares = numerator === 0n ? 0n : (extra * denominator + numerator - 1n) / numerator;
      return { paid: known + extra, known, untrackedShares };
    });
  }
  let [left, rest] = [usdc, sum];
  return expected.map((amount) => {
    const paid = rest === 0n ? 0n : (left * amount) / rest;
    left -= paid;
    rest -= amount;
    return { paid, known: paid, untrackedShares: 0n };
  });
}
