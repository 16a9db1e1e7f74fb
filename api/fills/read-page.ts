import type { SnapshotOffset } from '../pagination/cursor.js';
import type { FillFilter, Page } from './filter.js';
import { type LogPosition, type LogPositionRow, logPositionOf } from './log-position.js';
import type { FillReader } from './reader.js';

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

export interface SnapshotPage<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Start of the next page; null on the last one. */
  readonly next: SnapshotOffset | null;
}

/**
 * A page, by offset, of rows that new fills can move (orders, fills of an order next to each other): the list contains the fills up to the newest one of
 * the first page only. `start`: start of a later page.
 */
export async function readSnapshotPage<Row extends LogPositionRow>(options: {
  fills: Pick<FillReader, 'newest'>;
  filter: FillFilter;
  page: Page;
  start: SnapshotOffset | null;
  load: (filter: FillFilter, page: Page) => Promise<RowPage<Row>>;
}): Promise<SnapshotPage<Row>> {
  const { fills, filter, page, start, load } = options;
  const offset = start?.offset ?? page.offset;
  // The first row of the first page, newest first, is the newest fill.
  const isNewestFirst = page.order === 'desc' && offset === 0;
  const bound = start?.atMost ?? (isNewestFirst ? null : await fills.newest(filter));
  const { rows, hasMore } = await load({ ...filter, atMost: bound }, { ...page, offset });
  const [first] = rows;
  const atMost = bound ?? (first === undefined ? null : logPositionOf(first));
  return { rows, hasMore, next: hasMore && atMost !== null ? { atMost, offset: offset + page.limit } : null };
}
