import { yieldToEventLoop } from '../../infra/event-loop.js';
import type { MarketLookup, MarketRow } from './market-lookup.js';
import type { ItemType } from './resolve-filters.js';

/** Bound of the items of one lookup; further ones wait for the next. */
const MAX_ITEMS_PER_POLL = 1_000;

/** An item that the catalogue contains now, with its markets. */
export interface ResolvedItem {
  readonly type: ItemType;
  readonly item: string;
  readonly rows: readonly MarketRow[];
}

export type OnResolved = (items: readonly ResolvedItem[]) => void;

/** Waits for slugs and condition ids that the catalogue does not contain yet. */
export interface UnresolvedWatch {
  /** Calls back once, when the item appears, with all items of the same function that appear together. Returns a function that cancels. */
  add(type: ItemType, item: string, onResolved: OnResolved): () => void;
  close(): void;
}

/** Items of one type, and who waits for each. */
function createWaitingItems() {
  const waitersOf = new Map<string, Set<OnResolved>>();
  const itemsOf = new Map<OnResolved, Set<string>>();
  const remove = (item: string, waiter: OnResolved) => {
    const waiters = waitersOf.get(item);
    if (waiters?.delete(waiter) !== true) return;
    if (waiters.size === 0) waitersOf.delete(item);
    const items = itemsOf.get(waiter);
    items?.delete(item);
    if (items?.size === 0) itemsOf.delete(waiter);
  };
  return {
    add(item: string, waiter: OnResolved) {
      const waiters = waitersOf.get(item) ?? new Set();
      waitersOf.set(item, waiters.add(waiter));
      const items = itemsOf.get(waiter) ?? new Set();
      itemsOf.set(waiter, items.add(item));
    },
    remove,
    /** Removes the item; returns who waited for it. */
    take(item: string): readonly OnResolved[] {
      const waiters = [...(waitersOf.get(item) ?? [])];
      for (const waiter of waiters) remove(item, waiter);
      return waiters;
    },
    /**
     * The next items to look up, at most `limit`: one of each waiter, then a second one of each, and so on, so that a waiter with many items does not
     * delay others. They are the last ones of their waiters afterwards, and the waiters the last of all.
     */
    next(limit: number): ReadonlySet<string> {
      const items = new Set<string>();
      const taken: { readonly waiter: OnResolved; readonly own: Set<string>; readonly item: string }[] = [];
      let turns = [...itemsOf].map(([waiter, own]) => ({ waiter, own, rest: own.values() }));
      while (turns.length > 0 && items.size < limit) {
        turns = turns.filter(({ waiter, own, rest }) => {
          if (items.size === limit) return false;
          const { value: item } = rest.next();
          if (item === undefined) return false;
          items.add(item);
          taken.push({ waiter, own, item });
          return true;
        });
      }
      for (const { waiter, own, item } of taken) {
        own.delete(item);
        own.add(item);
        itemsOf.delete(waiter);
        itemsOf.set(waiter, own);
      }
      return items;
    },
  };
}

/** Looks the waiting items of all connections up, every `pollMs`. */
export function createUnresolvedWatch(deps: {
  lookup: MarketLookup;
  onError: (error: unknown) => void;
  pollMs: number;
}): UnresolvedWatch {
  const waiting = { slug: createWaitingItems(), condition_id: createWaitingItems() };
  let polling = false;

  const pollType = async (type: ItemType, resolved: Map<OnResolved, ResolvedItem[]>) => {
    const items = [...waiting[type].next(MAX_ITEMS_PER_POLL)];
    if (items.length === 0) return;
    const rows = await (type === 'slug' ? deps.lookup.bySlugs(items) : deps.lookup.byConditions(items));
    const found = new Map<string, MarketRow[]>();
    for (const row of rows) {
      const markets = found.get(row.requested) ?? [];
      found.set(row.requested, markets);
      markets.push(row);
    }
    for (const item of items) {
      const rows = found.get(item);
      if (rows === undefined) continue;
      for (const onResolved of waiting[type].take(item)) {
        const items = resolved.get(onResolved) ?? [];
        resolved.set(onResolved, items);
        items.push({ type, item, rows });
      }
    }
  };
  const poll = async () => {
    if (polling) return;
    polling = true;
    const resolved = new Map<OnResolved, ResolvedItem[]>();
    try {
      for (const type of ['slug', 'condition_id'] as const) await pollType(type, resolved).catch(deps.onError);
      for (const [onResolved, items] of resolved) {
        onResolved(items);
        await yieldToEventLoop();
      }
    } catch (error) {
      deps.onError(error);
    } finally {
      polling = false;
    }
  };
  const timer = setInterval(() => void poll(), deps.pollMs);

  return {
    add(type, item, onResolved) {
      waiting[type].add(item, onResolved);
      return () => waiting[type].remove(item, onResolved);
    },
    close: () => clearInterval(timer),
  };
}
