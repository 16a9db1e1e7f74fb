import type { AnalystFunctions } from './analyst-functions.js';
import { type AnalystLimits, checkAnalystSettings } from './analyst-profile.js';
import { accessDenied, checkSyntaxTree, notReadOnly } from './analyst-rules.js';
import type { Engine } from './engine.js';
import { parseEngineError, ServerException } from './errors.js';
import type { QueryRequest } from './request.js';
import { setClause, type Token, tokenize } from './sql-text.js';
import { keywordOf, readStatement, type Statement } from './statement.js';

/** A statement that may run, and the settings of its SETTINGS clauses. */
export interface ValidatedStatement {
  readonly statement: Extract<Statement, { kind: 'select' | 'show' }>;
  readonly settings: Readonly<Record<string, string>>;
}

export interface AnalystStatementValidator {
  /**
   * Accepts one statement that reads only allowed objects. The engine's parser decides: `formatQuery` prints the statement canonically and rejects
   * several statements, `EXPLAIN AST` shows the names in it, and the printed text is the one that runs. Throws the parser's error, or code 164,
   * 358, 452 or 497.
   */
  validate(request: Pick<QueryRequest, 'params'>, statement: Statement): Promise<ValidatedStatement>;
}

const SHOW_FORMS: readonly RegExp[] = [
  /^SHOW DATABASES( (NOT )?I?LIKE Q)?( LIMIT N)?$/,
  /^SHOW TABLES( FROM I)?( (NOT )?I?LIKE Q)?( LIMIT N)?$/,
  /^SHOW( EXTENDED)?( FULL)? COLUMNS FROM I( FROM I)?( (NOT )?I?LIKE Q)?( LIMIT N)?$/,
  /^SHOW CREATE (TABLE|VIEW) I(\.I)?$/,
];

