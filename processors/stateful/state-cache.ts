/** Cache of decoded states: those changed in the current step, and recently added ones. */
export interface StateCache<S> {
  get(key: string): S | undefined;
  /** Marks the state as changed in the current step. `state` may be the mutated object that `get` returned. */
  set(key: string, state: S): void;
  /** States changed in the current step, each key once. */
  changes(): Iterable<readonly [key: string, state: S]>;
  /** Ends the current step after its commit and evicts entries beyond the capacity. */
  markCommitted(): void;
}

interface Entry<S> {
  readonly key: string;
  state: S;
  changed: boolean;
}

export function createStateCache<S>(options: {
  capacity: number;
  read: (key: string) => S | undefined;
}): StateCache<S> {
  const { capacity, read } = options;
  /** Insertion order (FIFO, not LRU): reordering on each use costs a lookup by a long key, and an entry evicted too early is read again. */
  const entries = new Map<string, Entry<S>>();
  let changed: Entry<S>[] = [];
  const add = (key: string, state: S): Entry<S> => {
    const entry = { key, state, changed: false };
    entries.set(key, entry);
    return entry;
  };
  return {
    get(key) {
      const entry = entries.get(key);
      if (entry !== undefined) return entry.state;
      const stored = read(key);
      if (stored !== undefined) add(key, stored);
      return stored;
    },
    set(key, state) {
      const entry = entries.get(key) ?? add(key, state);
      entry.state = state;
      if (entry.changed) return;
      entry.changed = true;
      changed.push(entry);
    },
    *changes() {
      for (const { key, state } of changed) yield [key, state];
    },
    markCommitted() {
      for (const entry of changed) entry.changed = false;
      changed = [];
      for (const key of entries.keys()) {
        if (entries.size <= capacity) return;
        entries.delete(key);
      }
    },
  };
}
