import type { Cached, TtlCache } from '../cache/ttl-cache.js';
import type { Page } from './filter.js';
import { formatCursor, type LogPosition, type LogPositionRow, logPositionOf } from './log-position.js';
import type { PaginationSessions } from './pagination-sessions.js';

export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Place of the last row. */
  readonly last: LogPosition | null;
}

/** The page of what was found with one row more than the page takes. */
export function toPage<Row extends LogPositionRow>(found: readonly Row[], limit: number): RowPage<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, hasMore: found.length > limit, last: last === undefined ? null : logPositionOf(last) };
}

/**
 * One page of a list in chain order. `load` reads one row more than the page, up to and including `atMost`. A walk newest first counts from
 * the newest row of its first page; `beyond`: the page begins after a cursor and needs no such memory.
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
 * A page that may be a copy. The copy is of one place in the list, also when it is counted from the newest row of a walk's first page: that
 * row is part of its name. So copies of different ages still make one walk without gaps or overlaps.
 */
export async function cachedPage<Row extends LogPositionRow>(options: {
  cache: TtlCache;
  paginationSessions: PaginationSessions;
  /** Names the list, its filters and its page. */
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
