import type { Changes } from './fold-store.js';

/** Changes of landed steps on their way to the local store, in one commit of many: each is a sync to disk. */
export interface WriteBehind {
  /** The store is at `position`. */
  start(position: number): void;
  get(key: string): Buffer | undefined;
  /** A step has landed. Commits when enough has come together, or waited long enough. */
  add(changes: Changes, nextOffset: number): void;
  flush(): void;
}

const MAX_CHANGES = 8_000;
const MAX_AGE_MS = 5_000;

export function createWriteBehind(options: {
  commit: (changes: Changes, from: number, nextOffset: number) => void;
  now?: () => number;
}): WriteBehind {
  const now = options.now ?? (() => performance.now());
  const waiting = new Map<string, Buffer>();
  let stored = 0;
  let reached = 0;
  let since = 0;
  const flush = (): void => {
    if (reached === stored) return;
    options.commit(waiting, stored, reached);
    waiting.clear();
    stored = reached;
  };
  return {
    start(position) {
      waiting.clear();
      stored = position;
      reached = position;
    },
    get: (key) => waiting.get(key),
    add(changes, nextOffset) {
      if (reached === stored) since = now();
      for (const [key, value] of changes) waiting.set(key, value);
      reached = nextOffset;
      if (waiting.size >= MAX_CHANGES || now() - since >= MAX_AGE_MS) flush();
    },
    flush,
  };
}
