import { type CursorKind, type CursorList, cursorsOf } from './cursor.js';

/** Which page of a list is requested. */
export interface PageQuery {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/** A page of a list. */
export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Cursor of the next page; null on the last one. */
  readonly cursor: string | null;
}

/** Rows that were read for a page. */
export interface FoundPage<Row, Position> {
  readonly rows: readonly Row[];
  /** Start of the next page; null on the last one. */
  readonly next: Position | null;
}

/**
 * Reads a page of a list by `load`, which gets the start that the cursor of the query names; null without a cursor. Throws ApiError for a cursor that is
 * malformed or of another list, before anything is read.
 */
export function cursorPage<Row, Position>(
  kind: CursorKind<Position>,
  list: CursorList,
  query: Pick<PageQuery, 'cursor'>,
  load: (start: Position | null) => Promise<FoundPage<Row, Position>>,
): Promise<ListPage<Row>> {
  const cursors = cursorsOf(kind, list);
  const start = cursors.read(query.cursor);
  const page = async () => {
    const { rows, next } = await load(start);
    return { rows, cursor: next === null ? null : cursors.write(next) };
  };
  return page();
}
