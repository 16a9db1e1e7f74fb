import { createTextStore } from '../cache/text-store.js';
import { type IdList, packIds, unpackIds } from './id-list.js';

/** One page of a ranking, and whether more follows. */
export interface RankedPage {
  readonly ids: readonly string[];
  readonly hasMore: boolean;
}

/**
 * Pages of lists whose order is no chain order and changes as data arrives (by volume, by count). The first page of a walk keeps the whole
 * order; later pages of the same caller and question are cut from it. Kept per process: a walk that reaches another process is cut from the
 * order as it is there.
 */
export interface Rankings {
  /**
   * `load`: the whole order, as it is now. `begin`: how it begins, for orders that are long: later pages are cut from that as far as it goes. What comes behind it is the
   * order as it is when such a page is asked for, without what was listed before: so nothing that was there is left out, and nothing comes twice.
   */
  page(options: {
    walk: string;
    offset: number;
    limit: number;
    load: () => Promise<IdList>;
    begin?: () => Promise<Beginning>;
  }): Promise<RankedPage>;
}

/** The first ids of an order, more than a page of them, or all. */
export interface Beginning {
  readonly ids: IdList;
  readonly whole: boolean;
}

/** Its ids are held as a text outside of V8's heap: few walks go on. */
interface Kept {
  readonly whole: boolean;
  readonly weight: number;
  readonly usedMs: number;
}

const KEPT_MS = 15 * 60_000;
const MAX_IDS = 150_000;
/** An order of nothing takes its place too. */
const weightOf = (ids: IdList) => ids.length + 10;

/** A walk is forgotten a quarter of an hour after its last page, and earlier when all of them hold more than 150,000 ids. */
export function createRankings(options: { nowMs: () => number }): Rankings {
  const kept = new Map<string, Kept>();
  const texts = createTextStore();
  let held = 0;
  const forget = (walk: string) => {
    held -= kept.get(walk)?.weight ?? 0;
    kept.delete(walk);
    texts.delete(walk);
  };
  /** How a walk began that goes on; null where that is not known. */
  const begun = (walk: string): Beginning | null => {
    const found = kept.get(walk);
    const text = texts.get(walk)?.text;
    if (found === undefined || text === undefined || options.nowMs() - found.usedMs > KEPT_MS) return null;
    return { ids: unpackIds(text), whole: found.whole };
  };
  const keep = (walk: string, { ids, whole }: Beginning) => {
    forget(walk);
    const weight = weightOf(ids);
    kept.set(walk, { whole, weight, usedMs: options.nowMs() });
    texts.set(walk, { text: packIds(ids), untilS: 0 });
    held += weight;
    for (const oldest of kept.keys()) {
      if (held <= MAX_IDS || oldest === walk) break;
      forget(oldest);
    }
  };
  return {
    async page({ walk, offset, limit, load, begin }) {
      const known = offset > 0 ? begun(walk) : null;
      const first = known ?? (offset === 0 && begin !== undefined ? await begin() : null);
      const end = offset + limit;
      const enough = first !== null && (first.whole || first.ids.length > end);
      const now = enough
        ? first
        : { ids: first === null ? await load() : behind(first.ids, await load()), whole: true };
      keep(walk, now);
      return { ids: now.ids.slice(offset, end), hasMore: now.ids.length > end };
    },
  };
}

/** How an order began, and the rest of it. */
function behind(first: IdList, order: IdList): readonly string[] {
  const shown = first.slice(0, first.length);
  const before = new Set(shown);
  return [...shown, ...order.slice(0, order.length).filter((id) => !before.has(id))];
}
