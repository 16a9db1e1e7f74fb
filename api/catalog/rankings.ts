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
    sessionKey: string;
    offset: number;
    limit: number;
    load: () => Promise<IdList>;
    loadPrefix?: () => Promise<IdPrefix>;
  }): Promise<RankedPage>;
}

/** The first ids of an order: more than a page, or all. */
export interface IdPrefix {
  readonly ids: IdList;
  readonly isComplete: boolean;
}

/** The ids of a session are kept as text outside of V8's heap. */
interface StoredSession {
  readonly isComplete: boolean;
  readonly weight: number;
  readonly lastUsedMs: number;
}

const SESSION_TTL_MS = 15 * 60_000;
const MAX_IDS = 150_000;
/** An empty order has a weight too. */
const weightOf = (ids: IdList) => ids.length + 10;

/** A session expires 15 minutes after its last page, and earlier when all sessions together have more than 150,000 ids. */
export function createRankings(options: { nowMs: () => number }): Rankings {
  const sessions = new Map<string, StoredSession>();
  const texts = createTextStore();
  let totalWeight = 0;
  const drop = (sessionKey: string) => {
    totalWeight -= sessions.get(sessionKey)?.weight ?? 0;
    sessions.delete(sessionKey);
    texts.delete(sessionKey);
  };
  /** Stored prefix of a session; null if unknown or expired. */
  const resumedPrefix = (sessionKey: string): IdPrefix | null => {
    const found = sessions.get(sessionKey);
    const text = texts.get(sessionKey)?.text;
    if (found === undefined || text === undefined || options.nowMs() - found.lastUsedMs > SESSION_TTL_MS) return null;
    return { ids: unpackIds(text), isComplete: found.isComplete };
  };
  const store = (sessionKey: string, { ids, isComplete }: IdPrefix) => {
    drop(sessionKey);
    const weight = weightOf(ids);
    sessions.set(sessionKey, { isComplete, weight, lastUsedMs: options.nowMs() });
    texts.set(sessionKey, { text: packIds(ids), expiresAtS: 0 });
    totalWeight += weight;
    for (const oldest of sessions.keys()) {
      if (totalWeight <= MAX_IDS || oldest === sessionKey) break;
      drop(oldest);
    }
  };
  return {
    async page({ sessionKey, offset, limit, load, loadPrefix }) {
      const known = offset > 0 ? resumedPrefix(sessionKey) : null;
      const first = known ?? (offset === 0 && loadPrefix !== undefined ? await loadPrefix() : null);
      const end = offset + limit;
      const enough = first !== null && (first.isComplete || first.ids.length > end);
      const now = enough
        ? first
        : { ids: first === null ? await load() : appendRest(first.ids, await load()), isComplete: true };
      store(sessionKey, now);
      return { ids: now.ids.slice(offset, end), hasMore: now.ids.length > end };
    },
  };
}

/** The prefix followed by the ids of the full order that it lacks. */
function appendRest(first: IdList, order: IdList): readonly string[] {
  const shown = first.slice(0, first.length);
  const before = new Set(shown);
  return [...shown, ...order.slice(0, order.length).filter((id) => !before.has(id))];
}
