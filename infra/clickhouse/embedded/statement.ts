import { ServerException } from './errors.js';
import { type Token, tokenize } from './sql-text.js';

/** A statement, classified as far as this server needs before the engine parses it. */
export type Statement =
  | {
      /** INSERT whose rows follow the statement. `head` ends where `SETTINGS`, `FORMAT` or `VALUES` begins; data starts at `dataAt`. */
      readonly kind: 'insert';
      readonly head: string;
      /** `SETTINGS ...` between the head and the format, or ''. */
      readonly settings: string;
      readonly format: string;
      readonly dataAt: number;
    }
  | {
      /** A query that returns rows. `body` has no FORMAT clause; `tail` is the text after the format's name (SETTINGS). */
      readonly kind: 'select' | 'show';
      readonly text: string;
      readonly body: string;
      readonly format: string | undefined;
      readonly tail: string;
    }
  | { readonly kind: 'command'; readonly text: string; readonly keyword: string };

/** The first word of a statement that does not return rows. */
export const keywordOf = (statement: Statement): string =>
  statement.kind === 'command' ? statement.keyword : statement.kind.toUpperCase();

const SELECTS = new Set(['SELECT', 'WITH', 'FROM', '(']);
const SHOWS = new Set(['SHOW', 'DESCRIBE', 'DESC', 'EXPLAIN', 'EXISTS', 'CHECK']);

/**
 * Reads the statement at the start of a request. `text` is the latin1 view of the bytes, so that offsets are byte offsets.
 * With `complete` false more bytes follow; returns undefined when they are needed to classify the statement. Throws ServerException.
 */
export function readStatement(text: string, complete: boolean): Statement | undefined {
  const tokens = tokenize(text);
  const first = tokens.next();
  if (first.done === true) {
    if (!complete) return undefined;
    throw new ServerException(62, 'SYNTAX_ERROR', 'Syntax error: failed at position 1 (end of query): . Empty query.');
  }
  if (first.value.word === 'INSERT') {
    const insert = readInsert(text, tokens, complete);
    if (insert !== undefined) return insert;
  }
  if (!complete) return undefined;
  return readOther(text, first.value);
}

function readInsert(text: string, tokens: Generator<Token>, complete: boolean): Statement | undefined {
  const iterator = { next: () => tokens.next().value as Token | undefined };
  let token = iterator.next();
  if (token?.word === 'INTO') token = iterator.next();
  if (token?.word === 'TABLE') token = iterator.next();
  if (token?.word === 'FUNCTION') token = iterator.next();
  // The target's name may be a keyword.
  token = iterator.next();
  while (token?.word === '.') {
    iterator.next();
    token = iterator.next();
  }
  let settingsAt: number | undefined;
  for (; token !== undefined; token = iterator.next()) {
    if (token.depth > 0 || token.kind !== 'word') continue;
    if (token.word === 'SETTINGS') settingsAt ??= token.start;
    else if (token.word === 'SELECT' || token.word === 'WITH') return undefined;
    else if (token.word === 'INFILE') {
      throw new ServerException(78, 'UNKNOWN_TYPE_OF_QUERY', 'Query has infile and was send directly to server.');
    } else if (token.word === 'VALUES' || token.word === 'FORMAT') {
      const clauseAt = token.start;
      let format = 'Values';
      let end = token.end;
      if (token.word === 'FORMAT') {
        const name = iterator.next();
        // The name may continue in bytes that have not arrived yet.
        if (name === undefined || (name.end === text.length && !complete)) return undefined;
        format = text.slice(name.start, name.end);
        end = name.end;
        if (format.toUpperCase() === 'VALUES') format = 'Values';
      }
      if (!complete && /^[ \t\f]*\r?$/.test(text.slice(end))) return undefined;
      const headEnd = settingsAt ?? clauseAt;
      return {
        kind: 'insert',
        head: text.slice(0, headEnd),
        settings: text.slice(headEnd, clauseAt),
        format,
        dataAt: dataStart(text, end),
      };
    }
  }
  return undefined;
}

/** Offset of the first row: the line after the format's name, or the same line after spaces. */
function dataStart(text: string, formatEnd: number): number {
  if (text.charAt(formatEnd) === ';') {
    throw new ServerException(62, 'SYNTAX_ERROR', "You have excessive ';' symbol before data for INSERT.");
  }
  let at = formatEnd;
  while (/[ \t\f]/.test(text.charAt(at))) at += 1;
  if (text.charAt(at) === '\r') at += 1;
  if (text.charAt(at) === '\n') at += 1;
  return at;
}

function readOther(text: string, first: Token): Statement {
  const all = [...tokenize(text)];
  let end = text.length;
  const semicolon = all.findIndex((token) => token.word === ';');
  if (semicolon !== -1) {
    const at = all[semicolon]!;
    if (all.slice(semicolon).some((token) => token.word !== ';')) {
      throw new ServerException(
        62,
        'SYNTAX_ERROR',
        `Syntax error (Multi-statements are not allowed): failed at position ${at.start + 1} (end of query). .`,
      );
    }
    end = at.start;
    all.length = semicolon;
  }
  const body = text.slice(0, end);
  if (all.some((token, i) => token.word === 'INTO' && all[i + 1]?.word === 'OUTFILE')) {
    throw new ServerException(358, 'INTO_OUTFILE_NOT_ALLOWED', 'INTO OUTFILE is not allowed.');
  }
  const kind = SELECTS.has(first.word) ? 'select' : SHOWS.has(first.word) ? 'show' : undefined;
  if (kind === undefined) return { kind: 'command', text: body, keyword: first.word };
  for (let i = all.length - 2; i > 0; i--) {
    const token = all[i]!;
    const after = all[i + 2];
    if (token.word !== 'FORMAT' || token.depth > 0) continue;
    if (after !== undefined && after.word !== 'SETTINGS') continue;
    const name = all[i + 1]!;
    // The engine prints a name that is a keyword, such as Null and Values, in backquotes.
    const format = /^`?([a-z0-9_]+)`?$/i.exec(body.slice(name.start, name.end))?.[1];
    if (format === undefined || name.kind === 'number') continue;
    return { kind, text: body, body: body.slice(0, token.start), format, tail: body.slice(name.end) };
  }
  return { kind, text: body, body, format: undefined, tail: '' };
}
