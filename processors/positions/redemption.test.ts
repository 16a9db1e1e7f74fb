import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redemptionLegs, redemptionRates } from './redemption.js';

const ratesOf = (
  payout: bigint,
  shares: readonly bigint[],
  over: { numerators?: readonly string[]; denominator?: string; logged?: boolean } = {},
) =>
  redemptionRates(
    {
      usdc: payout,
      numerators: over.numerators ?? null,
      denominator: over.denominator ?? '1',
      amounts: over.logged === false ? null : shares,
    },
    shares,
  )?.map(({ numerator, denominator }) => Number(numerator) / Number(denominator));

describe('redemptionRates', () => {
  it('returns the rates of the resolution for any shares', () => {
    expect(ratesOf(0n, [5n, 7n], { numerators: ['1', '0'] })).toEqual([1, 0]);
    expect(ratesOf(6n, [5n, 7n], { numerators: ['1', '1'], denominator: '2', logged: false })).toEqual([0.5, 0.5]);
  });

  it('derives the rates from the payout if they are unique', () => {
    expect(ratesOf(0n, [5n, 7n], { logged: false })).toEqual([0, 0]);
    expect(ratesOf(10n, [10n, 0n])?.[0]).toBe(1);
    expect(ratesOf(10n, [0n, 40n])?.[1]).toBe(0.25);
    expect(ratesOf(30n, [30n, 10n])).toEqual([1, 0]);
    expect(ratesOf(10n, [30n, 10n])).toEqual([0, 1]);
    expect(ratesOf(20n, [10n, 30n])).toEqual([0.5, 0.5]);
    expect(ratesOf(25n, [50n], { logged: false })).toEqual([0.5]);
  });

  it('returns undefined otherwise', () => {
    expect(ratesOf(10n, [10n, 10n])).toBeUndefined();
    expect(ratesOf(10n, [10n, 0n], { logged: false })).toBeUndefined();
    expect(ratesOf(41n, [30n, 10n])).toBeUndefined();
    expect(ratesOf(60n, [50n], { logged: false })).toBeUndefined();
  });
});

describe('redemptionLegs', () => {
  const wins = [
    { numerator: 1n, denominator: 1n },
    { numerator: 0n, denominator: 1n },
  ];
  const halves = wins.map(() => ({ numerator: 1n, denominator: 2n }));
  const leg = (paid: bigint, known = paid, untrackedShares = 0n) => ({ paid, known, untrackedShares });

  it('pays the shares in integer base units per outcome if that is the logged payout', () => {
    expect(redemptionLegs(100n, [100n, 40n], wins)).toEqual([leg(100n), leg(0n)]);
    // 7 and 5 halves pay 3 and 2.
    expect(redemptionLegs(5n, [7n, 5n], halves)).toEqual([leg(3n), leg(2n)]);
  });

  it('assigns the excess over the known shares to the outcome with the highest rate, with its untracked shares', () => {
    expect(redemptionLegs(130n, [100n, 40n], wins)).toEqual([leg(130n, 100n, 30n), leg(0n)]);
    expect(redemptionLegs(10n, [0n, 0n], wins)).toEqual([leg(10n, 0n, 10n), leg(0n)]);
    // 3 more at a half each: 6 shares.
    expect(redemptionLegs(8n, [7n, 5n], halves)).toEqual([leg(6n, 3n, 6n), leg(2n)]);
  });

  it('splits a payout below that of the known shares proportionally', () => {
    expect(redemptionLegs(60n, [100n, 40n], wins)).toEqual([leg(60n), leg(0n)]);
    // 10 and 5 are due; a payout of 9 is split into 6 and 3.
    expect(redemptionLegs(9n, [20n, 10n], halves)).toEqual([leg(6n), leg(3n)]);
    expect(redemptionLegs(0n, [100n, 40n], wins)).toEqual([leg(0n), leg(0n)]);
  });

  it('adds up to any payout', () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 12n });
    fc.assert(
      fc.property(amount, fc.tuple(amount, amount), fc.bigInt({ min: 0n, max: 7n }), (paid, shares, part) => {
        const rates = [part, 7n - part].map((numerator) => ({ numerator, denominator: 7n }));
        const legs = redemptionLegs(paid, shares, rates);
        expect(legs.reduce((sum, one) => sum + one.paid, 0n)).toBe(paid);
        for (const one of legs)
          expect(one.known <= one.paid && one.known >= 0n && one.untrackedShares >= 0n).toBe(true);
      }),
    );
  });
});
