import type { Hex } from './hash.js';

/** 20 bytes, lower-case hex. */
export type Address = Hex;

export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000';

const ANY_CASE = /^0x[0-9a-fA-F]{40}$/;
const LOWER_CASE = /^0x[0-9a-f]{40}$/;

/** True for an address in the stored form: lower case. */
export function isAddress(text: string): text is Address {
  return LOWER_CASE.test(text);
}

/** The address in lower case, or null when the text is no address. Checksums are not verified: any mixed case is accepted. */
export function tryParseAddress(text: string): Address | null {
  return ANY_CASE.test(text) ? (text.toLowerCase() as Address) : null;
}

/** The address in lower case; throws RangeError when the text is no address. */
export function parseAddress(text: string): Address {
  const address = tryParseAddress(text);
  if (address === null) throw new RangeError(`Not an address: ${text.slice(0, 80)}`);
  return address;
}
