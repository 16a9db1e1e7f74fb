import { describe, expect, it } from 'vitest';
import { redemptionRates } from './redemption.js';

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
