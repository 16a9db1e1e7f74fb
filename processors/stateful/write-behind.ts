import type { StateChanges } from './state-store.js';

/** Buffers the changes of committed steps and writes them to the local store in batches, since each store commit syncs the disk. */
export interface WriteBehindBuffer {
  /** Resets the buffer; the store is at `position`. */
  start(position: number): void;
  get(key: string): Buffer | undefined;
  /** Adds the changes of a committed step. Writes the buffer after MAX_CHANGES changes or MAX_AGE_MS. */
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
