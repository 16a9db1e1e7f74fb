/**
 * The oldest tenth of a Set or Map that has outgrown `max`, or none. Removing one entry per insertion instead costs O(n) each: V8 keeps the places of
 * removed entries until the table is rebuilt, and reading the first entry passes all of them.
 */
export function* oldestTenth<K>(collection: { readonly size: number; keys(): Iterable<K> }, max: number): Generator<K> {
  if (collection.size <= max) return;
  let count = Math.max(1, Math.ceil(max / 10));
  for (const key of collection.keys()) {
    yield key;
    count -= 1;
    if (count === 0) return;
  }
}
