/** Decoded states: those changed in the step under way, and some that were used lately. */
export interface StateCache<S> {
  get(key: string): S | undefined;
  /** The state is part of the step from now on. It may be the object `get` gave, changed. */
  set(key: string, state: S): void;
  /** What the step under way has changed, each once. */
  changes(): Iterable<readonly [key: string, state: S]>;
  /** The step has landed. */
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
  /** Oldest first. Long keys make lookups dear, so use does not move an entry: one that is forgotten too early is read again. */
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
