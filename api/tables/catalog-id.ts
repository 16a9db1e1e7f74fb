import { createHash } from 'node:crypto';

const DIGITS = /^\d+$/;
/** Ids of the catalogue source are below this number. */
const FIRST_DERIVED_ID = 10n ** 15n;

/**
 * Numeric id of an event, market or series for clients. The catalogue source uses numbers; an id of a recording without a number is
 * mapped to one deterministically: 10^15 + the first 48 bits of its SHA-256.
 */
export function numericId(id: string): string {
  if (DIGITS.test(id)) return id;
  const hash = createHash('sha256').update(id, 'utf8').digest().readUIntBE(0, 6);
  return (FIRST_DERIVED_ID + BigInt(hash)).toString();
}

/** Whether a number may be one that `numericId` has derived. */
export const mayBeDerived = (id: string): boolean => DIGITS.test(id) && BigInt(id) >= FIRST_DERIVED_ID;

/** SQL: the number that `numericId` derives from an id in `column`, as text. It is not derived from null and from an id that is a number. */
export const derivedIdSql = (column: string): string =>
  `if(match(ifNull(${column}, ''), '^[0-9]*$'), '', toString(toUInt64(${FIRST_DERIVED_ID}) + reinterpretAsUInt64(reverse(substring(SHA256(ifNull(${column}, '')), 1, 6)))))`;
