import { ServerException } from './errors.js';

/** Names that an analyst's statement may use. */
export interface AnalystRules {
  /** The one database whose views may be read. */
  readonly database: string;
  /** Lower-case names of functions that may be called. Combinators of aggregate functions are stripped before the look-up. */
  readonly functions: ReadonlySet<string>;
  /** Lower-case names of table functions that may be called. */
  readonly tableFunctions: ReadonlySet<string>;
  /** Lower-case names of the engine's other functions. */
  readonly forbiddenFunctions: ReadonlySet<string>;
  /** All databases of the engine. */
  readonly databases: ReadonlySet<string>;
  /** Combinators such as `If` and `Merge`, longest first. */
  readonly combinators: readonly string[];
}

/** System tables without data of other users: names, types and documentation. Rows about other databases are filtered out (`analyst-profile.ts`). */
export const READABLE_SYSTEM_TABLES: ReadonlySet<string> = new Set([
  ...['one', 'numbers', 'numbers_mt', 'zeros', 'zeros_mt'],
  ...['databases', 'tables', 'columns', 'settings', 'functions', 'formats', 'data_type_families', 'table_functions'],
  ...['aggregate_function_combinators', 'time_zones', 'keywords'],
]);
const INFORMATION_SCHEMA = new Set(['tables', 'columns', 'schemata', 'views', 'key_column_usage', 'statistics']);

const PLAIN_NODES = new Set([
  ...['SelectWithUnionQuery', 'SelectIntersectExceptQuery', 'SelectQuery', 'Subquery', 'ExpressionList', 'WithElement'],
  ...['TablesInSelectQuery', 'TablesInSelectQueryElement', 'TableExpression', 'TableJoin', 'ArrayJoin', 'SampleRatio'],
  ...['Literal', 'Asterisk', 'QualifiedAsterisk', 'OrderByElement', 'InterpolateElement', 'Collation'],
  ...['WindowDefinition', 'WindowListElement', 'DescribeQuery', 'ShowTables', 'ShowColumns'],
  ...['ColumnsRegexpMatcher', 'ColumnsListMatcher', 'QualifiedColumnsRegexpMatcher', 'QualifiedColumnsListMatcher'],
  // Not ColumnsApplyTransformer: the tree does not show which function APPLY calls.
  ...['ColumnsTransformerList', 'ColumnsExceptTransformer', 'ColumnsReplaceTransformer'],
]);
const EXPLAINS = new Set(['', ' AST', ' SYNTAX', ' QUERY TREE', ' PIPELINE', ' ESTIMATE', ' PLAN']);
const OBJECT_QUERIES = new Set(['ExistsTableQuery', 'ExistsViewQuery', 'ShowCreateTableQuery', 'ShowCreateViewQuery']);

/** `keyword`: the first word of the statement, which may be misspelled. */
export function notReadOnly(keyword: string): ServerException {
  const text = 'Cannot execute query in readonly mode: user analyst may SELECT, SHOW, DESCRIBE, EXPLAIN and EXISTS';
  return new ServerException(164, 'READONLY', `${text}; the statement begins with ${keyword.slice(0, 40)}.`);
}

export function accessDenied(text: string): ServerException {
  return new ServerException(497, 'ACCESS_DENIED', `analyst: Not enough privileges. ${text}`);
}

interface AstNode {
  readonly depth: number;
  readonly kind: string;
  readonly rest: string;
  readonly parent: AstNode | undefined;
}

/**
 * Checks a statement by its syntax tree as the engine's parser prints it: the text of `EXPLAIN AST`, one node per line, children indented by
 * one. Only known kinds of nodes pass. The caller guarantees that no name in the statement contains a line break. Throws code 497.
 */
export function checkSyntaxTree(tree: string, rules: AnalystRules): void {
  const nodes = parseTree(tree);
  nodes.forEach((node, index) => {
    checkNode(node, nodes, index, rules);
    checkTextArgument(node, nodes, index, rules);
  });
  checkPathColumns(nodes, rules);
}

/** Functions whose second argument is the name of a type. */
const CONVERSIONS = new Set([
  ...['cast', '_cast', 'accuratecast', 'accuratecastornull', 'accuratecastordefault', 'reinterpret'],
]);

/** Functions whose first argument is the name of an aggregate function, with its parameters. */
const BY_AGGREGATE_NAME = new Set(['arrayreduce', 'initializeaggregation']);

