/** Things by id; every id asked for is there, as `unknown` where nothing is known of it. */
export type Lookup<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

const KNOWN_MS = 30_000;
/** What the catalogue does not know yet is asked for again soon. */
const UNKNOWN_MS = 1_000;
/** Some 10 MB of each kind of thing. */
const MAX_HELD = 10_000;

/** Reads only what is not held, each at most 30 s old: pages show the same few things again and again. What was read first goes first. */
export function createHeldLookup<T>(options: {
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  unknown: T;
  nowMs: () => number;
  maxHeld?: number;
}): Lookup<T> {
  const maxHeld = options.maxHeld ?? MAX_HELD;
  const held = new Map<string, { readonly value: T; readonly untilMs: number }>();
  return async (ids) => {
    const nowMs = options.nowMs();
    const found = new Map<string, T>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      const known = held.get(id);
      if (known !== undefined && nowMs < known.untilMs) found.set(id, known.value);
      else missing.push(id);
    }
    if (missing.length === 0) return found;
    const read = await options.read(missing);
    for (const id of missing) {
      const value = read.get(id);
      // Set anew, so that the map's order is that of the reads.
      held.delete(id);
      held.set(id, { value: value ?? options.unknown, untilMs: nowMs + (value === undefined ? UNKNOWN_MS : KNOWN_MS) });
      found.set(id, value ?? options.unknown);
    }
    for (const id of held.keys()) {
      if (held.size <= maxHeld) break;
      held.delete(id);
    }
    return found;
  };
}
