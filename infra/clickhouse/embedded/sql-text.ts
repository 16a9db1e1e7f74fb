/** Quotes a string as a ClickHouse literal. NUL is escaped because it would end the text inside the engine. */
export function quoteString(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\0', '\\0')}'`;
}

/** Quotes a name as a ClickHouse identifier. */
export function quoteIdentifier(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`').replaceAll('\0', '\\0')}\``;
}

/** `SET a = '1', b = '2'`. Names are not escaped: the caller must have checked them. */
export function setClause(values: Readonly<Record<string, string>>): string {
  return `SET ${Object.entries(values)
    .map(([name, value]) => `${name} = ${quoteString(value)}`)
    .join(', ')}`;
}

export type TokenKind = 'word' | 'quoted' | 'number' | 'mark';

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  /** Number of open brackets around the token. */
  readonly depth: number;
  /** Upper case for words, the character for marks, '' for the rest. */
  readonly word: string;
}

const SPACE = /[\s\0]/;
const WORD_START = /[A-Za-z_]/;
const WORD = /[A-Za-z0-9_$]*/y;
const NUMBER = /[0-9][A-Za-z0-9_.]*/y;
const HEREDOC = /\$[A-Za-z0-9_]*\$/y;

/**
 * The tokens of ClickHouse SQL: strings with `\` and doubled quotes, the three comment styles, heredocs. Offsets are those of
 * `text`. A string or comment that never ends runs to the end of the text.
 */
export function* tokenize(text: string, from = 0): Generator<Token> {
  let at = from;
  let depth = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  while (at < text.length) {
    const start = at;
    const char = text.charAt(at);
    const next = text.charAt(at + 1);
    if (SPACE.test(char)) at += 1;
    else if ((char === '-' && next === '-') || (char === '#' && (next === ' ' || next === '!'))) {
      const newline = text.indexOf('\n', at);
      at = newline === -1 ? text.length : newline + 1;
    } else if (char === '/' && next === '*') {
      const close = text.indexOf('*/', at + 2);
      at = close === -1 ? text.length : close + 2;
    } else if (char === "'" || char === '"' || char === '`') {
      at = endOfQuoted(text, at, char);
      yield { kind: 'quoted', start, end: at, depth, word: '' };
    } else if (WORD_START.test(char)) {
      at += match(WORD)?.length ?? 1;
      yield { kind: 'word', start, end: at, depth, word: text.slice(start, at).toUpperCase() };
    } else if (char >= '0' && char <= '9') {
      at += match(NUMBER)?.length ?? 1;
      yield { kind: 'number', start, end: at, depth, word: '' };
    } else {
      const tag = char === '$' ? match(HEREDOC) : undefined;
      if (tag !== undefined) {
        const close = text.indexOf(tag, at + tag.length);
        at = close === -1 ? text.length : close + tag.length;
        yield { kind: 'quoted', start, end: at, depth, word: '' };
        continue;
      }
      at += 1;
      if (char === ')' || char === ']' || char === '}') depth = Math.max(0, depth - 1);
      yield { kind: 'mark', start, end: at, depth, word: char };
      if (char === '(' || char === '[' || char === '{') depth += 1;
    }
  }
}

function endOfQuoted(text: string, from: number, quote: string): number {
  for (let at = from + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at += 1;
    else if (char === quote) {
      if (text.charAt(at + 1) !== quote) return at + 1;
      at += 1;
    }
  }
  return text.length;
}
