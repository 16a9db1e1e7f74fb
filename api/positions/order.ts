/** Sort key of a list: number or text; null sorts last in either direction. */
export type OrderKey = bigint | string | null;

/** Sorts rows by a key, ties by `id` ascending, so that the order is total. */
export function ordered<Row>(
  rows: readonly Row[],
  by: { readonly key: (row: Row) => OrderKey; readonly order: 'asc' | 'desc'; readonly id: (row: Row) => string },
): Row[] {
  const sign = by.order === 'asc' ? 1 : -1;
  const keyed = rows.map((row) => ({ row, key: by.key(row), id: by.id(row) }));
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
