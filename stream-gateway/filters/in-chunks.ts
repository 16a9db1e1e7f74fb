/** Bounds of one query. Parameters are sent in the URL, of which ClickHouse accepts 1 MiB. */
const MAX_ITEMS = 2_000;
const MAX_URL_CHARACTERS = 500_000;
/** Quotes and comma of an item in an array, encoded. */
const SEPARATORS = 9;

/** Characters that a text takes as an item of an array parameter in a URL. */
function urlLength(text: string): number {
  if (/^[\w-]*$/.test(text)) return text.length + SEPARATORS;
  return new URLSearchParams([['', text.replace(/['\\\s]/g, '\\$&')]]).toString().length + SEPARATORS;
}

/** The rows that `read` returns for parts of `items`, read one after the other: 2,000 items each, fewer if they are long. */
export async function inChunks<T>(
  items: readonly string[],
  read: (part: readonly string[]) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const rows: T[] = [];
  let from = 0;
  while (from < items.length) {
    let to = from;
    let length = 0;
    while (to < items.length && to - from < MAX_ITEMS) {
      length += urlLength(items[to] as string);
      if (to > from && length > MAX_URL_CHARACTERS) break;
      to += 1;
    }
    for (const row of await read(items.slice(from, to))) rows.push(row);
    from = to;
  }
  return rows;
}
