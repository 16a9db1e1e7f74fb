import type { StateChanges } from './state-store.js';

/** Changes of landed steps on their way to the local store, in one commit of many: each is a sync to disk. */
export interface WriteBehindBuffer {
  /** The store is at `position`. */
  start(position: number): void;
  get(key: string): Buffer | undefined;
  /** A step has landed. Commits when enough has come together, or waited long enough. */
  add(changes: StateChanges, nextOffset: number): void;
  flush(): void;
}

const MAX_CHANGES = 8_000;
const MAX_AGE_MS = 5_000;

export function createWriteBehindBuffer(options: {
  commit: (changes: StateChanges, from: number, nextOffset: number) => void;
  now?: () => number;
}): WriteBehindBuffer {
  const now = options.now ?? (() => performance.now());
  const pending = new Map<string, Buffer>();
  let stored = 0;
  let reached = 0;
  let since = 0;
  const flush = (): void => {
    if (reached === stored) return;
    options.commit(pending, stored, reached);
    pending.clear();
    stored = reached;
  };
  return {
    start(position) {
      pending.clear();
      stored = position;
      reached = position;
    },
    get: (key) => pending.get(key),
    add(changes, nextOffset) {
      if (reached === stored) since = now();
      for (const [key, value] of changes) pending.set(key, value);
      reached = nextOffset;
      if (pending.size >= MAX_CHANGES || now() - since >= MAX_AGE_MS) flush();
    },
    flush,
  };
}
