import type { Changes } from './changes.js';
import type { Followed } from './changes.sql.js';

/** Things by id; every id asked for is there, as `unknown` where nothing is known of it. */
export type Lookup<T> = (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;

const KNOWN_MS = 30_000;
/** What the catalogue does not know yet is asked for again soon. */
const UNKNOWN_MS = 1_000;
/** What is dropped when it changes is read anew now and then all the same: a table may have been rebuilt. */
const FOLLOWED_MS = 1_800_000;
/** Some 10 MB of each kind of thing. */
const MAX_HELD = 10_000;
/** From this part of what may be held on it is noted what is asked for: before that nothing has to go. */
const NEARLY_FULL = 0.9;
/** Ids per question. */
const AT_ONCE = 2_000;

export interface HeldLookupOptions<T> {
  /** Things that are not in the answer are unknown. */
  readonly read: (ids: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly unknown: T;
  readonly nowMs: () => number;
  /** Sum of the weights; each thing weighs 1 unless told. */
  readonly maxHeld?: number;
  readonly weigh?: (value: T) => number;
  /**
   * The form in which things are held, where there are very many: one text is one object for the garbage collector, which looks at each object of each
   * thing again and again. `weigh` and `kept` then see copies.
   */
  readonly packed?: { readonly pack: (value: T) => string; readonly unpack: (text: string) => T };
  /** False for what is to be read anew although it was not dropped. */
  readonly current?: (value: T) => boolean;
  /** Where the changes of these things are told; without it they are held for 30 s, unknown ones for a second. */
  readonly follow?: {
    readonly changes: Changes;
    readonly sources: readonly Followed[];
    /** The thing as it is held on after such a change, of the same weight; undefined where it is to be read anew. `sinceS`: see ChangeListener. */
    readonly kept?: (value: T, source: Followed, sinceS: number) => T | undefined;
  };
}

interface Held<T> {
  readonly value: T;
  readonly untilS: number;
}

/**
 * Reads only what is not held: pages show the same few things again and again. What was read longest ago and not asked for since goes first (the clock
 * algorithm): the exact order of the questions would cost more to keep than the answers do.
 */
export function createHeldLookup<T>(options: HeldLookupOptions<T>): Lookup<T> {
  const { follow } = options;
  const maxHeld = options.maxHeld ?? MAX_HELD;
  const knownMs = follow === undefined ? KNOWN_MS : FOLLOWED_MS;
  const unknownMs = follow === undefined ? UNKNOWN_MS : FOLLOWED_MS;
  const { packed } = options;
  /** A packed thing is one text with its time, which is joined so that it is one flat piece. */
  const held = new Map<string, Held<T> | string>();
  const keptOf = (value: T, untilS: number): Held<T> | string =>
    packed === undefined ? { value, untilS } : [untilS, packed.pack(value)].join(' ');
  const heldOf = (kept: Held<T> | string): Held<T> => {
    if (packed === undefined || typeof kept !== 'string') return kept as Held<T>;
    return { value: packed.unpack(kept.slice(kept.indexOf(' ') + 1)), untilS: Number.parseInt(kept, 10) };
  };
  let weight = 0;
  /** Of what is held, asked for since it was last looked at for its place. */
  const wanted = new Set<string>();
  /** What changed while it was being read, per reading under way; 'all' for everything. */
  const readings = new Set<{ all: boolean; readonly ids: Set<string> }>();

  const drop = (id: string, kept: Held<T> | string) => {
    held.delete(id);
    wanted.delete(id);
    weight -= options.weigh === undefined ? 1 : options.weigh(heldOf(kept).value);
  };

  /** The hand of the clock. Kept, as one from the start passes all that is gone. */
  let hand = held.entries();
  const letGo = () => {
    while (weight > maxHeld && held.size > 0) {
      const next = hand.next();
      if (next.done === true) hand = held.entries();
      else if (!wanted.delete(next.value[0])) drop(...next.value);
    }
  };

  follow?.changes.on(follow.sources, (ids, source, sinceS) => {
    for (const reading of readings) {
      if (ids === null) reading.all = true;
      else for (const id of ids) reading.ids.add(id);
    }
    if (ids === null) {
      held.clear();
      wanted.clear();
      weight = 0;
    } else {
      for (const id of ids) {
        const kept = held.get(id);
        if (kept === undefined) continue;
        const { value, untilS } = heldOf(kept);
        const next = follow.kept?.(value, source, sinceS);
        if (next === undefined) drop(id, kept);
        else if (next !== value) held.set(id, keptOf(next, untilS));
      }
    }
  });

  const readSome = async (ids: readonly string[], found: Map<string, T>): Promise<void> => {
    const nowMs = options.nowMs();
    const changed = { all: false, ids: new Set<string>() };
    readings.add(changed);
    try {
      const read = await options.read(ids);
      for (const id of ids) {
        const known = read.get(id);
        const value = known ?? options.unknown;
        found.set(id, value);
        if (changed.all || changed.ids.has(id)) continue;
        const before = held.get(id);
        if (before !== undefined) drop(id, before);
        const untilMs = nowMs + (known === undefined ? unknownMs : knownMs);
        held.set(id, keptOf(value, Math.ceil(untilMs / 1000)));
        weight += options.weigh?.(value) ?? 1;
      }
    } finally {
      readings.delete(changed);
    }
  };

  return async (ids) => {
    if (ids.length === 0) return new Map();
    await follow?.changes.current();
    const nowMs = options.nowMs();
    const found = new Map<string, T>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      const kept = held.get(id);
      const known = kept === undefined ? null : heldOf(kept);
      if (
        kept === undefined ||
        known === null ||
        nowMs >= known.untilS * 1000 ||
        options.current?.(known.value) === false
      ) {
        missing.push(id);
        // Keeps its place among the answers.
        found.set(id, options.unknown);
        continue;
      }
      found.set(id, known.value);
      if (weight > maxHeld * NEARLY_FULL) wanted.add(id);
    }
    for (let at = 0; at < missing.length; at += AT_ONCE) await readSome(missing.slice(at, at + AT_ONCE), found);
    letGo();
    return found;
  };
}
