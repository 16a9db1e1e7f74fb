import { compareTexts, compareValues, type RankValue } from '../pagination/ranked-page.js';

/** Sorts rows by a value, ties by `id` ascending, so that the order is total. */
export function ordered<Row>(
  rows: readonly Row[],
  by: {
    readonly value: (row: Row) => RankValue;
    readonly id: (row: Row) => string;
    /** Default: desc. */
    readonly direction?: 'asc' | 'desc';
  },
): Row[] {
  const sign = by.direction === 'asc' ? 1 : -1;
  const keyed = rows.map((row) => ({ row, key: by.value(row), id: by.id(row) }));
  keyed.sort((a, b) => compareValues(a.key, b.key, sign) || compareTexts(a.id, b.id));
  return keyed.map(({ row }) => row);
}
