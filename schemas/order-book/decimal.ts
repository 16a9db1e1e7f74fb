/** A price or size as the venue writes it: digits with at most one point, such as `0.001`, `.48` or `220045`. */
const DECIMAL = /^(?:\d{1,15}(?:\.\d{0,18})?|\.\d{1,18})$/;

export const isDecimal = (text: string): boolean => DECIMAL.test(text);

/** The shortest text of the same number: no leading or trailing zeros, `0` for zero. `.4800` is `0.48`, `10.000` is `10`. */
export function canonicalDecimal(text: string): string {
  const [whole = '', fraction = ''] = text.split('.');
  const digits = whole.replace(/^0+/, '') || '0';
  const places = fraction.replace(/0+$/, '');
  return places === '' ? digits : `${digits}.${places}`;
}

/** Number of decimal places of a price that are compared; the venue's smallest tick is 0.0001. */
const PRICE_PLACES = 9;

/** A price between 0 and 1 as an integer of 1e-9, exact up to nine decimal places; null for text that is no such price. */
export function priceUnits(text: string): number | null {
  if (!isDecimal(text)) return null;
  const [whole = '', fraction = ''] = canonicalDecimal(text).split('.');
  if (fraction.length > PRICE_PLACES) return null;
  const units = Number(whole) * 10 ** PRICE_PLACES + Number(fraction.padEnd(PRICE_PLACES, '0'));
  return units <= 10 ** PRICE_PLACES ? units : null;
}
