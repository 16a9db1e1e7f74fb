import { extractErrorAtTheEndOfChunk } from '@clickhouse/client';
import { yieldToEventLoop } from '../event-loop.js';

/** The embedded engine returns a result that its client limits to at most this many rows (`max_result_rows`) in one chunk. */
export const SINGLE_CHUNK_MAX_ROWS = 10_000;

/** Rows are parsed in chunks of about this many characters, a millisecond each: one JSON.parse per row is slow, one for all blocks the event loop. */
const PARSE_CHUNK_CHARS = 1 << 17;
/** Begins the block of an exception after the first row. Rows contain no line break, and only line feeds separate them, so this is unambiguous. */
const EXCEPTION_MARKER = '\r\n__exception__\r\n';

/**
 * Parses a complete JSONEachRow result and yields to the event loop between chunks. `exceptionTag`: the response header with which the server
 * marks an exception after the first row. Rejects with that exception as ClickHouseError.
 */
export async function parseRows<T>(text: string, exceptionTag: string | undefined): Promise<T[]> {
  if (exceptionTag !== undefined && text.includes(EXCEPTION_MARKER)) {
    throw extractErrorAtTheEndOfChunk(Buffer.from(text), exceptionTag);
  }
  const chunks: T[][] = [];
  const end = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let from = 0; from < end; ) {
    if (from > 0) await yieldToEventLoop();
    const at = text.indexOf('\n', from + PARSE_CHUNK_CHARS);
    const to = at === -1 ? end : at;
    chunks.push(JSON.parse(`[${text.slice(from, to).replaceAll('\n', ',')}]`));
    from = to + 1;
  }
  return chunks.length === 1 ? (chunks[0] as T[]) : chunks.flat();
}
