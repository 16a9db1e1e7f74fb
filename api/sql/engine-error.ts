import { ApiError } from '../errors/failure.js';

/** Longest text of an engine's error that is passed on. */
const MAX_TEXT = 4_000;
const RETRY_AFTER_S = 2;
/** Unknown user, required password, wrong password, authentication failed: this service is not set up, the statement may be right. */
const NOT_SET_UP = new Set([192, 193, 194, 516]);
/** Too many queries at once, quota of the user. */
const BUSY = new Set([201, 202]);
/** Faults of the engine, its disk or its network; shutdown. */
const UNAVAILABLE = new Set([
  49, 74, 75, 76, 107, 173, 209, 210, 236, 242, 252, 279, 285, 319, 394, 439, 999, 1000, 1001, 1002,
]);

/** `Code: 62. DB::Exception: Syntax error: ... (SYNTAX_ERROR) (version 26.7.2.1 (official build))` -> code and `Syntax error: ... (SYNTAX_ERROR)`. */
export function readEngineError(text: string): { readonly code: number; readonly message: string } {
  const head = /^\s*Code: (\d+)\. (?:DB::\w*Exception: )?/.exec(text);
  const message = text
    .slice(head?.[0].length ?? 0)
    .trim()
    .replace(/ ?\(version [^()]*(?:\([^()]*\))?\)$/, '')
    .trimEnd();
  return { code: Number(head?.[1] ?? 1002), message: message.slice(0, MAX_TEXT) };
}

/** Code of a result that is too large. */
const TOO_LARGE = 396;

/** The failure of a request whose statement ended with this text of the engine. `maxRows`: rows that the request allowed; null: all. */
export function failureOfEngine(text: string, maxRows: number | null = null): ApiError {
  const { code, message } = readEngineError(text);
  if (NOT_SET_UP.has(code)) {
    const detail = 'The SQL service rejects this API. Set ANALYST_PASSWORD to the password of the user analyst.';
    return new ApiError({ kind: 'upstream', retryAfterS: RETRY_AFTER_S, detail });
  }
  if (BUSY.has(code))
    return new ApiError({ kind: 'overloaded', message, scope: 'sql_engine', retryAfterS: RETRY_AFTER_S });
  if (UNAVAILABLE.has(code)) return new ApiError({ kind: 'upstream', retryAfterS: RETRY_AFTER_S });
  if (code === TOO_LARGE && maxRows !== null) {
    const remedy = `The request allows ${maxRows} rows (max_rows): add LIMIT to the statement, or select the format csv or parquet.`;
    return new ApiError({ kind: 'rejected_statement', message: `${message} ${remedy}`, code });
  }
  return new ApiError({ kind: 'rejected_statement', message, code });
}
