/** The order in which values came into a map, without those that left it. */
export interface OutcomeOrder<T> {
  add(entity: string, value: T): void;
  /** The oldest that is still in the map, or undefined. */
  first(): { readonly entity: string; readonly value: T } | undefined;
  /** Takes the one that `first` returned out of the order. */
  removeFirst(): void;
}

/** Entries taken out before the array is cut. */
const CUT_AT = 4_096;

/**
 * The order of `values`. Reading the map itself from its beginning costs O(n): the engine passes the places of all entries removed there, until the
 * map grows again.
 */
export function createOutcomeOrder<T>(values: ReadonlyMap<string, T>): OutcomeOrder<T> {
  let entries: { readonly entity: string; readonly value: T }[] = [];
  let head = 0;
  const removeFirst = () => {
    head += 1;
    if (head < CUT_AT) return;
    entries = entries.slice(head);
    head = 0;
  };
  return {
    add(entity, value) {
      entries.push({ entity, value });
    },
    first() {
      for (let entry = entries[head]; entry !== undefined; entry = entries[head]) {
        if (values.get(entry.entity) === entry.value) return entry;
        removeFirst();
      }
      return undefined;
    },
    removeFirst,
  };
}
