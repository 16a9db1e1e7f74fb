const SPECIAL = /[\\\t\n\r\0\b\f]/;
const SPECIAL_ALL = /[\\\t\n\r\0\b\f]/g;
const ARRAY_SPECIAL_ALL = /[\\'\t\n\r\0\b\f]/g;

const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\0': '\\0',
  '\b': '\\b',
  '\f': '\\f',
  "'": "\\'",
};

const escapeCharacter = (character: string): string => ESCAPES[character] ?? character;

/** A string as a TabSeparated field. */
export function tsvString(value: string): string {
  return SPECIAL.test(value) ? value.replace(SPECIAL_ALL, escapeCharacter) : value;
}

/** A string inside an Array(String) field. */
export function tsvArrayItem(value: string): string {
  return `'${value.replace(ARRAY_SPECIAL_ALL, escapeCharacter)}'`;
}

let lastSeconds = Number.NaN;
let lastText = '';

/** `YYYY-MM-DD hh:mm:ss` in UTC. Caches the last result, since neighbouring rows share their second. */
export function utcSeconds(seconds: number): string {
  if (seconds !== lastSeconds) {
    const iso = new Date(seconds * 1000).toISOString();
    lastText = `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
    lastSeconds = seconds;
  }
  return lastText;
}
