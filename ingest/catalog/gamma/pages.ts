import { isObject, optionalText } from '../fields.js';
import type { GammaClient, Query } from './client.js';

/** Page limit: more pages mean that the list does not end. */
const MAX_PAGES = 20_000;

/** A page with more rows than this multiple of the requested limit is no page. */
const MAX_EXCESS = 10;

/** A response whose shape is not the documented one. */
export class GammaShapeError extends Error {
  override name = 'GammaShapeError';
}

/** The rows of a page. Throws GammaShapeError when the value is not a list of about the requested length. */
function rowsOf(value: unknown, what: string, limit: number): readonly unknown[] {
  if (!Array.isArray(value)) throw new GammaShapeError(`${what} is not a list`);
  if (value.length > limit * MAX_EXCESS)
    throw new GammaShapeError(`${what} has ${value.length} rows instead of ${limit}`);
  return value;
}

/**
 * All rows of a cursor-paged list (`{<member>: [...], next_cursor}`), page by page. Ends when the next cursor is absent or was seen before.
 * Throws GammaShapeError after MAX_PAGES pages.
 */
export async function* keysetPages(
  client: GammaClient,
  options: { path: string; member: string; query: Query; limit: number; signal: AbortSignal },
): AsyncGenerator<readonly unknown[]> {
  const seen = new Set<string>();
  for (let cursor: string | null = null, page = 0; page < MAX_PAGES; page++) {
    const query: Query = [
      ...options.query,
      ['limit', String(options.limit)],
      ...(cursor === null ? [] : [['after_cursor', cursor] as const]),
    ];
    const response = await client.get(options.path, query, options.signal);
    if (!isObject(response)) throw new GammaShapeError(`${options.path}: no ${options.member} in the response`);
    const rows = rowsOf(response[options.member], `${options.path}: ${options.member} of the response`, options.limit);
    if (rows.length > 0) yield rows;
    const next = response.next_cursor;
    if (typeof next !== 'string' || next === '' || seen.has(next)) return;
    seen.add(next);
    cursor = next;
  }
  throw new GammaShapeError(`${options.path}: more than ${MAX_PAGES} pages`);
}

/**
 * All rows of an offset-paged list (a bare array), page by page. Ends with an empty page, because the service may send fewer rows than the
 * limit, with a page that begins as the one before (the service ignores the offset), or after `maxPages`.
 */
export async function* offsetPages(
  client: GammaClient,
  options: { path: string; query: Query; limit: number; maxPages: number; signal: AbortSignal },
): AsyncGenerator<readonly unknown[]> {
  let offset = 0;
  let firstId: string | null = null;
  for (let page = 0; page < options.maxPages; page++) {
    const query: Query = [...options.query, ['limit', String(options.limit)], ['offset', String(offset)]];
    const response = await client.get(options.path, query, options.signal);
    const rows = rowsOf(response, `${options.path}: the response`, options.limit);
    if (rows.length === 0) return;
    const [first] = rows;
    const id = isObject(first) ? optionalText(first.id) : null;
    if (id !== null && id === firstId) return;
    firstId = id;
    yield rows;
    offset += rows.length;
  }
}
