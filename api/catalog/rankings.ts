import { createTextStore } from '../cache/text-store.js';
import { type IdList, packIds, unpackIds } from './id-list.js';

/** One page of a ranking, and whether more follows. */
export interface RankedPage {
  readonly ids: readonly string[];
  readonly hasMore: boolean;
}

/**
 * Pages of lists without chain order, whose order changes as data arrives (by volume, by count). The first page of a pagination session stores the
 * order; later pages of the same caller and request are cut from it. Stored per process: a session that reaches another process gets the current order.
 */
export interface Rankings {
  /**
   * Returns one page. `load`: the whole current order. `loadPrefix`: the first ids of the order, for long orders. Pages beyond a stored prefix continue
   * with the current order without the ids of the prefix: no id is repeated, and none that stays in the list is missed.
   */
  page(options: {
    sessionKey: string;
    offset: number;
    limit: number;
    load: () => Promise<IdList>;
    loadPrefix?: () => Promise<IdPrefix>;
  }): Promise<RankedPage>;
}

/** The first ids of an order: more than one page, or all of them. */
export interface IdPrefix {
  readonly ids: IdList;
  readonly isComplete: boolean;
}

/** The ids of a session are stored as text outside of V8's heap. */
interface StoredSession {
  readonly isComplete: boolean;
  readonly weight: number;
  readonly lastUsedMs: number;
}

const SESSION_TTL_MS = 15 * 60_000;
const MAX_IDS = 150_000;
/** The constant bounds the number of sessions with few ids. */
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
      const stored = offset > 0 ? resumedPrefix(sessionKey) : null;
      const prefix = stored ?? (offset === 0 && loadPrefix !== undefined ? await loadPrefix() : null);
      const end = offset + limit;
      const enough = prefix !== null && (prefix.isComplete || prefix.ids.length > end);
      const list = enough
        ? prefix
        : { ids: prefix === null ? await load() : appendRest(prefix.ids, await load()), isComplete: true };
      store(sessionKey, list);
      return { ids: list.ids.slice(offset, end), hasMore: list.ids.length > end };
    },
  };
}

/** The prefix followed by the ids of the full order that it lacks. */
function appendRest(prefix: IdList, order: IdList): readonly string[] {
  const prefixIds = prefix.slice(0, prefix.length);
  const prefixSet = new Set(prefixIds);
  return [...prefixIds, ...order.slice(0, order.length).filter((id) => !prefixSet.has(id))];
}
