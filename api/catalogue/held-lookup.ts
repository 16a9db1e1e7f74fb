/** Things by id; every id asked for is there, as `unknown` where nothing is known of it. */
export type Lookup<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

const KNOWN_MS = 30_000;
/** What the catalogue does not know yet is asked for again soon. */
const UNKNOWN_MS = 1_000;
const MAX_HELD = 50_000;

/** Reads only what is not held, each at most 30 s old: pages show the same few things again and again. */
export function createHeldLookup<T>(options: {
  read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  unknown: T;
  nowMs: () => number;
}): Lookup<T> {
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
    if (held.size + missing.length > MAX_HELD) held.clear();
    for (const id of missing) {
      const value = read.get(id);
      held.set(id, { value: value ?? options.unknown, untilMs: nowMs + (value === undefined ? UNKNOWN_MS : KNOWN_MS) });
      found.set(id, value ?? options.unknown);
    }
    return found;
  };
}
