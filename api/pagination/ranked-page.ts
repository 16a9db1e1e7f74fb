import { type CursorKind, type CursorList, cursorsOf } from './cursor.js';
import type { ListPage, PageQuery } from './list-page.js';

/** Sort value of a row; null sorts last in either direction. */
export type RankValue = bigint | number | string | null;

/** Place of a row in a list by a value that may change: by value, then by id ascending. */
export interface Rank {
  readonly value: RankValue;
  readonly id: string;
}

function parseValue(text: string): RankValue | undefined {
  const [type, rest] = [text.slice(0, 1), text.slice(1)];
  if (type === 'i' && /^-?\d{1,120}$/.test(rest)) return BigInt(rest);
  if (type === 'f' && rest !== '' && Number.isFinite(Number(rest))) return Number(rest);
  if (type === 's') return rest;
  return text === '-' ? null : undefined;
}

const formatValue = (value: RankValue): string => {
  if (value === null) return '-';
  if (typeof value === 'bigint') return `i${value}`;
  return typeof value === 'number' ? `f${value}` : `s${value}`;
};

/** After a row of a list by value. */
export const rankCursor: CursorKind<Rank> = {
  values: ({ value, id }) => [formatValue(value), id],
  parse([text = '', id, ...rest]) {
    const value = parseValue(text);
    return value === undefined || id === undefined || rest.length > 0 ? null : { value, id };
  },
};

/** Compares ids as texts. */
export const compareTexts = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
/** Compares decimal ids by their number. */
export const compareNumbers = (a: string, b: string): number => a.length - b.length || compareTexts(a, b);

/** The order of a list. */
export interface RankOrder<Row> {
  readonly value: (row: Row) => RankValue;
  readonly id: (row: Row) => string;
  /** Default: desc. */
  readonly direction?: 'asc' | 'desc';
  /** Order of equal values; default: as texts. */
  readonly compareIds?: (a: string, b: string) => number;
}

export interface RankedPage<Row> extends ListPage<Row> {
  /** Index of the first row in the whole list. */
  readonly from: number;
}

/** Compares sort values; `sign` is 1 for ascending order, -1 for descending. */
export const compareValues = (a: RankValue, b: RankValue, sign: number): number => {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -sign : sign;
};

/**
 * Cuts a page from a list in the given order. A cursor continues after the place of the last row, not after its index: a row whose value stays the same is on
 * exactly one page, whatever is added, removed or moved meanwhile.
 */
export function rankedPage<Row>(
  list: readonly Row[],
  by: RankOrder<Row>,
  query: PageQuery,
  of: CursorList,
): RankedPage<Row> {
  const cursors = cursorsOf(rankCursor, of);
  const start = cursors.read(query.cursor);
  const { compareIds = compareTexts } = by;
  const sign = by.direction === 'asc' ? 1 : -1;
  const isAfter = (row: Row, at: Rank) =>
    (compareValues(by.value(row), at.value, sign) || compareIds(by.id(row), at.id)) > 0;
  let from = 0;
  if (start !== null) {
    let end = list.length;
    while (from < end) {
      const middle = (from + end) >>> 1;
      if (isAfter(list[middle] as Row, start)) end = middle;
      else from = middle + 1;
    }
  }
  from += query.offset;
  const rows = list.slice(from, from + query.limit);
  const last = list.length > from + query.limit ? rows.at(-1) : undefined;
  return { rows, cursor: last === undefined ? null : cursors.write({ value: by.value(last), id: by.id(last) }), from };
}
