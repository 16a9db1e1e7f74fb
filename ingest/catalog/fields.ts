/** Readers for the catalogue service's loosely typed JSON: numbers as text, lists as text, "" for nothing, several date forms. */

export type JsonObject = Readonly<Record<string, unknown>>;

/** A field that makes its row unusable. The message names the field. */
export class FieldError extends Error {
  override name = 'FieldError';
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Halves of characters, which JSON can express and UTF-8 cannot, become U+FFFD. */
const wellFormed = (text: string): string => text.replace(/\p{Surrogate}/gu, '\ufffd');

/** Text, or a number as text; null for "" and anything else. */
export function optionalText(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : wellFormed(value);
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}

export function requiredText(row: JsonObject, name: string): string {
  const text = optionalText(row[name]);
  if (text === null) throw new FieldError(`${name} is missing`);
  return text;
}

/** Larger numbers are rejected: no amount, price or count of a catalog reaches this. Doubles are exact below it. */
const MOST = 1e15;

/** A number from -1e15 to 1e15, or such a number as text; null for anything else. */
export function optionalNumber(value: unknown): number | null {
  if (typeof value === 'string' && value.trim() === '') return null;
  const number = typeof value === 'string' ? Number(value) : value;
  return typeof number === 'number' && Math.abs(number) <= MOST ? number : null;
}

export function booleanOf(value: unknown): boolean {
  return value === true || value === 'true';
}

const END_OF_TIME_MS = Date.UTC(2299, 0, 1);
const DATE = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(\.\d+)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/**
 * Unix milliseconds of `2026-03-28T17:05:00.248161Z`, `2026-03-28 17:05:00+00`, `2026-03-28`; fractions are cut to milliseconds, a
 * missing zone is UTC. null for anything else, and for years outside 1970-2299, which the tables cannot hold.
 */
export function optionalTime(value: unknown): number | null {
  if (typeof value !== 'string') return null;
  const match = DATE.exec(value.trim());
  if (match === null) return null;
  const [, date, time = '00:00', fraction = '', zone = 'Z'] = match;
  const offset = /^[+-]\d{2}$/.test(zone) ? `${zone}:00` : zone.replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const seconds = time.length === 5 ? `${time}:00` : time;
  const ms = Date.parse(`${date}T${seconds}${fraction.slice(0, 4)}${offset.toUpperCase()}`);
  return ms >= 0 && ms < END_OF_TIME_MS ? ms : null;
}

/** A list, or text that holds one as JSON; missing and "" are the empty list. Items become text. */
export function textList(row: JsonObject, name: string): string[] {
  const value = row[name];
  if (value === undefined || value === null || value === '') return [];
  let list: unknown = value;
  if (typeof value === 'string') {
    try {
      list = JSON.parse(value);
    } catch {
      throw new FieldError(`${name} is not JSON`);
    }
  }
  if (!Array.isArray(list)) throw new FieldError(`${name} is not a list`);
  return list.map((item: unknown) => {
    if (typeof item === 'string') return wellFormed(item);
    // A token id parsed as a number may have lost digits: only safe integers are accepted.
    if (typeof item === 'number' && (Math.abs(item) <= Number.MAX_SAFE_INTEGER || !Number.isInteger(item))) {
      return String(item);
    }
    throw new FieldError(`${name} contains a value that is not text`);
  });
}

/** 32 bytes as 0x-hex, lower case. "" and missing are null; throws FieldError for anything else. */
export function optionalHash(row: JsonObject, name: string): string | null {
  const text = optionalText(row[name]);
  if (text === null) return null;
  if (!/^0x[0-9a-f]{64}$/i.test(text)) throw new FieldError(`${name} is not 32 bytes of hex`);
  return text.toLowerCase();
}

/** The members not named in `known`, as JSON with its keys sorted at every level, so that equal values give equal text. */
export function remainingFields(row: JsonObject, known: ReadonlySet<string>): string {
  return JSON.stringify(
    sortKeys(
      Object.fromEntries(Object.entries(row).filter(([name, value]) => !known.has(name) && value !== undefined)),
    ),
  );
}

const MAX_DEPTH = 64;

function sortKeys(value: unknown, depth = 0): unknown {
  if (depth > MAX_DEPTH) throw new FieldError(`more than ${MAX_DEPTH} levels deep`);
  if (Array.isArray(value)) return value.map((item) => sortKeys(item, depth + 1));
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sortKeys(value[name], depth + 1)]));
}
