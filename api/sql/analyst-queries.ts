import { Readable } from 'node:stream';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import { ApiError } from '../errors/failure.js';
import { failureOfEngine } from './engine-error.js';
import { type SqlFormat, sqlFormats } from './formats.js';

/** How user analyst reaches the engine's HTTP interface, and the limits of one statement. */
export interface AnalystConnection {
  readonly url: string;
  readonly user: string;
  /** Empty: the embedded engine accepts the user from this machine without one. */
  readonly password: string;
  readonly database: string;
  readonly limits: { readonly executionS: number; readonly resultRows: number; readonly resultBytes: number };
}

export interface AnalystStatement {
  /** Whose use a ClickHouse server counts in the hourly limits of user analyst. */
  readonly accountId: string;
  readonly sql: string;
  readonly format: SqlFormat;
  /** Rows of the result that are returned; null: all, up to the limit. */
  readonly maxRows: number | null;
}

export interface AnalystQueries {
  /**
   * Runs one statement as user analyst. Resolves with the bytes of the result when the engine has ended the statement. Rejects with ApiError: rejected
   * statement, overloaded, upstream. When `signal` aborts, the statement is killed and the stream destroyed.
   */
  run(statement: AnalystStatement, signal: AbortSignal): Promise<Readable>;
}

/** Upper bounds that hold also where the engine's limits are higher. */
const MAX_EXECUTION_S = 30;
const MAX_RESULT_ROWS = 1_000_000;
const MAX_RESULT_BYTES = 256_000_000;
/** Longest wait for the engine, shorter than the time after which the API closes a silent connection. */
const MAX_WAIT_MS = 55_000;
/** Longest time in which a client must read the result. */
const MAX_SEND_MS = 300_000;
const MAX_ERROR_BYTES = 64 * 1024;
/**
 * The engine applies its setting `limit` to each operand of a set operation, and before a negative or computed LIMIT: the rows would be wrong. The result of
 * a statement that may be one is only bounded, by max_result_rows. `* EXCEPT (column)` is none.
 */
const limitsOperands =
  /\b(UNION|INTERSECT)\b|\bEXCEPT\b(?<!\*\s*EXCEPT)|\b(LIMIT|OFFSET)\b([\s\d,(+*]*-(?!-)|[\s(]*[a-z_])/i;

/** Runs statements over ClickHouse's HTTP interface. Values are bound by the engine: the statement is the body, nothing is added to it. */
export function createAnalystQueries(connection: AnalystConnection, deps: { logger: Logger }): AnalystQueries {
  const { logger } = deps;
  const { limits } = connection;
  const settings = {
    database: connection.database,
    // The status of the response then states whether the whole statement succeeded.
    wait_end_of_query: '1',
    cancel_http_readonly_queries_on_client_close: '1',
    max_execution_time: String(Math.min(limits.executionS, MAX_EXECUTION_S)),
    max_result_bytes: String(Math.min(limits.resultBytes, MAX_RESULT_BYTES)),
    // As JSON numbers they would lose digits.
    output_format_json_quote_64bit_integers: '1',
    output_format_json_quote_decimals: '1',
    output_format_json_quote_denormals: '1',
  };

  const maxResultRows = Math.min(limits.resultRows, MAX_RESULT_ROWS);

  async function send(statement: AnalystStatement, signal: AbortSignal): Promise<Response> {
    const parameters = new URLSearchParams({
      ...settings,
      default_format: sqlFormats[statement.format].engineName,
      max_result_rows: String(Math.min(statement.maxRows ?? maxResultRows, maxResultRows)),
      // Cuts the result off.
      ...(statement.maxRows === null || limitsOperands.test(statement.sql) ? {} : { limit: String(statement.maxRows) }),
    });
    return fetch(`${connection.url}/?${parameters}`, {
      method: 'POST',
      body: statement.sql,
      headers: {
        'content-type': 'text/plain; charset=utf-8',
        'x-clickhouse-user': connection.user,
        'x-clickhouse-key': connection.password,
        'x-clickhouse-quota': encodeURIComponent(statement.accountId),
      },
      signal,
    });
  }

  return {
    async run(statement, signal) {
      const deadline = new AbortController();
      let timer = setTimeout(() => deadline.abort(), MAX_WAIT_MS);
      const stop = () => clearTimeout(timer);
      try {
        const response = await send(statement, AbortSignal.any([signal, deadline.signal]));
        if (response.status !== 200) {
          const error = failureOfEngine(await textOf(response), statement.maxRows);
          if (error.failure.kind === 'upstream') logger.error({ status: response.status }, 'the SQL service failed');
          throw error;
        }
        if (response.headers.get('x-clickhouse-format') !== sqlFormats[statement.format].engineName) {
          await response.body?.cancel();
          const message = 'Remove the FORMAT clause of the statement: the field `format` selects the format.';
          throw new ApiError({ kind: 'bad_body', message });
        }
        stop();
        timer = setTimeout(() => deadline.abort(), MAX_SEND_MS);
        const stream = Readable.from(boundedBytes(response), { objectMode: false });
        stream.once('close', stop);
        return stream;
      } catch (error) {
        stop();
        if (error instanceof ApiError) throw error;
        if (signal.aborted) throw disconnected();
        if (deadline.signal.aborted) {
          const message = `The statement did not end within ${MAX_WAIT_MS / 1000} s, because others are running. Retry shortly.`;
          throw new ApiError({ kind: 'overloaded', message, scope: 'sql_engine', retryAfterS: 5 });
        }
        throw new RetryableError('The SQL service cannot be reached.', { cause: error });
      }
    },
  };
}

/** The failure of a request whose client has disconnected. */
export const disconnected = (): ApiError =>
  new ApiError({ kind: 'rejected_statement', message: 'Cancelled: the client has disconnected.', code: 394 });

async function* boundedBytes(response: Response): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESULT_BYTES) throw new Error(`The result is larger than ${MAX_RESULT_BYTES} bytes.`);
    yield chunk;
  }
}

/** The beginning of an error's text. */
async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}
