import type { Engine } from './engine.js';

/** Functions of an engine as analysts may use them. */
export interface AnalystFunctions {
  /** Lower-case names that may be called in expressions. */
  readonly allowed: ReadonlySet<string>;
  /** Lower-case names of the table functions that may be called in FROM. */
  readonly tables: ReadonlySet<string>;
  /** Lower-case names of all other functions. */
  readonly forbidden: ReadonlySet<string>;
  /** Combinators of aggregate functions, longest first. */
  readonly combinators: readonly string[];
}

/** Categories of `system.functions` whose functions compute from their arguments alone. Functions of new categories are not allowed. */
const ALLOWED_CATEGORIES = new Set([
  ...['Aggregate Functions', 'Arithmetic', 'Arrays', 'Bit', 'Bitmap', 'Comparison', 'Conditional', 'Dates and Times'],
  ...['Distance', 'Encoding', 'Encryption', 'Financial', 'Geo', 'Geo Polygon', 'Hash', 'IP Address', 'JSON', 'Logical'],
  ...['Map', 'Mathematical', 'Null', 'NumericIndexedVector', 'QBit', 'Random Number', 'Rounding', 'String'],
  ...['String Replacement', 'String Search', 'String Splitting', 'Time Series', 'Time Window', 'Tuple'],
  ...['Type Conversion', 'URL', 'UUID'],
]);
/** Harmless functions of the category `Other`, and what the parser writes for operators. */
const ALLOWED_NAMES = [
  ...['bar', 'blockNumber', 'blockSize', 'byteSize', 'countDigits', 'currentDatabase', 'currentSchemas', 'currentUser'],
  ...['defaultValueOfArgumentType', 'defaultValueOfTypeName', 'dumpColumnStructure', 'finalizeAggregation', 'timezone'],
  ...['formatQuery', 'formatQueryOrNull', 'formatQuerySingleLine', 'formatQuerySingleLineOrNull', 'getSetting'],
  ...['formatReadableDecimalSize', 'formatReadableQuantity', 'formatReadableSize', 'formatReadableTimeDelta'],
  ...[
    'identity',
    'ignore',
    'indexHint',
    'isConstant',
    'isDecimalOverflow',
    'materialize',
    'neighbor',
    'parseReadableSize',
  ],
  ...['parseReadableSizeOrNull', 'parseReadableSizeOrZero', 'parseTimeDelta', 'queryID', 'rowNumberInAllBlocks'],
  ...[
    'rowNumberInBlock',
    'runningAccumulate',
    'runningDifference',
    'runningDifferenceStartingWithFirstValue',
    'throwIf',
  ],
  ...['initializeAggregation', 'lowCardinalityIndices', 'lowCardinalityKeys', 'getSubcolumn', 'toColumnTypeName'],
  ...['toTypeName', 'transform', 'variantElement', 'variantType', 'version', 'visibleWidth', 'minSampleSizeContinuous'],
  ...['minSampleSizeConversion', 'caseWithExpression', 'nested', 'uptime', 'timeZone', 'lambda', 'exists', 'grouping'],
  // The engine replaces a query parameter by a call of this function.
  '_CAST',
  ...['untuple', 'countDistinct', 'row_number', 'displayName', 'hostName'],
];
/**
 * Functions of allowed categories that no statement needs and that would go around the time limit, which the engine checks between blocks only: the work
 * of one value grows with the square of its length, and KILL QUERY does not end it either. The patterns also match names that a later engine adds.
 */
const UNBOUNDED_FUNCTIONS: readonly RegExp[] = [
  // Distances between texts or arrays: every element of one with every element of the other.
  /levenshtein|editdistance|jaro|arraysimilarity/,
  // Two geometries: every edge of one with every edge of the other.
  /^polygons|^geometryintersect/,
  // An aggregate function over each of many overlapping ranges; the exact test; JSONPath, which counts from the start for every element; HTML.
  /^arrayreduceinranges$|^kolmogorovsmirnov|^json_(query|value|exists)$|^extracttextfromhtml$/,
  // Hashes its whole text for every key.
  /^hmac$/,
];
/** Table functions that read no file, no network address and no table by name. */
const TABLE_FUNCTIONS: ReadonlySet<string> = new Set([
  ...['numbers', 'numbers_mt', 'values', 'sqlstandardvalues', 'generate_series', 'generateseries', 'null', 'primes'],
  'view',
]);

interface FunctionRow {
  readonly name: string;
  readonly alias_to: string;
  readonly categories: string;
}

const isUnbounded = (name: string): boolean => UNBOUNDED_FUNCTIONS.some((pattern) => pattern.test(name.toLowerCase()));

/**
 * Reads and classifies the engine's functions. A name that denotes an allowed and a forbidden function is not allowed, nor is an unbounded function by
 * its name or by an alias.
 */
export async function readAnalystFunctions(engine: Pick<Engine, 'queryText'>): Promise<AnalystFunctions> {
  const lines = (text: string) => text.trimEnd().split('\n');
  const rows = lines(
    await engine.queryText('SELECT name, alias_to, categories FROM system.functions', 'JSONEachRow'),
  ).map((line) => JSON.parse(line) as FunctionRow);
  const combinators = lines(
    await engine.queryText('SELECT name FROM system.aggregate_function_combinators ORDER BY length(name) DESC'),
  );
  return { ...classifyFunctions(rows), tables: TABLE_FUNCTIONS, combinators };
}

function classifyFunctions(rows: readonly FunctionRow[]): Pick<AnalystFunctions, 'allowed' | 'forbidden'> {
  const named = new Set(ALLOWED_NAMES.map((name) => name.toLowerCase()));
  const categoryOf = new Map(rows.map((row) => [row.name, row.categories]));
  const isAllowed = ({ name, alias_to, categories }: FunctionRow) =>
    !isUnbounded(name) &&
    !isUnbounded(alias_to) &&
    (named.has(name.toLowerCase()) ||
      named.has(alias_to.toLowerCase()) ||
      ALLOWED_CATEGORIES.has(alias_to === '' ? categories : (categoryOf.get(alias_to) ?? '')));
  const forbidden = new Set(rows.filter((row) => !isAllowed(row)).map((row) => row.name.toLowerCase()));
  const candidates = [...named, ...rows.filter(isAllowed).map((row) => row.name)];
  const allowed = new Set(candidates.map((name) => name.toLowerCase()).filter((name) => !forbidden.has(name)));
  return { allowed, forbidden };
}
