/** An error as ClickHouse reports it: numeric code, symbolic name, text. */
export class ServerException extends Error {
  override name = 'ServerException';
  constructor(
    readonly code: number,
    readonly codeName: string,
    readonly text: string,
  ) {
    super(`Code: ${code}. DB::Exception: ${text} (${codeName})`);
  }
}

const ENGINE_ERROR = /^\s*Code: (\d+)\. DB::\w*Exception: ([\s\S]*)$/;
const ERROR_SUFFIX = /\(([A-Z0-9_]+)\)(?: ?\(version [\d.]+(?: \([^)]*\))?\))?\.?$/;
/** Copies of itself that an error contains; more are text of the client. */
const MAX_NESTED = 4;
/** Longer texts, in which the client's own text is, are shortened in the middle. */
const MAX_TEXT = 64 * 1024;
const KEPT_END = 4 * 1024;

function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT - KEPT_END)} ... ${text.slice(-KEPT_END)}`;
}

/**
 * Parses the engine's message, unwraps the nested copy that an INSERT from a file adds, and removes the text that this server added to
 * the SQL (`hide`). An unknown message gets code 1002. Takes linear time: the message contains text of the client.
 */
export function parseEngineError(error: unknown, hide: readonly string[] = []): ServerException {
  if (error instanceof ServerException) return error;
  let text = error instanceof Error ? error.message : String(error);
  for (const part of hide) text = text.replaceAll(part, '');
  text = shortened(text)
    .replace(/ ?\(in file\/uri [^)]{0,4096}\)/g, '')
    .replace(/: data for INSERT was parsed from file/g, '')
    .replace(/: While executing File\b/g, '');
  let code = 1002;
  let codeName = 'UNKNOWN_EXCEPTION';
  for (let nested = 0; nested < MAX_NESTED; nested += 1) {
    const match = ENGINE_ERROR.exec(text);
    if (match === null) break;
    code = Number(match[1]);
    text = (match[2] ?? '').trimEnd();
    const tail = ERROR_SUFFIX.exec(text);
    if (tail !== null) {
      codeName = tail[1] ?? codeName;
      text = text.slice(0, tail.index);
    }
  }
  return new ServerException(code, codeName, text.trim());
}

const STATUSES: readonly (readonly [status: number, codes: readonly number[]])[] = [
  // The request is malformed: values that do not parse, types that do not match, syntax errors.
  [400, [6, 8, 15, 25, 26, 27, 36, 37, 38, 41, 44, 53, 62, 72, 117, 123, 167, 168, 223, 321, 376, 427, 441, 675, 676]],
  [401, [194]],
  // Read only, unknown user, wrong password, INTO OUTFILE, a constraint of a setting, access denied, authentication failed, role not granted.
  [403, [164, 192, 193, 358, 452, 497, 512, 516]],
  // Unknown function, identifier, type, storage, table, aggregate function, format, query type, database, setting, direction, engine, role.
  [404, [46, 47, 50, 56, 60, 63, 73, 78, 81, 115, 152, 336, 511]],
  [408, [159]],
  [411, [381]],
  // More rows, text, memory, bytes or result rows than allowed.
  [413, [158, 229, 241, 307, 396]],
  [415, [779]],
  [429, [202]],
  // Cannot open file, socket timeout, cannot schedule task.
  [503, [76, 209, 439]],
  // Faults of the engine, the disk or the network: checksum, logical error, file, memory, network, replica, space, parts,
  // corrupted data, and errors without a specific code.
  [500, [40, 49, 74, 75, 107, 173, 210, 225, 228, 236, 242, 243, 246, 252, 271, 285, 999, 1000, 1001, 1002]],
];
const STATUS_OF = new Map(STATUSES.flatMap(([status, codes]) => codes.map((code) => [code, status] as const)));

/**
 * The HTTP status of an exception code, as a ClickHouse server maps them (src/Server/HTTP/exceptionCodeToHTTPStatus.cpp). Codes without an
 * entry there are errors of the statement and map to 400 instead of 500.
 */
export function httpStatusOf(code: number): number {
  return STATUS_OF.get(code) ?? 400;
}