/**
 * Checks arguments that name types and aggregate functions. A computed type could be AggregateFunction without its name in the statement's text; the
 * engine reads such a state from bytes without checking them. An aggregate function named by a text must be an allowed one, too.
 */
function checkTextArgument(node: AstNode, nodes: readonly AstNode[], index: number, rules: AnalystRules): void {
  if (node.kind !== 'Function') return;
  const name = functionOf(node)?.toLowerCase() ?? '';
  if (!CONVERSIONS.has(name) && !BY_AGGREGATE_NAME.has(name) && name !== 'values') return;
  const list = nodes[index + 1];
  if (list === undefined || list.depth !== node.depth + 1) return;
  const args: AstNode[] = [];
  for (let at = index + 2; (nodes[at]?.depth ?? 0) > list.depth; at += 1)
    if (nodes[at]!.parent === list) args.push(nodes[at]!);
  if (CONVERSIONS.has(name) && args[1] !== undefined && args[1].kind !== 'Literal') {
    throw accessDenied(`The type in ${name}(value, type) must be written out, as in CAST(value AS UInt64).`);
  }
  if (BY_AGGREGATE_NAME.has(name)) {
    const aggregate =
      args[0]?.kind === 'Literal' ? /^ \\?'([A-Za-z_][A-Za-z0-9_]*)/.exec(args[0].rest)?.[1] : undefined;
    if (aggregate === undefined)
      throw accessDenied(`The aggregate function in ${name}('name', ...) must be written out.`);
    if (!isAllowedFunction(aggregate, rules)) throw accessDenied(`Function '${aggregate}' is not available.`);
  }
  if (
    name === 'values' &&
    node.parent?.kind === 'TableExpression' &&
    args[0]?.kind === 'Function' &&
    functionOf(args[0])?.toLowerCase() !== 'tuple'
  ) {
    throw accessDenied("The structure in values('name Type, ...', ...) must be written out.");
  }
}

/** Rejects reads of the columns of system.databases and system.tables that show where the server stores its files. */
function checkPathColumns(nodes: readonly AstNode[], rules: AnalystRules): void {
  const tables = nodes.filter(({ kind }) => kind === 'TableIdentifier').map(nameOf);
  if (!tables.some((name) => TABLES_WITH_PATHS.has(name))) return;
  nodes.forEach((node) => {
    const isPath = node.kind === 'Identifier' && /(^|\.)(meta)?data_paths?$/.test(nameOf(node));
    const isCount = node.kind === 'Asterisk' && isCountArgument(node);
    if (!isPath && (isCount || !COLUMN_MATCHERS.has(node.kind))) return;
    throw accessDenied(
      `Name the columns of system.databases and system.tables one by one, without those of paths; the views of '${rules.database}' are in SHOW TABLES.`,
    );
  });
}

const TABLES_WITH_PATHS = new Set(['system.databases', 'system.tables']);
const COLUMN_MATCHERS = new Set([
  ...['Asterisk', 'QualifiedAsterisk', 'ColumnsRegexpMatcher', 'QualifiedColumnsRegexpMatcher'],
]);

function isCountArgument(node: AstNode): boolean {
  const call = node.parent?.parent;
  return call?.kind === 'Function' && functionOf(call)?.toLowerCase() === 'count';
}

/** Nodes in the order of the text. Takes linear time: the statement is a client's. */
function parseTree(tree: string): readonly AstNode[] {
  const ancestors: AstNode[] = [];
  return tree
    .trimEnd()
    .split('\n')
    .map((line) => {
      const match = /^( *)([A-Za-z:]+)(.*)$/.exec(line);
      if (match === null) throw accessDenied('The statement cannot be checked.');
      const depth = match[1]!.length;
      while ((ancestors.at(-1)?.depth ?? -1) >= depth) ancestors.pop();
      const node = { depth, kind: match[2]!, rest: match[3]!, parent: ancestors.at(-1) };
      ancestors.push(node);
      return node;
    });
}

const CHECKS: ReadonlyMap<string, (node: AstNode, rules: AnalystRules) => void> = new Map([
  ['Function', checkFunction],
  ['TableIdentifier', (node, rules) => checkTable(nameOf(node), rules)],
  ['Identifier', (node, rules) => checkIdentifier(nameOf(node), rules)],
]);

