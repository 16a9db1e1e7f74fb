import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createTextStore } from '../cache/text-store.js';
import type { ChangeFeed } from './change-feed.js';
import type { WatchedTable } from './change-feed.sql.js';

/** Values by id; contains every requested id, with `unknown` where there is no value. */
export type Lookup<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
export interface CachedLookup<T> extends Lookup<T> {
  /** Loads the ids that are not cached, as long as no entry has to be evicted for them. */
  readonly prefetch: (ids: readonly string[]) => Promise<void>;
}

const FOUND_TTL_MS = 30_000;
/** Lifetime of a missing entry: the catalogue may soon contain it. */
const MISSING_TTL_MS = 1_000;
/** Lifetime of entries that are invalidated by changes: bounds the effect of a rebuilt table. */
const INVALIDATED_TTL_MS = 1_800_000;
const MAX_ENTRIES = 10_000;
/** Fill ratio from which references are recorded: below it nothing is evicted. */
const NEARLY_FULL_RATIO = 0.9;
/** Ids per query. */
const READ_BATCH = 2_000;
/** Decoding this many takes one or two milliseconds; the lookup yields to the event loop between batches. */
const DECODE_BATCH = 200;

export interface CachedLookupOptions<T> {
  /** Ids that are not in the result are unknown. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly unknown: T;
  readonly nowMs: () => number;
  /** Maximum number of entries. */
  readonly maxEntries?: number;
  /** Maximum bytes of all entries, for values of very different sizes. */
  readonly maxBytes?: number;
  /** Encoding of cached values as text, outside of the garbage-collected heap. */
  readonly codec: TextCodec<T>;
  /** False for a cached value that must be read again. */
  readonly isFresh?: (value: T) => boolean;
  /** Invalidation by table changes; without it entries expire after 30 s, unknown ones after 1 s. */
  readonly invalidation?: {
    readonly changes: ChangeFeed;
    readonly tables: readonly WatchedTable[];
    /** The value after such a change, the same object if it is unaffected; undefined if it must be read again. `sinceS`: see ChangeListener. */
    readonly update?: (value: T, source: WatchedTable, sinceS: number) => T | undefined;
  };
}

export interface TextCodec<T> {
  readonly pack: (value: T) => string;
  readonly unpack: (text: string) => T;
  /** `latin1`: only for texts with code units below 256, one byte each. Default: UTF-8. */
  readonly encoding?: 'latin1';
}

/** Adds null to the values of a codec, as empty text. `codec` never packs a value as empty text. */
export const nullableCodec = <T>(codec: TextCodec<T>): TextCodec<T | null> => ({
  ...codec,
  pack: (value) => (value === null ? '' : codec.pack(value)),
  unpack: (text) => (text === '' ? null : codec.unpack(text)),
});

/** Codec of values that are texts. */
export const identityCodec: TextCodec<string> = { pack: (text) => text, unpack: (text) => text };

/**
 * Creates a lookup that reads only ids that are not cached. Evicts entries by the clock algorithm, an approximation of least recently used: exact LRU
 * order would cost more on every lookup than the cached values save.
 */
export function createCachedLookup<T>(options: CachedLookupOptions<T>): CachedLookup<T> {
  const { invalidation, codec } = options;
  const maxEntries = options.maxEntries ?? (options.maxBytes === undefined ? MAX_ENTRIES : Number.POSITIVE_INFINITY);
  const maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  const foundTtlMs = invalidation === undefined ? FOUND_TTL_MS : INVALIDATED_TTL_MS;
  const missingTtlMs = invalidation === undefined ? MISSING_TTL_MS : INVALIDATED_TTL_MS;
  const store = createTextStore({ encoding: codec.encoding });
  /** Ids that changed during each running read; 'all' for everything. */
  const pendingReads = new Set<{ all: boolean; readonly ids: Set<string> }>();
  const nearlyFull = () => store.size > maxEntries * NEARLY_FULL_RATIO || store.bytes > maxBytes * NEARLY_FULL_RATIO;

  invalidation?.changes.subscribe(invalidation.tables, (ids, source, sinceS) => {
    for (const reading of pendingReads) {
      if (ids === null) reading.all = true;
      else for (const id of ids) reading.ids.add(id);
    }
    if (ids === null) {
      store.clear();
      return;
    }
    for (const id of ids) {
      const stored = store.get(id);
      if (stored === undefined) continue;
      const value = codec.unpack(stored.text);
      const next = invalidation.update?.(value, source, sinceS);
      if (next === undefined) store.delete(id);
      else if (next !== value) store.set(id, { ...stored, text: codec.pack(next) });
    }
  });

  /** Cached text of an id, unless it is expired. */
  const unexpiredText = (id: string, nowMs: number): string | undefined => {
    const stored = store.get(id);
    return stored === undefined || nowMs >= stored.expiresAtS * 1000 ? undefined : stored.text;
  };
  const isCurrent = (value: T): boolean => options.isFresh?.(value) !== false;

  const readSome = async (ids: readonly string[], onValue: (id: string, value: T) => void): Promise<void> => {
    const nowMs = options.nowMs();
    const changed = { all: false, ids: new Set<string>() };
    pendingReads.add(changed);
    try {
      const read = await options.read(ids);
      for (const id of ids) {
        const found = read.get(id);
        const value = found ?? options.unknown;
        onValue(id, value);
        if (changed.all || changed.ids.has(id)) continue;
        const untilMs = nowMs + (found === undefined ? missingTtlMs : foundTtlMs);
        store.set(id, { text: codec.pack(value), expiresAtS: Math.ceil(untilMs / 1000) });
      }
    } finally {
      pendingReads.delete(changed);
    }
  };

  const lookup: Lookup<T> = async (ids) => {
    if (ids.length === 0) return new Map();
    await invalidation?.changes.sync();
    const nowMs = options.nowMs();
    const found = new Map<string, T>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      if (found.size > 0 && found.size % DECODE_BATCH === 0) await yieldToEventLoop();
      const text = unexpiredText(id, nowMs);
      const value = text === undefined ? undefined : codec.unpack(text);
      const isCached = value !== undefined && isCurrent(value);
      // A missing id keeps its position in the result's order.
      found.set(id, isCached ? value : options.unknown);
      if (!isCached) missing.push(id);
      else if (nearlyFull()) store.markReferenced(id);
    }
    for (let at = 0; at < missing.length; at += READ_BATCH)
      await readSome(missing.slice(at, at + READ_BATCH), (id, value) => found.set(id, value));
    while (store.size > maxEntries || store.bytes > maxBytes) store.evictOne();
    return found;
  };
  const prefetch = async (ids: readonly string[]): Promise<void> => {
    await invalidation?.changes.sync();
    const nowMs = options.nowMs();
    // Most ids are cached: they are decoded only if freshness depends on the value.
    const missing = ids.filter((id) => {
      const text = unexpiredText(id, nowMs);
      return text === undefined || (options.isFresh !== undefined && !isCurrent(codec.unpack(text)));
    });
    for (let at = 0; at < missing.length && !nearlyFull(); at += READ_BATCH)
      await readSome(missing.slice(at, at + READ_BATCH), () => undefined);
  };
  return Object.assign(lookup, { prefetch });
}
