const DECIMALS = 18;
const NUMBER = /^(-?)(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * A decimal number text (`65048.078902260626`, `7.1e-8`) as an integer scaled by 1e18, without float arithmetic. Digits beyond the 18th
 * are rounded half away from zero. Returns null for anything that is not a JSON number.
 */
export function parseDecimalE18(text: string): bigint | null {
  const match = NUMBER.exec(text);
  if (match === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const power = DECIMALS + Number(exponent) - fraction.length;
  const magnitude = power >= 0 ? digits * 10n ** BigInt(power) : roundedQuotient(digits, 10n ** BigInt(-power));
  return sign === '-' ? -magnitude : magnitude;
}

function roundedQuotient(value: bigint, divisor: bigint): bigint {
  return (value + divisor / 2n) / divisor;
}
