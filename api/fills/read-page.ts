import type { Cached, TtlCache } from '../cache/ttl-cache.js';
import type { Page } from './filter.js';
import { formatCursor, type LogPosition, type LogPositionRow, logPositionOf } from './log-position.js';
import type { PaginationSessions } from './pagination-sessions.js';

export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Position of the last row. */
  readonly last: LogPosition | null;
}

/** Cuts a page of `limit` rows; `found` has one row more if another page follows. */
export function toPage<Row extends LogPositionRow>(found: readonly Row[], limit: number): RowPage<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, hasMore: found.length > limit, last: last === undefined ? null : logPositionOf(last) };
}

/**
 * One page of a list in chain order. `load` reads one row more than the page, up to and including `atMost`. Pages newest first count from
 * the newest row of the session's first page; with `beyond` the page starts after a cursor and needs no session.
 */
export async function readPage<Row extends LogPositionRow>(options: {
  paginationSessions: PaginationSessions;
  sessionKey: string;
  page: Page;
  beyond: LogPosition | null;
  load: (atMost: LogPosition | null) => Promise<readonly Row[]>;
}): Promise<RowPage<Row>> {
  const { paginationSessions, sessionKey, page } = options;
  const counted = page.order === 'desc' && options.beyond === null;
  const found = await options.load(counted && page.offset > 0 ? paginationSessions.asOf(sessionKey) : null);
  if (counted && page.offset === 0)
    paginationSessions.start(sessionKey, found[0] === undefined ? null : logPositionOf(found[0]));
  return toPage(found, page.limit);
}

/**
 * A page that may come from the cache. The cache key includes the row that the session counts from, so that cached pages of different ages
 * still form one list without gaps or overlaps.
 */
export async function cachedPage<Row extends LogPositionRow>(options: {
  cache: TtlCache;
  paginationSessions: PaginationSessions;
  /** Cache key of the list: its filters and page. */
  name: string;
  sessionKey: string;
  page: Page;
  beyond: LogPosition | null;
  ttlMs: number;
  load: (atMost: LogPosition | null) => Promise<RowPage<Row>>;
}): Promise<Cached<RowPage<Row>>> {
  const { paginationSessions, sessionKey, page } = options;
  const counted = page.order === 'desc' && options.beyond === null;
  const atMost = counted && page.offset > 0 ? paginationSessions.asOf(sessionKey) : null;
  const cached = await options.cache.get(
    `${options.name} ${page.offset} ${page.limit} ${atMost === null ? '' : formatCursor(atMost)}`,
    options.ttlMs,
    () => options.load(atMost),
  );
  const [first] = cached.value.rows;
  if (counted && page.offset === 0)
    paginationSessions.start(sessionKey, first === undefined ? null : logPositionOf(first));
  return cached;
}
