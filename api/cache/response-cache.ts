import { LRUCache } from 'lru-cache';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { bytesOf } from './bytes-of.js';

/** A value and its age. `hit`: it was computed for an earlier request. */
export interface Cached<T> {
  readonly value: T;
  readonly ageMs: number;
  readonly hit: boolean;
}

/** Resolves with the cached value of a key or the value of its running load; runs `work` as its load if there is neither. */
export type SharedLoad<T> = (work: () => Promise<T>) => Promise<T>;

export interface ResponseCache {
  /**
   * Returns the cached value of `key` if it is younger than `ttlMs`, otherwise the value of `load`. Concurrent requests for a key share one load. A
   * failed load and a value with `ttlMs` 0 are not cached. A value that takes long to load is refreshed in the background when it is requested in the
   * second half of its lifetime, so that no request waits for frequently requested values. One cache serves all routes: keys begin with the list's name.
   */
  get<T>(key: string, ttlMs: number | ((value: T) => number), load: () => Promise<T>): Promise<Cached<T>>;
  /**
   * As `get`, for a load that needs a permit of the caller: `load` waits for the permit and then calls `shared`. Until then no other request waits for
   * this load or fails with it, since others may get their permits earlier.
   */
  getLimited<T>(
    key: string,
    ttlMs: number | ((value: T) => number),
    load: (shared: SharedLoad<T>) => Promise<T>,
  ): Promise<Cached<T>>;
}

interface Entry {
  readonly value: unknown;
  /** Value of `dataVersion` at the start of the load. */
  readonly dataVersion: unknown;
  /** Start of the load: the value is as old as the tables that were read. */
  readonly storedMs: number;
  readonly ttlMs: number;
  /** Duration of the load. */
  readonly tookMs: number;
}

const DEFAULT_MAX_BYTES = 64 << 20;
/** A larger share of the cache is not given to one value. */
const MAX_VALUE_RATIO = 0.5;
/** Estimate of an entry without key and value. */
const ENTRY_BYTES = 300;
/** Expired entries are removed within this time. */
const SWEEP_INTERVAL_MS = 10_000;
/** A load that took at least this long is refreshed before it expires. */
const SLOW_LOAD_MS = 20;

/** Creates the cache of pages and responses: the most recently used values, up to `maxBytes` in total; 0: every request loads. */
export function createResponseCache(options: {
  readonly nowMs: () => number;
  readonly maxBytes?: number;
  readonly metrics?: Metrics;
  /** Version of the tables' content: values that were loaded under another version are not returned. Without it only the age counts. */
  readonly dataVersion?: () => unknown;
}): ResponseCache {
  const { nowMs, maxBytes = DEFAULT_MAX_BYTES, metrics, dataVersion = () => undefined } = options;
  const requests = metrics?.counter('api_cache_requests_total', 'Requests of the response cache by result', ['result']);
  const bytes = metrics?.gauge('api_cache_bytes', 'Estimated size of the response cache, bytes');
  if (maxBytes === 0) {
    const getLimited: ResponseCache['getLimited'] = async (_key, _ttlMs, load) => {
      requests?.inc({ result: 'off' });
      return { value: await load((work) => work()), ageMs: 0, hit: false };
    };
    return { get: (key, ttlMs, load) => getLimited(key, ttlMs, (shared) => shared(load)), getLimited };
  }
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    maxEntrySize: Math.ceil(maxBytes * MAX_VALUE_RATIO),
    sizeCalculation: ({ value }, key) => ENTRY_BYTES + 2 * key.length + bytesOf(value),
  });
  const loading = new Map<string, { readonly dataVersion: unknown; readonly done: Promise<Entry> }>();
  const isFresh = ({ storedMs, ttlMs }: Entry): boolean => nowMs() >= storedMs && nowMs() - storedMs < ttlMs;

  let sweptMs = nowMs();
  const store = (key: string, entry: Entry) => {
    if (Math.abs(nowMs() - sweptMs) >= SWEEP_INTERVAL_MS) {
      sweptMs = nowMs();
      for (const [old, other] of entries.entries()) if (!isFresh(other)) entries.delete(old);
    }
    entries.set(key, entry);
    bytes?.set(entries.calculatedSize);
  };
  const load = <T>(
    key: string,
    ttlMs: number | ((value: T) => number),
    read: () => Promise<T>,
    { version, storedMs }: { readonly version: unknown; readonly storedMs: number },
  ): Promise<Entry> => {
    const done = read()
      .then((value) => {
        const lifeMs = typeof ttlMs === 'number' ? ttlMs : ttlMs(value);
        const entry = { value, dataVersion: version, storedMs, ttlMs: lifeMs, tookMs: nowMs() - storedMs };
        if (lifeMs > 0) store(key, entry);
        return entry;
      })
      .finally(() => {
        if (loading.get(key)?.done === done) loading.delete(key);
      });
    loading.set(key, { dataVersion: version, done });
    return done;
  };
  /** The running load of `key`, unless the tables have changed since it began. */
  const running = (key: string): Promise<Entry> | undefined => {
    const found = loading.get(key);
    return found?.dataVersion === dataVersion() ? found?.done : undefined;
  };
  const cached = (key: string): Entry | undefined => {
    const found = entries.get(key);
    return found !== undefined && found.dataVersion === dataVersion() && isFresh(found) ? found : undefined;
  };
  const hitOf = (entry: Entry) => ({ value: entry.value as never, ageMs: nowMs() - entry.storedMs, hit: true });
  const loadedOf = (value: unknown) => ({ value: value as never, ageMs: 0, hit: false });
  const begin = () => ({ version: dataVersion(), storedMs: nowMs() });

  /** Keys whose background refresh waits or runs. */
  const refreshing = new Set<string>();
  const getLimited: ResponseCache['getLimited'] = async (key, ttlMs, loadWith) => {
    const found = cached(key);
    if (found !== undefined) {
      requests?.inc({ result: 'hit' });
      const hit = hitOf(found);
      const isDue = found.tookMs >= SLOW_LOAD_MS && hit.ageMs > found.ttlMs / 2;
      if (isDue && !refreshing.has(key) && running(key) === undefined) {
        refreshing.add(key);
        const began = begin();
        // A failed background refresh is not an error: the cached value is still valid, and the next load after its expiry reports the failure.
        loadWith(async (work) => (await (running(key) ?? load(key, ttlMs, work, began))).value as never)
          .catch(() => undefined)
          .finally(() => refreshing.delete(key));
      }
      return hit;
    }
    const other = running(key);
    requests?.inc({ result: other === undefined ? 'miss' : 'shared' });
    if (other !== undefined) return loadedOf((await other).value);
    const began = begin();
    let isPermitted = false;
    let hit: Entry | undefined;
    try {
      const value = await loadWith(async (work) => {
        isPermitted = true;
        hit = cached(key);
        return (hit ?? (await (running(key) ?? load(key, ttlMs, work, began)))).value as never;
      });
      return hit === undefined ? loadedOf(value) : hitOf(hit);
    } catch (error) {
      if (isPermitted) throw error;
      // There was no permit in time, but a request with one may have loaded the value, or be loading it.
      const loaded = cached(key);
      if (loaded !== undefined) return hitOf(loaded);
      const shared = running(key);
      if (shared === undefined) throw error;
      return loadedOf((await shared).value);
    }
  };
  return { get: (key, ttlMs, read) => getLimited(key, ttlMs, (shared) => shared(read)), getLimited };
}
