import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redemptionLegs, redemptionRates } from './redemption.js';

const ratesOf = (
  payout: bigint,
  shares: readonly bigint[],
  over: { numerators?: readonly string[]; denominator?: string; told?: boolean } = {},
) =>
  redemptionRates(
    {
      usdc: payout,
      numerators: over.numerators ?? null,
      denominator: over.denominator ?? '1',
      amounts: over.told === false ? null : shares,
    },
    shares,
  )?.map(({ numerator, denominator }) => Number(numerator) / Number(denominator));

describe('payout per share', () => {
  it('is what the resolution says, whatever was held', () => {
    expect(ratesOf(0n, [5n, 7n], { numerators: ['1', '0'] })).toEqual([1, 0]);
    expect(ratesOf(6n, [5n, 7n], { numerators: ['1', '1'], denominator: '2', told: false })).toEqual([0.5, 0.5]);
  });

  it('follows from the payout where only one answer fits', () => {
    expect(ratesOf(0n, [5n, 7n], { told: false })).toEqual([0, 0]);
    expect(ratesOf(10n, [10n, 0n])?.[0]).toBe(1);
    expect(ratesOf(10n, [0n, 40n])?.[1]).toBe(0.25);
    expect(ratesOf(30n, [30n, 10n])).toEqual([1, 0]);
    expect(ratesOf(10n, [30n, 10n])).toEqual([0, 1]);
    expect(ratesOf(20n, [10n, 30n])).toEqual([0.5, 0.5]);
    expect(ratesOf(25n, [50n], { told: false })).toEqual([0.5]);
  });

  it('is unknown otherwise', () => {
    expect(ratesOf(10n, [10n, 10n])).toBeUndefined();
    expect(ratesOf(10n, [10n, 0n], { told: false })).toBeUndefined();
    expect(ratesOf(41n, [30n, 10n])).toBeUndefined();
    expect(ratesOf(60n, [50n], { told: false })).toBeUndefined();
  });
});

describe('payout by outcome', () => {
  const wins = [
    { numerator: 1n, denominator: 1n },
    { numerator: 0n, denominator: 1n },
  ];
  const halves = wins.map(() => ({ numerator: 1n, denominator: 2n }));
  const leg = (paid: bigint, known = paid, untrackedShares = 0n) => ({ paid, known, untrackedShares });

  it('is what the shares pay, in whole base units per outcome, where that is what the chain paid', () => {
    expect(redemptionLegs(100n, [100n, 40n], wins)).toEqual([leg(100n), leg(0n)]);
    // 7 and 5 halves pay 3 and 2.
    expect(redemptionLegs(5n, [7n, 5n], halves)).toEqual([leg(3n), leg(2n)]);
  });

  it('gives what was paid beyond the known shares to the outcome that pays most, with the shares it stands for', () => {
    expect(redemptionLegs(130n, [100n, 40n], wins)).toEqual([leg(130n, 100n, 30n), leg(0n)]);
    expect(redemptionLegs(10n, [0n, 0n], wins)).toEqual([leg(10n, 0n, 10n), leg(0n)]);
    // 3 more at a half each: 6 shares.
    expect(redemptionLegs(8n, [7n, 5n], halves)).toEqual([leg(6n, 3n, 6n), leg(2n)]);
  });

  it('gives every outcome its part where less was paid than the known shares pay', () => {
    expect(redemptionLegs(60n, [100n, 40n], wins)).toEqual([leg(60n), leg(0n)]);
    // 10 and 5 were to be paid; of 9 they get 6 and 3.
    expect(redemptionLegs(9n, [20n, 10n], halves)).toEqual([leg(6n), leg(3n)]);
    expect(redemptionLegs(0n, [100n, 40n], wins)).toEqual([leg(0n), leg(0n)]);
  });

  it('adds up to what was paid, whatever it is', () => {
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