function checkNode(node: AstNode, nodes: readonly AstNode[], index: number, rules: AnalystRules): void {
  const { kind } = node;
  if (PLAIN_NODES.has(kind) || kind === 'ColumnsReplaceTransformer::Replacement') return;
  if (kind === 'Function' && node.parent?.kind === 'TableExpression') {
    checkTableFunction(node, rules);
    return;
  }
  const check = CHECKS.get(kind);
  if (check !== undefined) {
    check(node, rules);
    return;
  }
  if (kind === 'Explain' && index === 0) {
    const type = /^ EXPLAIN((?: [A-Z]+)*)(?: \(children \d+\))?$/.exec(node.rest)?.[1];
    if (type !== undefined && EXPLAINS.has(type)) return;
  }
  // Options of EXPLAIN. Any other SETTINGS clause below the top level would go around the limits.
  if (kind === 'Set' && index === 1 && nodes[0]!.kind === 'Explain') return;
  if (kind === 'Set') {
    throw accessDenied(
      'SETTINGS is only allowed once, at the end of the whole statement, or send settings as URL parameters.',
    );
  }
  if (OBJECT_QUERIES.has(kind) && index === 0) {
    checkTable(nodes.slice(1).map(nameOf).join('.'), rules);
    return;
  }
  if (kind === 'ColumnsApplyTransformer')
    throw accessDenied('APPLY is not available; call the function on each column.');
  throw accessDenied(`Only SELECT, SHOW, DESCRIBE, EXPLAIN and EXISTS are allowed (found ${kind}).`);
}

/** `Identifier a.b (alias c)` -> `a.b`. */
function nameOf({ rest }: AstNode): string {
  return rest.replace(/ \((?:alias .*|children \d+)\)$/, '').trimStart();
}

function functionOf(node: AstNode): string | undefined {
  return /^ ([A-Za-z_][A-Za-z0-9_]*)(?: \(|$)/.exec(node.rest)?.[1];
}

function checkTableFunction(node: AstNode, rules: AnalystRules): void {
  const name = functionOf(node);
  if (name !== undefined && rules.tableFunctions.has(name.toLowerCase())) return;
  const available = [...rules.tableFunctions].join(', ');
  throw accessDenied(`Table function '${nameOf(node)}' is not available. Available are: ${available}.`);
}

function checkFunction(node: AstNode, rules: AnalystRules): void {
  const name = functionOf(node);
  if (name === undefined) throw accessDenied(`Function '${nameOf(node)}' is not available.`);
  if (!isAllowedFunction(name, rules)) throw accessDenied(`Function '${name}' is not available.`);
}

function isAllowedFunction(name: string, rules: AnalystRules): boolean {
  if (rules.functions.has(name.toLowerCase())) return true;
  const suffix = rules.combinators.find((combinator) => name.length > combinator.length && name.endsWith(combinator));
  return suffix !== undefined && isAllowedFunction(name.slice(0, -suffix.length), rules);
}

function checkTable(name: string, rules: AnalystRules): void {
  const parts = name.split('.');
  const [database, table] = parts as [string, string | undefined];
  if (parts.length === 1 && database !== '') return;
  if (parts.length === 2 && table !== undefined) {
    if (database === rules.database) return;
    if (database === 'system' && READABLE_SYSTEM_TABLES.has(table)) return;
    if (/^(information_schema|INFORMATION_SCHEMA)$/.test(database) && INFORMATION_SCHEMA.has(table.toLowerCase()))
      return;
  }
  throw accessDenied(
    `'${name}' is not readable. Readable are the views of database '${rules.database}' (SHOW TABLES) and system tables such as system.tables and system.columns.`,
  );
}

/**
 * A name in an expression is a column, but the engine also resolves it as a table (`x IN name`, directly or by an alias) and as a function
 * (`arrayMap(file, [...])`). So a name that could be a table or a function must be an allowed one at any position.
 */
function checkIdentifier(name: string, rules: AnalystRules): void {
  const parts = name.split('.');
  if (parts.length === 1) {
    if (!rules.forbiddenFunctions.has(name.toLowerCase())) return;
    throw accessDenied(`Function '${name}' is not available, nor is its name as a column or alias.`);
  }
  if (parts[0] !== rules.database && rules.databases.has(parts[0]!)) checkTable(parts.slice(0, 2).join('.'), rules);
}
