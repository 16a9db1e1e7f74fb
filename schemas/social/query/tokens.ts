/** A part of a query's text. `position`: number of its first character, from 1. */
export type Token = { readonly position: number } & (
  | { readonly type: '(' | ')' | 'or' | 'not' }
  | { readonly type: 'text' | 'quoted'; readonly text: string }
);

/** The text is no query. `position`: number of the character it was found at, from 1. */
export class QuerySyntaxError extends Error {
  override name = 'QuerySyntaxError';
  constructor(
    message: string,
    readonly position: number,
  ) {
    super(message);
  }
}

const SPACE = /\s/u;
const END_OF_TEXT = /[\s()"]/u;

/** Splits a query into tokens. Throws QuerySyntaxError for a quotation mark without its pair, and a minus sign before nothing. */
export function tokensOf(query: string): readonly Token[] {
  // Positions count characters, as a reader does, not UTF-16 units.
  const characters = [...query];
  const tokens: Token[] = [];
  let at = 0;
  while (at < characters.length) {
    const character = characters[at] as string;
    const position = at + 1;
    if (SPACE.test(character)) {
      at += 1;
    } else if (character === '(' || character === ')') {
      tokens.push({ type: character, position });
      at += 1;
    } else if (character === '"') {
      const end = characters.indexOf('"', at + 1);
      if (end < 0) throw new QuerySyntaxError('the quotation mark is not closed', position);
      tokens.push({ type: 'quoted', text: characters.slice(at + 1, end).join(''), position });
      at = end + 1;
    } else if (character === '-') {
      const next = characters[at + 1];
      if (next === undefined || SPACE.test(next) || next === ')')
        throw new QuerySyntaxError("'-' must stand directly before what it excludes", position);
      tokens.push({ type: 'not', position });
      at += 1;
    } else {
      let end = at;
      while (end < characters.length && !END_OF_TEXT.test(characters[end] as string)) end += 1;
      const text = characters.slice(at, end).join('');
      tokens.push(text === 'OR' ? { type: 'or', position } : { type: 'text', text, position });
      at = end;
    }
  }
  return tokens;
}
