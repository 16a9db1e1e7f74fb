import { setImmediate as others } from 'node:timers/promises';
import { createTextStore } from '../cache/text-store.js';
import type { Changes } from './changes.js';
import type { Followed } from './changes.sql.js';

/** Things by id; every id asked for is there, as `unknown` where nothing is known of it. */
export type Lookup<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
export interface HeldLookup<T> extends Lookup<T> {
  /** Reads what of these is not held, ahead of questions, while there is room that nothing has to make way for. */
  readonly hold: (ids: readonly string[]) => Promise<void>;
}

const KNOWN_MS = 30_000;
/** What the catalogue does not know yet is asked for again soon. */
const UNKNOWN_MS = 1_000;
/** What is dropped when it changes is read anew now and then all the same: a table may have been rebuilt. */
const FOLLOWED_MS = 1_800_000;
const MAX_HELD = 10_000;
/** From this part of what may be held on it is noted what is asked for: before that nothing has to go. */
const NEARLY_FULL = 0.9;
/** Ids per question. */
const AT_ONCE = 2_000;
/** To unpack so many takes a millisecond or two; then others have their turn. */
const UNPACKED_AT_ONCE = 200;

export interface HeldLookupOptions<T> {
  /** Things that are not in the answer are unknown. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly unknown: T;
  readonly nowMs: () => number;
  /** Things. */
  readonly maxHeld?: number;
  /** Of all things with their ids and places, for things that differ much in size. */
  readonly maxBytes?: number;
  /** The form in which things are held: texts, outside of the garbage collector's sight. */
  readonly packed: Packing<T>;
  /** False for what is to be read anew although it was not dropped. */
  readonly current?: (value: T) => boolean;
  /** Where the changes of these things are told; without it they are held for 30 s, unknown ones for a second. */
  readonly follow?: {
    readonly changes: Changes;
    readonly sources: readonly Followed[];
    /** The thing as it is held on after such a change, itself where nothing changes; undefined where it is to be read anew. `sinceS`: see ChangeListener. */
    readonly kept?: (value: T, source: Followed, sinceS: number) => T | undefined;
  };
}

export interface Packing<T> {
  readonly pack: (value: T) => string;
  readonly unpack: (text: string) => T;
  /** `latin1` where texts have code units below 256 only: a byte each. Otherwise UTF-8. */
  readonly encoding?: 'latin1';
}

/** Of things that are texts. */
export const asItIs: Packing<string> = { pack: (text) => text, unpack: (text) => text };

/**
 * Reads only what is not held: pages show the same few things again and again. What was read longest ago and not asked for since goes first (the clock
 * algorithm): the exact order of the questions would cost more to keep than the answers do.
 */
export function createHeldLookup<T>(options: HeldLookupOptions<T>): HeldLookup<T> {
  const { follow, packed } = options;
  const maxHeld = options.maxHeld ?? (options.maxBytes === undefined ? MAX_HELD : Number.POSITIVE_INFINITY);
  const maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY;
  const knownMs = follow === undefined ? KNOWN_MS : FOLLOWED_MS;
  const unknownMs = follow === undefined ? UNKNOWN_MS : FOLLOWED_MS;
  const held = createTextStore({ encoding: packed.encoding });
  /** What changed while it was being read, per reading under way; 'all' for everything. */
  const readings = new Set<{ all: boolean; readonly ids: Set<string> }>();
  const nearlyFull = () => held.size > maxHeld * NEARLY_FULL || held.bytes > maxBytes * NEARLY_FULL;

  follow?.changes.on(follow.sources, (ids, source, sinceS) => {
    for (const reading of readings) {
      if (ids === null) reading.all = true;
      else for (const id of ids) reading.ids.add(id);
    }
    if (ids === null) {
      held.clear();
      return;
    }
    for (const id of ids) {
      const stored = held.get(id);
      if (stored === undefined) continue;
      const value = packed.unpack(stored.text);
      const next = follow.kept?.(value, source, sinceS);
      if (next === undefined) held.delete(id);
      else if (next !== value) held.set(id, { ...stored, text: packed.pack(next) });
    }
  });

  /** The form in which an id is held, unless that is too old. */
  const fresh = (id: string, nowMs: number): string | undefined => {
    const stored = held.get(id);
    return stored === undefined || nowMs >= stored.untilS * 1000 ? undefined : stored.text;
  };
  const isCurrent = (value: T): boolean => options.current?.(value) !== false;

  const readSome = async (ids: readonly string[], tell: (id: string, value: T) => void): Promise<void> => {
    const nowMs = options.nowMs();
    const changed = { all: false, ids: new Set<string>() };
    readings.add(changed);
    try {
      const read = await options.read(ids);
      for (const id of ids) {
        const known = read.get(id);
        const value = known ?? options.unknown;
        tell(id, value);
        if (changed.all || changed.ids.has(id)) continue;
        const untilMs = nowMs + (known === undefined ? unknownMs : knownMs);
        held.set(id, { text: packed.pack(value), untilS: Math.ceil(untilMs / 1000) });
      }
    } finally {
      readings.delete(changed);
    }
  };

  const lookup: Lookup<T> = async (ids) => {
    if (ids.length === 0) return new Map();
    await follow?.changes.current();
    const nowMs = options.nowMs();
    const found = new Map<string, T>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      if (found.size > 0 && found.size % UNPACKED_AT_ONCE === 0) await others();
      const text = fresh(id, nowMs);
      const value = text === undefined ? undefined : packed.unpack(text);
      const isHeld = value !== undefined && isCurrent(value);
      // What is missing keeps its place among the answers.
      found.set(id, isHeld ? value : options.unknown);
      if (!isHeld) missing.push(id);
      else if (nearlyFull()) held.want(id);
    }
    for (let at = 0; at < missing.length; at += AT_ONCE)
      await readSome(missing.slice(at, at + AT_ONCE), (id, value) => found.set(id, value));
    while (held.size > maxHeld || held.bytes > maxBytes) held.letGo();
    return found;
  };
  const hold = async (ids: readonly string[]): Promise<void> => {
    await follow?.changes.current();
    const nowMs = options.nowMs();
    // Most are held, minute after minute: they are unpacked only where that tells whether they are current.
    const missing = ids.filter((id) => {
      const text = fresh(id, nowMs);
      return text === undefined || (options.current !== undefined && !isCurrent(packed.unpack(text)));
    });
    for (let at = 0; at < missing.length && !nearlyFull(); at += AT_ONCE)
      await readSome(missing.slice(at, at + AT_ONCE), () => undefined);
  };
  return Object.assign(lookup, { hold });
}