export function createAnalystStatementValidator(deps: {
  engine: Engine;
  functions: AnalystFunctions;
  database: string;
  limits: AnalystLimits;
}): AnalystStatementValidator {
  const { engine, functions, database, limits } = deps;

  async function parse(text: string): Promise<{ readonly canonical: string; readonly databases: readonly string[] }> {
    const session = await engine.session();
    try {
      await session.run(setClause({ param_statement: escapeParameter(text) }));
      const sql =
        'SELECT formatQuery({statement:String}) AS canonical, (SELECT groupArray(name) FROM system.databases) AS databases';
      const result = await session.run(sql, 'JSONEachRow');
      return JSON.parse(Buffer.from(result.bytes).toString('utf8'));
    } catch (error) {
      const { code, codeName, text: message } = parseEngineError(error);
      // The client did not write the statement around its text, so the message must not show it.
      throw new ServerException(code, codeName, message.replace(/:? ?In scope SELECT formatQuery\([\s\S]*$/, ''));
    } finally {
      session.close();
    }
  }
  async function syntaxTree(sql: string, params: Readonly<Record<string, string>>): Promise<string> {
    const session = await engine.session();
    try {
      if (Object.keys(params).length > 0) await session.run(setClause(params));
      const result = await session.run(`EXPLAIN AST ${sql}`, 'TabSeparatedRaw');
      return Buffer.from(result.bytes).toString('utf8');
    } catch (error) {
      throw parseEngineError(error);
    } finally {
      session.close();
    }
  }

  return {
    validate: async (request, statement) => {
      if (statement.kind !== 'select' && statement.kind !== 'show') throw notReadOnly(keywordOf(statement));
      const { canonical, databases } = await parse(statement.text);
      const latin1 = Buffer.from(canonical, 'utf8').toString('latin1');
      const checked = readStatement(latin1, true);
      if (checked === undefined || (checked.kind !== 'select' && checked.kind !== 'show'))
        throw notReadOnly(keywordOf(checked ?? statement));
      const tokens = [...tokenize(checked.body)];
      checkNames(checked.body, tokens, request.params);
      for (const text of [canonical, ...Object.values(request.params)]) checkNoAggregateState(text);
      const clause = trailingSettings(checked.body, tokens);
      const body = latin1ToUtf8(checked.body.slice(0, clause.start));
      const tail = trailingSettings(checked.tail, [...tokenize(checked.tail)]);
      if (checked.tail.slice(0, tail.start).trim() !== '') throw accessDenied('The statement cannot be checked.');
      const settings = { ...clause.settings, ...tail.settings };
      checkAnalystSettings(settings, limits);
      if (tokens[0]?.word === 'SHOW') checkShowStatement(checked.body.slice(0, clause.start), tokens, database);
      checkSyntaxTree(await syntaxTree(body, request.params), {
        database,
        databases: new Set(databases),
        functions: functions.allowed,
        tableFunctions: functions.tables,
        forbiddenFunctions: functions.forbidden,
        combinators: functions.combinators,
      });
      const { kind, format } = checked;
      return {
        statement: { kind, text: `${body}${format === undefined ? '' : `\nFORMAT ${format}`}`, body, format, tail: '' },
        settings,
      };
    },
  };
}

const latin1ToUtf8 = (latin1: string) => Buffer.from(latin1, 'latin1').toString('utf8');

/** The type's name as the engine's lexer reads it: quotes, spaces and comments may precede its parenthesis. */
const AGGREGATE_STATE = /(?<![A-Za-z0-9_])AggregateFunction[\s`"\\]*(\(|\/\*|--|#)/;

/**
 * The engine reads the state of an aggregate function from bytes without checking them: it fails, or allocates without a bound. It unescapes a
 * parameter's value, a literal, and a quoted name inside the literal, so all escapes are removed before the search for the name.
 */
function checkNoAggregateState(text: string): void {
  const unescaped = text
    .replace(/\\+x([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('\\', '');
  if (!AGGREGATE_STATE.test(text) && !AGGREGATE_STATE.test(unescaped)) return;
  throw accessDenied('The type AggregateFunction is not available: its values cannot be given as text or bytes.');
}

/**
 * A name with line breaks could imitate nodes of the syntax tree, which has one node per line. In canonical text they are escaped;
 * names given by parameters must be plain.
 */
function checkNames(text: string, tokens: readonly Token[], params: Readonly<Record<string, string>>): void {
  tokens.forEach((token, i) => {
    const source = text.slice(token.start, token.end);
    if (token.kind === 'quoted' && !source.startsWith("'") && /[\\\n\r]/.test(source)) {
      throw accessDenied('Names with line breaks, backslashes or quotes are not allowed.');
    }
    if (token.word !== 'IDENTIFIER' || tokens[i - 1]?.word !== ':' || tokens[i + 1]?.word !== '}') return;
    const name = tokens[i - 2];
    const value = name === undefined ? undefined : params[`param_${text.slice(name.start, name.end)}`];
    if (value !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(value)) {
      throw accessDenied('Values of Identifier parameters may only have letters, digits and _.');
    }
  });
}

/** Finds `SETTINGS a = 1, b = 'x'` at the end of `text`: its offset and values. */
function trailingSettings(
  text: string,
  tokens: readonly Token[],
): { readonly start: number; readonly settings: Readonly<Record<string, string>> } {
  // In canonical text the keyword is in capitals and something follows it. A table or an alias may have the same name.
  const at = tokens.findLastIndex(
    (token) => token.depth === 0 && token.word === 'SETTINGS' && text.slice(token.start, token.end) === 'SETTINGS',
  );
  const none = { start: text.length, settings: {} };
  if (at === -1 || at === tokens.length - 1) return none;
  const settings: Record<string, string> = {};
  for (let i = at + 1; i < tokens.length; i += 4) {
    const [name, equals, value, comma] = tokens.slice(i, i + 4);
    if (name?.kind !== 'word' || equals?.word !== '=' || value === undefined) return none;
    const source = latin1ToUtf8(text.slice(value.start, value.end));
    if (value.kind === 'number') settings[text.slice(name.start, name.end)] = source;
    else if (value.kind === 'quoted' && /^'[^'\\]*'$/.test(source)) {
      settings[text.slice(name.start, name.end)] = source.slice(1, -1);
    } else return none;
    if (comma !== undefined && comma.word !== ',') return none;
  }
  return { start: tokens[at]!.start, settings };
}

/** The syntax tree of SHOW omits its WHERE clause and its object, so only known forms pass. */
function checkShowStatement(text: string, tokens: readonly Token[], database: string): void {
  const names: string[] = [];
  const words = tokens
    .filter((token) => token.end <= text.length)
    .map((token) => {
      const source = text.slice(token.start, token.end);
      if (token.kind === 'number') return 'N';
      if (source.startsWith("'")) return 'Q';
      if (token.kind === 'mark' || (token.kind === 'word' && /^[A-Z]+$/.test(source))) return source;
      names.push(source.replace(/^[`"]|[`"]$/g, ''));
      return 'I';
    });
  const form = words.join(' ').replaceAll(' . ', '.');
  if (!SHOW_FORMS.some((pattern) => pattern.test(form))) {
    throw accessDenied(
      'Of SHOW statements, SHOW DATABASES, TABLES, COLUMNS and CREATE VIEW are available, without WHERE.',
    );
  }
  const [first, second] = names;
  const requested = form.startsWith('SHOW TABLES') ? first : form.includes(' COLUMNS ') ? second : undefined;
  if (requested !== undefined && requested !== database) {
    throw accessDenied(`Database '${requested}' is not readable; use '${database}'.`);
  }
}

/** Values of parameters are read as one escaped TabSeparated field. */
function escapeParameter(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}
