import type { WalletActivity } from '../../schemas/types.gen.js';

export interface PayoutRate {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/**
 * Payout per share of each token of a redemption, or undefined if it cannot be determined. Taken from the resolution; without one it follows
 * from the payout if that is zero, if only one token was redeemed, or if two were redeemed in unequal amounts (their rates add up to one).
 * `shares`: redeemed shares, aligned with the tokens.
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
  // The redemption of a combo names one position and redeems all of its shares.
  const single = shares.length === 1;
  // The known position may have fewer shares than were redeemed, so only logged amounts can be compared with the payout.
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

/** Payout of one token of a redemption, base units. */
export interface RedemptionLeg {
  readonly paid: bigint;
  /** Portion of `usdc` paid for known shares; the rest was paid for shares whose inflow was never recorded. */
  readonly known: bigint;
  /** Shares whose inflow was never recorded, in addition to `shares`. */
  readonly untrackedShares: bigint;
}

/**
 * Splits the logged payout over the tokens by the payout of their shares, in whole base units per outcome as in ConditionalTokens. If the chain
 * paid more, the excess goes to the outcome with the highest rate; if it paid less, the payout is split proportionally. The sum is `usdc`.
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
