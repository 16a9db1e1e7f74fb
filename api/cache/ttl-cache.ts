/** A value and its age. `hit`: it was computed for an earlier request. */
export interface Cached<T> {
  readonly value: T;
  readonly ageMs: number;
  readonly hit: boolean;
}

export interface TtlCache {
  /**
   * Returns the cached value of `key` if it is younger than `ttlMs`, otherwise the value of `load`. Concurrent requests for a key share one load. A
   * failed load and a value with `ttlMs` 0 are not cached. A value that takes long to load is refreshed in the background when it is requested in the
   * second half of its lifetime, so that no request waits for frequently requested values.
   */
  get<T>(key: string, ttlMs: number | ((value: T) => number), load: () => Promise<T>): Promise<Cached<T>>;
}

interface Entry {
  /** Value of `dataVersion` at the start of the load. */
  readonly dataVersion: unknown;
  storedMs: number;
  ttlMs: number;
  /** Duration of the load. */
  tookMs: number;
}
interface Loaded extends Entry {
  value: unknown;
}
/** A cached entry. */
interface StoredEntry extends Entry {
  value: unknown;
  weight: number;
}

/** Expired entries are removed within this time. */
const SWEEP_INTERVAL_MS = 10_000;
/** A load that took at least this long is refreshed before it expires. */
const SLOW_LOAD_MS = 20;
/** Number of oldest entries among which the one that loads fastest is evicted. */
const EVICTION_CANDIDATES = 8;

/**
 * Creates a cache of at most `maxEntries` values with a total weight (`weigh`) of at most `maxWeight`. Among the oldest entries it evicts the one that
 * loaded fastest. One cache serves all routes: keys must contain the route.
 */
export function createTtlCache(options: {
  maxEntries: number;
  nowMs: () => number;
  weigh?: (value: unknown) => number;
  maxWeight?: number;
  /** Version of the tables' content: values that were loaded under another version are not returned. Without it only the age counts. */
  dataVersion?: (() => unknown) | undefined;
}): TtlCache {
  const weigh = options.weigh ?? (() => 0);
  const dataVersion = options.dataVersion ?? (() => undefined);
  const maxWeight = options.maxWeight ?? Number.POSITIVE_INFINITY;
  let totalWeight = 0;
  const entries = new Map<string, StoredEntry>();
  const loading = new Map<string, { readonly dataVersion: unknown; readonly done: Promise<Loaded> }>();

  const drop = (key: string) => {
    totalWeight -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  const cheapest = (): string | undefined => {
    let [found, tookMs, seen] = [undefined as string | undefined, Number.POSITIVE_INFINITY, 0];
    for (const [key, entry] of entries) {
      if (entry.tookMs < tookMs) [found, tookMs] = [key, entry.tookMs];
      if (++seen === EVICTION_CANDIDATES) break;
    }
    return found;
  };
  let sweptMs = options.nowMs();
  const sweep = () => {
    const nowMs = options.nowMs();
    if (Math.abs(nowMs - sweptMs) < SWEEP_INTERVAL_MS) return;
    sweptMs = nowMs;
    for (const [key, { storedMs, ttlMs }] of entries) if (nowMs - storedMs >= ttlMs) drop(key);
  };
  const store = (key: string, { value, ...entry }: Loaded) => {
    sweep();
    drop(key);
    const weight = weigh(value);
    entries.set(key, { ...entry, weight, value });
    totalWeight += weight;
    while (entries.size > options.maxEntries || totalWeight > maxWeight) {
      const next = cheapest();
      if (next === undefined) break;
      drop(next);
    }
  };

  /** The running load of `key`; starts one if there is none. */
  const loaded = <T>(key: string, ttlMs: number | ((value: T) => number), load: () => Promise<T>): Promise<Loaded> => {
    const running = loading.get(key);
    const version = dataVersion();
    if (running !== undefined && running.dataVersion === version) return running.done;
    // The age counts from the start of the load: the value is as old as the tables that were read.
    const storedMs = options.nowMs();
    const started = load()
      .then((value) => {
        const tookMs = options.nowMs() - storedMs;
        const entry = {
          value,
          dataVersion: version,
          storedMs,
          tookMs,
          ttlMs: typeof ttlMs === 'number' ? ttlMs : ttlMs(value),
        };
        if (entry.ttlMs > 0) store(key, entry);
        return entry;
      })
      .finally(() => {
        if (loading.get(key)?.done === started) loading.delete(key);
      });
    loading.set(key, { dataVersion: version, done: started });
    return started;
  };

  return {
    async get<T>(key: string, ttlMs: number | ((value: T) => number), load: () => Promise<T>): Promise<Cached<T>> {
      const found = entries.get(key);
      if (found !== undefined && found.dataVersion === dataVersion()) {
        const ageMs = options.nowMs() - found.storedMs;
        if (ageMs >= 0 && ageMs < found.ttlMs) {
          // A failed background refresh is not an error: the cached value is still valid, and the next load after its expiry reports the failure.
          if (found.tookMs >= SLOW_LOAD_MS && ageMs > found.ttlMs / 2) loaded(key, ttlMs, load).catch(() => undefined);
          return { value: found.value as T, ageMs, hit: true };
        }
      }
      return { value: (await loaded(key, ttlMs, load)).value as T, ageMs: 0, hit: false };
    },
  };
}
