/** Results younger than this are repeated. */
const TTL_MS = 30_000;
const MAX_ENTRIES = 1_000;

interface Entry<T> {
  readonly startedMs: number;
  readonly value: Promise<T>;
}

/** Remembers the results of the last 30 s, at most 1,000. */
export function createRecentFetches<T>(options: { readonly nowMs: () => number }) {
  // In order of start.
  const entries = new Map<string, Entry<T>>();
  const isCurrent = ({ startedMs }: Entry<T>): boolean => {
    const ageMs = options.nowMs() - startedMs;
    return ageMs >= 0 && ageMs < TTL_MS;
  };
  return {
    /** The result of `load`, or of the last load of `key` if it began less than 30 s ago. Concurrent requests share one load; failed ones are not repeated. */
    async get(key: string, load: () => Promise<T>) {
      const found = entries.get(key);
      if (found !== undefined && isCurrent(found))
        return { value: await found.value, startedMs: found.startedMs, isRepeated: true };
      entries.delete(key);
      for (const [old, other] of entries) {
        if (isCurrent(other) && entries.size < MAX_ENTRIES) break;
        entries.delete(old);
      }
      const entry: Entry<T> = { startedMs: options.nowMs(), value: load() };
      entries.set(key, entry);
      try {
        return { value: await entry.value, startedMs: entry.startedMs, isRepeated: false };
      } catch (error) {
        if (entries.get(key) === entry) entries.delete(key);
        throw error;
      }
    },
  };
}
