import { createTextStore } from './text-store.js';

/** A value and its age. `hit`: it was computed for an earlier request. */
export interface Cached<T> {
  readonly value: T;
  readonly ageMs: number;
  readonly hit: boolean;
}

export interface TtlCache {
  /**
   * The copy under `key` while it is younger than `ttlMs`, else a fresh one from `load`. Requests for one key that arrive while it is
   * being loaded share that load. A failed load is not kept, nor is a value whose time to live is 0. What took long to load and is asked for in the
   * second half of its life is loaded anew beside the answer, so that nobody waits for what is asked for all the time.
   */
  get<T>(key: string, ttlMs: number | ((value: T) => number), load: () => Promise<T>): Promise<Cached<T>>;
}

interface Entry {
  /** Time at the start of the load. */
  readonly dataVersion: unknown;
  storedMs: number;
  ttlMs: number;
  /** How long the load took. */
  tookMs: number;
}
interface Loaded extends Entry {
  value: unknown;
}
/** A held one. */
interface StoredEntry extends Entry {
  /** Undefined where it is held as a text. */
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
 * Holds at most `maxEntries`, and values of at most `maxWeight` together as `weigh` has it; of the entries stored first, the one that is loaded again
 * fastest goes first. Keys must name the route, so that one cache serves all of them.
 */
export function createTtlCache(options: {
  maxEntries: number;
  nowMs: () => number;
  weigh?: (value: unknown) => number;
  maxWeight?: number;
  /** What the tables hold, as one value: copies that were begun under another are not served. Without it only their age counts. */
  dataVersion?: (() => unknown) | undefined;
  /** Values become texts that are held outside of V8's heap: for large ones that are seldom asked for again. */
  packing?: { readonly pack: (value: unknown) => string; readonly unpack: (text: string) => unknown };
}): TtlCache {
  const weigh = options.weigh ?? (() => 0);
  const dataVersion = options.dataVersion ?? (() => undefined);
  const maxWeight = options.maxWeight ?? Number.POSITIVE_INFINITY;
  const { packing } = options;
  const texts = packing === undefined ? null : createTextStore();
  let totalWeight = 0;
  const entries = new Map<string, StoredEntry>();
  const loading = new Map<string, { readonly dataVersion: unknown; readonly done: Promise<Loaded> }>();

  const drop = (key: string) => {
    totalWeight -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
    texts?.delete(key);
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
    entries.set(key, { ...entry, weight, value: packing === undefined ? value : undefined });
    if (packing !== undefined) texts?.set(key, { text: packing.pack(value), expiresAtS: 0 });
    totalWeight += weight;
    while (entries.size > options.maxEntries || totalWeight > maxWeight) {
      const next = cheapest();
      if (next === undefined) break;
      drop(next);
    }
  };

  /** The load under way for `key`, begun here where there is none. */
  const loaded = <T>(key: string, ttlMs: number | ((value: T) => number), load: () => Promise<T>): Promise<Loaded> => {
    const running = loading.get(key);
    const version = dataVersion();
    if (running !== undefined && running.dataVersion === version) return running.done;
    // The age counts from the start of the load: what the tables said then.
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
          // Whoever asks when the copy is too old hears of a failure.
          if (found.tookMs >= SLOW_LOAD_MS && ageMs > found.ttlMs / 2) loaded(key, ttlMs, load).catch(() => undefined);
          const value = packing === undefined ? found.value : packing.unpack(texts?.get(key)?.text ?? '');
          return { value: value as T, ageMs, hit: true };
        }
      }
      return { value: (await loaded(key, ttlMs, load)).value as T, ageMs: 0, hit: false };
    },
  };
}
