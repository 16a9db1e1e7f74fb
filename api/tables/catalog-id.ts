import { createHash } from 'node:crypto';

const DIGITS = /^\d+$/;
/** Ids of the catalogue source have fewer digits. */
const FIRST_DERIVED_ID = 10n ** 15n;

/**
 * Id of an event, market or series as clients read it: digits. The catalogue source numbers them; what a recording lacks the number of has
 * an id of ours, which is made a number here, the same one every time.
 */
export function numericId(id: string): string {
  if (DIGITS.test(id)) return id;
  const hash = createHash('sha256').update(id, 'utf8').digest().readUIntBE(0, 6);
  return (FIRST_DERIVED_ID + BigInt(hash)).toString();
}
