/** Decimals of every supported amount on chain: USDC.e, USDC, pUSD and outcome shares. */
const MONEY_DECIMALS = 6;

/** Text that is not a plain decimal number, or has more decimals than its unit. */
export class MoneyError extends RangeError {
  override name = 'MoneyError';
}

const PLAIN_DECIMAL = /^(-?)(\d{1,78})(?:\.(\d{1,78}))?$/;

/**
 * Decimal text ("12.5", "-0.000001") to base units, exactly. Throws MoneyError for exponents, signs other than a leading minus, blanks, an
 * empty integer or fraction part, and digits beyond `decimals` that are not zero.
 */
export function parseMoney(text: string, decimals: number = MONEY_DECIMALS): bigint {
  const match = PLAIN_DECIMAL.exec(text);
  if (match === null) throw new MoneyError(`Not a decimal amount: ${text.slice(0, 80)}`);
  const fraction = (match[3] ?? '').replace(/0+$/, '');
  if (fraction.length > decimals) throw new MoneyError(`More than ${decimals} decimals: ${text.slice(0, 80)}`);
  const units = BigInt(`${match[2]}${fraction.padEnd(decimals, '0')}`);
  return match[1] === '-' ? -units : units;
}

/** Base units to the shortest decimal text: 12500000n is "12.5", 3000000n is "3". */
export function formatMoney(units: bigint, decimals: number = MONEY_DECIMALS): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${units < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Base units to decimal text with exactly `places` decimals, at least `decimals`: 12500000n with 8 places is "12.50000000". */
export function formatFixed(units: bigint, places: number, decimals: number = MONEY_DECIMALS): string {
  const [whole = '0', fraction = ''] = formatMoney(units, decimals).split('.');
  return `${whole}.${fraction.padEnd(places, '0')}`;
}

/** Base units to the nearest double, for serializers only: no arithmetic on the result. */
export function moneyToNumber(units: bigint, decimals: number = MONEY_DECIMALS): number {
  const small = Number(units);
  // Both operands exact: IEEE division then gives the double nearest to the decimal.
  if (Number.isSafeInteger(small) && decimals <= 22) return small / 10 ** decimals;
  return Number(formatMoney(units, decimals));
}

/** down: towards zero. half_up: to the nearest, halves away from zero. */
export type Rounding = 'down' | 'half_up';

/** Integer division with a named rounding; throws RangeError on a zero divisor. */
export function divide(dividend: bigint, divisor: bigint, rounding: Rounding = 'down'): bigint {
  const quotient = dividend / divisor;
  if (rounding === 'down') return quotient;
  const rest = dividend % divisor;
  const doubled = rest < 0n ? -rest * 2n : rest * 2n;
  if (doubled < (divisor < 0n ? -divisor : divisor)) return quotient;
  return dividend < 0n === divisor < 0n ? quotient + 1n : quotient - 1n;
}

/**
 * numerator / denominator as an integer with `places` decimals, e.g. ratio(usdc, shares, 4) = 6125n for a price of 0.6125. null when the
 * denominator is zero. Both operands in the same unit.
 */
export function ratio(
  numerator: bigint,
  denominator: bigint,
  places: number,
  rounding: Rounding = 'half_up',
): bigint | null {
  return denominator === 0n ? null : divide(numerator * 10n ** BigInt(places), denominator, rounding);
}

/** Price of a fill (usdc per share) as a double rounded half up to `places` decimals, for serializers; null when shares is zero. */
export function priceNumber(usdc: bigint, shares: bigint, places = 4): number | null {
  const scaled = ratio(usdc, shares, places);
  return scaled === null ? null : moneyToNumber(scaled, places);
}
