import { ServerException } from './errors.js';
import { quoteString } from './sql-text.js';

/** Limits of one analyst statement. Clients may lower these, never raise them. */
export interface AnalystLimits {
  readonly memoryBytes: number;
  readonly executionS: number;
  readonly resultRows: number;
  /** Bounds the columns of a result as the engine counts them, and the formatted text that is sent. */
  readonly resultBytes: number;
}

export const DEFAULT_ANALYST_LIMITS: AnalystLimits = {
  memoryBytes: 200_000_000,
  executionS: 30,
  resultRows: 1_000_000,
  resultBytes: 500_000_000,
};

/** Temporary data on disk that one statement may use to sort or group more than fits in memory. */
const TEMPORARY_BYTES = 2_000_000_000;
const QUERY_BYTES = 256 * 1024;

/** Settings a client may send as they are: the shape of the output, and the meaning of SQL. None reaches files or the network. */
const UNRESTRICTED_SETTING =
  /^(output_format_(json|csv|tsv|pretty|arrow|parquet|orc|avro|msgpack|markdown|sql_insert|values|bson|binary|native|decimal|float|trim|always|write|compression|enable)_?[a-z0-9_]*|format_(csv|tsv|custom|json)_[a-z0-9_]+|date_time_(output|input)_format|interval_output_format|extremes|session_timezone|join_use_nulls|group_by_use_nulls|aggregate_functions_null_for_empty|transform_null_in|union_default_mode|prefer_column_name_to_alias|cast_keep_nullable|limit|offset|log_comment|send_progress_in_http_headers|http_headers_progress_interval_ms|http_response_buffer_size|http_write_exception_in_output_format|http_make_head_request|cancel_http_readonly_queries_on_client_close|input_format_[a-z0-9_]+)$/;
/**
 * Numbers that the engine and this check parse to the same value. The engine rounds a value below its unit (for seconds: a microsecond) to 0,
 * which means "no limit".
 */
const LIMIT_VALUE = /^[0-9]{1,16}(\.[0-9]{1,3})?$/;
/** Settings that name sources, and settings for block sizes of output files: with blocks of one row the engine writes a file for minutes and cannot be cancelled. */
const FORBIDDEN_SETTING =
  /schema|registry|infile|url|path|import|subject|errors|^output_format_.*(size|bytes|stride|threshold|sync_interval|rows_in_file|compression_level|window_log|bits_per_value|squash|float_precision)/;
/** Smaller blocks cost more time than their rows. */
const SMALLEST_BLOCK = 1_000;
const ALLOWED_VALUES: ReadonlyMap<string, readonly string[]> = new Map([
  ['result_overflow_mode', ['throw', 'break']],
  ['timeout_overflow_mode', ['throw']],
  ['readonly', ['1', '2']],
]);

function ceilings(limits: AnalystLimits): ReadonlyMap<string, number> {
  const bounds: Readonly<Record<string, number>> = {
    max_memory_usage: limits.memoryBytes,
    max_execution_time: limits.executionS,
    max_result_rows: limits.resultRows,
    max_result_bytes: limits.resultBytes,
    max_rows_to_read: Number.MAX_SAFE_INTEGER,
    max_bytes_to_read: Number.MAX_SAFE_INTEGER,
    max_query_size: QUERY_BYTES,
    max_block_size: 65_409,
    max_threads: 2,
  };
  return new Map(Object.entries(bounds));
}

/** Checks settings that a client sends with a statement, by URL or by SETTINGS clause. Throws code 452 or 164, naming the setting and its bound. */
export function checkAnalystSettings(settings: Readonly<Record<string, string>>, limits: AnalystLimits): void {
  const bounds = ceilings(limits);
  for (const [name, value] of Object.entries(settings)) {
    const bound = bounds.get(name);
    if (bound !== undefined) {
      const number = LIMIT_VALUE.test(value) ? Number(value) : Number.NaN;
      const floor = name === 'max_block_size' ? SMALLEST_BLOCK : 0;
      if (number > 0 && number >= floor && number <= bound) continue;
      const least = floor === 0 ? 'above 0' : `at least ${floor}`;
      const allowed = bound === Number.MAX_SAFE_INTEGER ? least : `${least} and at most ${bound}`;
      throw constraintViolation(
        `Setting ${name} = ${value} is not allowed for user analyst: it may only be ${allowed}.`,
      );
    }
    if (ALLOWED_VALUES.get(name)?.includes(value) === true) continue;
    if (UNRESTRICTED_SETTING.test(name) && !FORBIDDEN_SETTING.test(name)) continue;
    throw new ServerException(164, 'READONLY', `Cannot modify '${name}' setting in readonly mode (user analyst).`);
  }
}

function constraintViolation(text: string): ServerException {
  return new ServerException(452, 'SETTING_CONSTRAINT_VIOLATION', text);
}

/** Base settings of an analyst's session; the client's settings override them. System tables show only rows about `database`. */
export function analystSettings(database: string, limits: AnalystLimits): Readonly<Record<string, string>> {
  const name = quoteString(database);
  const filters: Readonly<Record<string, string>> = {
    'system.databases': `name = ${name}`,
    'system.tables': `database = ${name}`,
    'system.columns': `database = ${name}`,
  };
  const map = Object.entries(filters).map(([table, filter]) => `${quoteString(table)}: ${quoteString(filter)}`);
  return {
    additional_table_filters: `{${map.join(', ')}}`,
    max_memory_usage: String(limits.memoryBytes),
    max_bytes_before_external_group_by: String(Math.floor(limits.memoryBytes / 2)),
    max_bytes_before_external_sort: String(Math.floor(limits.memoryBytes / 2)),
    // The names of all tokens exceed this, so a join with them as the right side is processed in buckets (grace hash join).
    max_bytes_before_external_join: String(Math.floor(limits.memoryBytes / 5)),
    grace_hash_join_initial_buckets: '8',
    max_temporary_data_on_disk_size_for_query: String(TEMPORARY_BYTES),
    max_execution_time: String(limits.executionS),
    timeout_overflow_mode: 'throw',
    max_result_rows: String(limits.resultRows),
    max_result_bytes: String(limits.resultBytes),
    result_overflow_mode: 'throw',
    max_threads: '1',
    // The product's queries have a higher priority (a lower number): an analyst's query pauses while one of them runs.
    priority: '20',
    low_priority_query_wait_time_ms: '500',
    allow_ddl: '0',
    allow_introspection_functions: '0',
    output_format_json_quote_64bit_integers: '1',
  };
}

/** Adds to an analyst's error which limit was exceeded and the remedy; returns other errors unchanged. */
export function addLimitHint(error: ServerException, limits: AnalystLimits): ServerException {
  const hints: Readonly<Record<number, string>> = {
    159: `Limit of user analyst: max_execution_time = ${limits.executionS} s (ANALYST_TIMEOUT_S). Read less: filter by wallet, token or time.`,
    241: `Limit of user analyst: max_memory_usage = ${limits.memoryBytes} bytes (ANALYST_MEMORY_MB). Group or sort fewer rows, or add a filter.`,
    243: `Limit of user analyst: ${TEMPORARY_BYTES} bytes of temporary data on disk. Group or sort fewer rows, or add a filter.`,
    396: `Limit of user analyst: max_result_rows = ${limits.resultRows} (ANALYST_RESULT_ROWS), max_result_bytes = ${limits.resultBytes} (ANALYST_RESULT_MB). Add LIMIT or aggregate.`,
  };
  const hint = hints[error.code];
  return hint === undefined || error.text.includes(hint)
    ? error
    : new ServerException(error.code, error.codeName, `${error.text} ${hint}`);
}
