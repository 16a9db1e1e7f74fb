import { extractErrorAtTheEndOfChunk } from '@clickhouse/client';
import { yieldToEventLoop } from '../event-loop.js';

/** An answer that its client limits to so many rows or fewer (`max_result_rows`) is handed over by the embedded engine in one piece. */
export const SINGLE_CHUNK_MAX_ROWS = 10_000;

/** Rows are parsed in pieces of about this many characters, a millisecond each: one call per row costs more than the row, one for all stops everything else. */
const PARSE_CHUNK_CHARS = 1 << 17;
/** Between rows there are line feeds alone, and within them neither: what broke an answer off begins like this. */
const EXCEPTION_MARKER = '\r\n__exception__\r\n';

/**
 * The rows of a whole JSONEachRow answer; others have their turn between two pieces of it. `exceptionTag`: the header of the answer with which the server marks what
 * broke it off after its first row. Rejects with what the server says of that, as ClickHouseError.
 */
export async function parseRows<T>(text: string, exceptionTag: string | undefined): Promise<T[]> {
  if (exceptionTag !== undefined && text.includes(EXCEPTION_MARKER)) {
    throw extractErrorAtTheEndOfChunk(Buffer.from(text), exceptionTag);
  }
  const pieces: T[][] = [];
  const end = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let from = 0; from < end; ) {
    if (from > 0) await yieldToEventLoop();
    const at = text.indexOf('\n', from + PARSE_CHUNK_CHARS);
    const to = at === -1 ? end : at;
    pieces.push(JSON.parse(`[${text.slice(from, to).replaceAll('\n', ',')}]`));
    from = to + 1;
  }
  return pieces.length === 1 ? (pieces[0] as T[]) : pieces.flat();
}
