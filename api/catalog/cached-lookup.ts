import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createTextStore } from '../cache/text-store.js';
import type { ChangeFeed } from './change-feed.js';
import type { WatchedTable } from './change-feed.sql.js';

/** Things by id; every id asked for is there, as `unknown` where nothing is known of it. */
export type Lookup<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
export interface CachedLookup<T> extends Lookup<T> {
  /** Reads what of these is not held, ahead of questions, while there is room that nothing has to make way for. */
  readonly prefetch: (ids: readonly string[]) => Promise<void>;
}

const FOUND_TTL_MS = 30_000;
/** What the catalogue does not know yet is asked for again soon. */
const MISSING_TTL_MS = 1_000;
/** What is dropped when it changes is read anew now and then all the same: a table may have been rebuilt. */
const INVALIDATED_TTL_MS = 1_800_000;
const MAX_ENTRIES = 10_000;
/** From this part of what may be held on it is noted what is asked for: before that nothing has to go. */
const NEARLY_FULL_RATIO = 0.9;
/** Ids per question. */
const READ_BATCH = 2_000;
/** To unpack so many takes a millisecond or two; then others have their turn. */
const DECODE_BATCH = 200;

export interface CachedLookupOptions<T> {
  /** Things that are not in the answer are unknown. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly unknown: T;
  readonly nowMs: () => number;
  /** Things. */
  readonly maxEntries?: number;
  /** Of all things with their ids and places, for things that differ much in size. */
  readonly maxBytes?: number;
  /** The form in which things are held: texts, outside of the garbage collector's sight. */
  readonly codec: TextCodec<T>;
  /** False for what is to be read anew although it was not dropped. */
  readonly isFresh?: (value: T) => boolean;
  /** Where the changes of these things are told; without it they are held for 30 s, unknown ones for a second. */
  readonly invalidation?: {
    readonly changes: ChangeFeed;
    readonly tables: readonly WatchedTable[];
    /** The thing as it is held on after such a change, itself where nothing changes; undefined where it is to be read anew. `sinceS`: see ChangeListener. */
    readonly update?: (value: T, source: WatchedTable, sinceS: number) => T | undefined;
  };
}

export interface TextCodec<T> {
  readonly pack: (value: T) => string;
  readonly unpack: (text: string) => T;
  /** `latin1` where texts have code units below 256 only: a byte each. Otherwise UTF-8. */
  readonly encoding?: 'latin1';
}

/** Of things that are texts. */
export const identityCodec: TextCodec<string> = { pack: (text) => text, unpack: (text) => text };

/**
 * Reads only what is not held: pages show the same few things again and again. What was read longest ago and not asked for since goes first (the clock
 * algorithm): the exact order of the questions would cost more to keep than the answers do.
 */
export function createCachedLookup<T>(options: CachedLookupOptions<T>): CachedLookup<T> {
  const { invalidation, codec } = options;
  const maxEntries = options.maxEntries ?? (options.maxBytes === undefined ? MAX_ENTRIES : Number.POSITIVE_INFINITY);
  const maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  const foundTtlMs = invalidation === undefined ? FOUND_TTL_MS : INVALIDATED_TTL_MS;
  const missingTtlMs = invalidation === undefined ? MISSING_TTL_MS : INVALIDATED_TTL_MS;
  const store = createTextStore({ encoding: codec.encoding });
  /** What changed while it was being read, per reading under way; 'all' for everything. */
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

  /** The form in which an id is held, unless that is too old. */
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
        const known = read.get(id);
        const value = known ?? options.unknown;
        onValue(id, value);
        if (changed.all || changed.ids.has(id)) continue;
        const untilMs = nowMs + (known === undefined ? missingTtlMs : foundTtlMs);
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
      // What is missing keeps its place among the answers.
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
    // Most are held, minute after minute: they are unpacked only where that tells whether they are current.
    const missing = ids.filter((id) => {
      const text = unexpiredText(id, nowMs);
      return text === undefined || (options.isFresh !== undefined && !isCurrent(codec.unpack(text)));
    });
    for (let at = 0; at < missing.length && !nearlyFull(); at += READ_BATCH)
      await readSome(missing.slice(at, at + READ_BATCH), () => undefined);
  };
  return Object.assign(lookup, { prefetch });
}
