import type { Cached, TtlCache } from '../cache/ttl-cache.js';
import type { Page } from './filter.js';
import { type ChainPosition, formatCursor, type Placed, positionOf } from './position.js';
import type { Walks } from './walks.js';

export interface RowPage<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
  /** Place of the last row. */
  readonly last: ChainPosition | null;
}

/** The page of what was found with one row more than the page takes. */
export function cut<Row extends Placed>(found: readonly Row[], limit: number): RowPage<Row> {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, hasMore: found.length > limit, last: last === undefined ? null : positionOf(last) };
}

/**
 * One page of a list in chain order. `load` reads one row more than the page, up to and including `atMost`. A walk newest first counts from
 * the newest row of its first page; `beyond`: the page begins after a cursor and needs no such memory.
 */
export async function readPage<Row extends Placed>(options: {
  walks: Walks;
  walk: string;
  page: Page;
  beyond: ChainPosition | null;
  load: (atMost: ChainPosition | null) => Promise<readonly Row[]>;
}): Promise<RowPage<Row>> {
  const { walks, walk, page } = options;
  const counted = page.order === 'desc' && options.beyond === null;
  const found = await options.load(counted && page.offset > 0 ? walks.boundOf(walk) : null);
  if (counted && page.offset === 0) walks.begin(walk, found[0] === undefined ? null : positionOf(found[0]));
  return cut(found, page.limit);
}

/**
 * A page that may be a copy. The copy is of one place in the list, also when it is counted from the newest row of a walk's first page: that
 * row is part of its name. So copies of different ages still make one walk without gaps or overlaps.
 */
export async function cachedPage<Row extends Placed>(options: {
  cache: TtlCache;
  walks: Walks;
  /** Names the list, its filters and its page. */
  name: string;
  walk: string;
  page: Page;
  beyond: ChainPosition | null;
  ttlMs: number;
  load: (atMost: ChainPosition | null) => Promise<RowPage<Row>>;
}): Promise<Cached<RowPage<Row>>> {
  const { walks, walk, page } = options;
  const counted = page.order === 'desc' && options.beyond === null;
  const atMost = counted && page.offset > 0 ? walks.boundOf(walk) : null;
  const cached = await options.cache.get(
    `${options.name} ${page.offset} ${page.limit} ${atMost === null ? '' : formatCursor(atMost)}`,
    options.ttlMs,
    () => options.load(atMost),
  );
  const [first] = cached.value.rows;
  if (counted && page.offset === 0) walks.begin(walk, first === undefined ? null : positionOf(first));
  return cached;
}
