import type { SnapshotOffset } from '../pagination/cursor.js';
import type { FoundPage } from '../pagination/list-page.js';
import type { FillFilter, Page } from './filter.js';
import { type LogPosition, type LogPositionRow, logPositionOf } from './log-position.js';
import type { FillReader } from './reader.js';

/** Rows in chain order; the next page begins after the last one. */
export type RowPage<Row> = FoundPage<Row, LogPosition>;

/** Cuts a page of `limit` rows; `found` has one row more if another page follows. */
export function toPage<Row extends LogPositionRow>(found: readonly Row[], limit: number): RowPage<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, next: found.length > limit && last !== undefined ? logPositionOf(last) : null };
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
}): Promise<FoundPage<Row, SnapshotOffset>> {
  const { fills, filter, page, start, load } = options;
  const offset = start?.offset ?? page.offset;
  // The first row of the first page, newest first, is the newest fill.
  const isNewestFirst = page.order === 'desc' && offset === 0;
  const bound = start?.atMost ?? (isNewestFirst ? null : await fills.newest(filter));
  const { rows, next } = await load({ ...filter, atMost: bound }, { ...page, offset });
  const [first] = rows;
  const atMost = bound ?? (first === undefined ? null : logPositionOf(first));
  return { rows, next: next !== null && atMost !== null ? { atMost, offset: offset + page.limit } : null };
}
