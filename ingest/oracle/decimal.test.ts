import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseDecimalE18 } from './decimal.js';

describe('parseDecimalE18', () => {
  it.each([
    ['65048.078902260626', 65048078902260626000000n],
    ['64997.81', 64997810000000000000000n],
    ['0', 0n],
    ['1e-18', 1n],
    ['4e-19', 0n],
    ['5e-19', 1n],
    ['-5e-19', -1n],
    ['7.1E+3', 7100000000000000000000n],
    ['0.1234567890123456785', 123456789012345679n],
    ['12.', 12000000000000000000n],
  ])('reads %s', (text, expected) => {
    expect(parseDecimalE18(text)).toBe(expected);
  });

  it.each(['', 'NaN', 'Infinity', '0x10', '1,5', '1 ', '--1', '.5', '1e', '1e9999'])('returns null for %j', (text) => {
    expect(parseDecimalE18(text)).toBeNull();
  });

  it('parses every integer with the decimal point at any digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.integer({ min: 0, max: 18 }), (value, places) => {
        const digits = value.toString().padStart(places + 1, '0');
        const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
        expect(parseDecimalE18(text)).toBe(value * 10n ** BigInt(18 - places));
        expect(parseDecimalE18(`${digits}e-${places}`)).toBe(value * 10n ** BigInt(18 - places));
      }),
    );
  });
});
