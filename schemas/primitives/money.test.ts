import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  divide,
  formatFixed,
  formatMoney,
  MoneyError,
  moneyToNumber,
  parseMoney,
  priceNumber,
  ratio,
} from './money.js';

describe('money', () => {
  it.each([
    ['0', 0n],
    ['12.5', 12_500_000n],
    ['-0.000001', -1n],
    ['1.2300000000', 1_230_000n],
    ['79228162514264337593.543950', 79228162514264337593543950n],
  ])('parses %s', (text, units) => {
    expect(parseMoney(text)).toBe(units);
  });

  it.each(['', ' 1', '1 ', '+1', '1e3', '.5', '1.', '0x10', '1,000', 'NaN', '0.0000001', '--1', '1.2.3'])(
    'parseMoney rejects %j',
    (text) => {
      expect(() => parseMoney(text)).toThrow(MoneyError);
    },
  );

  it('formatFixed pads the decimals of an amount with zeros', () => {
    expect(formatFixed(12_500_000n, 8)).toBe('12.50000000');
    expect(formatFixed(-1n, 6)).toBe('-0.000001');
    expect(formatFixed(3_000_000n, 6)).toBe('3.000000');
    expect(formatFixed(4_512n, 4, 4)).toBe('0.4512');
    expect(formatFixed(0n, 20, 18)).toBe('0.00000000000000000000');
  });

  it('formatMoney returns the shortest form of a parsed amount', () => {
    expect(formatMoney(12_500_000n)).toBe('12.5');
    expect(formatMoney(-3_000_000n)).toBe('-3');
    expect(formatMoney(1n)).toBe('0.000001');
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 38n), max: 10n ** 38n }), fc.integer({ min: 0, max: 20 }), (n, d) => {
        expect(parseMoney(formatMoney(n, d), d)).toBe(n);
      }),
    );
  });

  it('moneyToNumber returns the double nearest to the decimal text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (n) => {
        expect(moneyToNumber(n)).toBe(n === 0n ? 0 : Number(formatMoney(n)));
      }),
    );
  });

  it('divide rounds as named', () => {
    expect(divide(7n, 2n)).toBe(3n);
    expect(divide(7n, 2n, 'half_up')).toBe(4n);
    expect(divide(-7n, 2n, 'half_up')).toBe(-4n);
    expect(divide(-7n, 2n, 'down')).toBe(-3n);
    expect(divide(6n, 4n, 'half_up')).toBe(2n);
    expect(divide(5n, 4n, 'half_up')).toBe(1n);
    expect(ratio(1n, 0n, 4)).toBeNull();
    expect(ratio(2n, 3n, 4)).toBe(6667n);
    expect(ratio(2n, 3n, 4, 'down')).toBe(6666n);
    // Real fill: 5.000000 USDC for 7.575758 shares at a limit of 0.66.
    expect(priceNumber(5_000_000n, 7_575_758n)).toBe(0.66);
  });
});
