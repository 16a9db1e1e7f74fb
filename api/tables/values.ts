/** Column selected as Unix milliseconds: number, or text where 64-bit integers are quoted; null stays null. */
export type Millis = number | string | null;

/** ISO-8601 UTC, with milliseconds only if they are not zero; null stays null. */
export function isoFrom(ms: Millis): string | null {
  if (ms === null) return null;
  return new Date(Number(ms)).toISOString().replace('.000Z', 'Z');
}

/** Boolean columns arrive as true/false or 1/0, depending on the output format. */
export type SqlBool = boolean | number;
export const boolFrom = (value: SqlBool): boolean => value === true || value === 1;
