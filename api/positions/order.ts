/** Sort key of a list: number or text; null sorts last in either direction. */
export type OrderKey = bigint | string | null;

/** Sorts rows by a value, ties by `id` ascending, so that the order is total. */
export function ordered<Row>(
  rows: readonly Row[],
  by: {
    readonly value: (row: Row) => OrderKey;
    readonly id: (row: Row) => string;
    /** Default: desc. */
    readonly direction?: 'asc' | 'desc';
  },
): Row[] {
  const sign = by.direction === 'asc' ? 1 : -1;
  const keyed = rows.map((row) => ({ row, key: by.value(row), id: by.id(row) }));
  keyed.sort((a, b) => {
    if (a.key !== b.key) {
      if (a.key === null) return 1;
      if (b.key === null) return -1;
      if (a.key < b.key) return -sign;
      if (a.key > b.key) return sign;
    }
    return a.id < b.id ? -1 : 1;
  });
  return keyed.map(({ row }) => row);
}
