import { LRUCache } from 'lru-cache';
import type { Sql, Tables } from '../tables/port.js';
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
const DEFAULT_MAX_SIZE = 10_000;
/** Fill ratio up to which values are prefetched. */
const PREFETCH_RATIO = 0.9;
/** Ids per query. */
const READ_BATCH = 2_000;

interface Entry<T> {
  readonly value: T;
  /** When it was read: after the clock was set back to an earlier time, it is read again. */
  readonly fromMs: number;
  readonly untilMs: number;
}

export interface CachedLookupOptions<T> {
  /** Ids that are not in the result are unknown. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly unknown: T;
  readonly nowMs: () => number;
  /** Maximum sum of the sizes of all entries. */
  readonly maxSize?: number;
  /** Size of an entry, a positive integer; default: 1. */
  readonly sizeOf?: (value: T) => number;
  /** False for a cached value that must be read again. */
  readonly isFresh?: (value: T) => boolean;
  /** Invalidation by table changes; without it entries expire after 30 s, unknown ones after 1 s. */
  readonly invalidation?: {
    readonly changes: ChangeFeed;
    readonly tables: readonly WatchedTable[];
    /** The value after such a change, the same object if it is unaffected; undefined if it must be read again. */
    readonly update?: (value: T, source: WatchedTable) => T | undefined;
  };
}

/** `read` of a lookup: the value of each row of a statement, by the id that the row has. */
export const readRows =
  <Row, T>(
    tables: Tables,
    statement: (ids: readonly string[]) => Sql,
    id: (row: Row) => string,
    value: (row: Row) => T,
  ): CachedLookupOptions<T>['read'] =>
  async (ids) =>
    new Map((await tables.rows<Row>(statement(ids))).map((row) => [id(row), value(row)]));

/** Creates a lookup that reads only ids that are not cached. Callers share the cached values and do not change them. */
export function createCachedLookup<T>(options: CachedLookupOptions<T>): CachedLookup<T> {
  const { invalidation, sizeOf = () => 1, isFresh = () => true, maxSize = DEFAULT_MAX_SIZE } = options;
  const foundTtlMs = invalidation === undefined ? FOUND_TTL_MS : INVALIDATED_TTL_MS;
  const missingTtlMs = invalidation === undefined ? MISSING_TTL_MS : INVALIDATED_TTL_MS;
  const entries = new LRUCache<string, Entry<T>>({ maxSize, sizeCalculation: ({ value }) => sizeOf(value) });
  /** Ids that changed during each running read. */
  const pendingReads = new Set<{ all: boolean; readonly ids: Set<string> }>();

  invalidation?.changes.subscribe(invalidation.tables, (ids, source) => {
    for (const reading of pendingReads) {
      if (ids === null) reading.all = true;
      else for (const id of ids) reading.ids.add(id);
    }
    if (ids === null) entries.clear();
    for (const id of ids ?? []) {
      const cached = entries.peek(id);
      if (cached === undefined) continue;
      const next = invalidation.update?.(cached.value, source);
      if (next === undefined) entries.delete(id);
      else if (next !== cached.value) entries.set(id, { ...cached, value: next });
    }
  });

  const ifCurrent = (cached: Entry<T> | undefined): Entry<T> | undefined => {
    const nowMs = options.nowMs();
    const isCurrent = cached !== undefined && nowMs >= cached.fromMs && nowMs < cached.untilMs && isFresh(cached.value);
    return isCurrent ? cached : undefined;
  };
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
        entries.set(id, { value, fromMs: nowMs, untilMs: nowMs + (found === undefined ? missingTtlMs : foundTtlMs) });
      }
    } finally {
      pendingReads.delete(changed);
    }
  };

  const lookup: Lookup<T> = async (ids) => {
    if (ids.length === 0) return new Map();
    await invalidation?.changes.sync();
    const found = new Map<string, T>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      const cached = ifCurrent(entries.get(id));
      // A missing id keeps its position in the result's order.
      found.set(id, cached === undefined ? options.unknown : cached.value);
      if (cached === undefined) missing.push(id);
    }
    for (let at = 0; at < missing.length; at += READ_BATCH)
      await readSome(missing.slice(at, at + READ_BATCH), (id, value) => found.set(id, value));
    return found;
  };
  const prefetch = async (ids: readonly string[]): Promise<void> => {
    await invalidation?.changes.sync();
    // Does not count as a use: requests decide what stays cached.
    const missing = ids.filter((id) => ifCurrent(entries.peek(id)) === undefined);
    for (let at = 0; at < missing.length && entries.calculatedSize <= maxSize * PREFETCH_RATIO; at += READ_BATCH)
      await readSome(missing.slice(at, at + READ_BATCH), () => undefined);
  };
  return Object.assign(lookup, { prefetch });
}
