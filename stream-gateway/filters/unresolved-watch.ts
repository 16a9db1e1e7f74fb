import type { MarketLookup, MarketRow } from './market-lookup.js';
import type { ItemType } from './resolve-filters.js';

/** Bound of the items of one lookup; further ones wait for the next. */
const MAX_ITEMS_PER_POLL = 1_000;

export type OnResolved = (type: ItemType, item: string, rows: readonly MarketRow[]) => void;

/** Waits for slugs and condition ids that the catalogue does not contain yet. */
export interface UnresolvedWatch {
  /** Calls back once, when the item appears. Returns a function that cancels. */
  add(type: ItemType, item: string, onResolved: OnResolved): () => void;
  close(): void;
}

/** Looks all waiting items of all connections up together, every `pollMs`. */
export function createUnresolvedWatch(deps: {
  lookup: MarketLookup;
  onError: (error: unknown) => void;
  pollMs: number;
}): UnresolvedWatch {
  const waiting: Record<ItemType, Map<string, Set<OnResolved>>> = { slug: new Map(), condition_id: new Map() };
  let polling = false;

  const pollType = async (type: ItemType) => {
    const items = [...waiting[type].keys()].slice(0, MAX_ITEMS_PER_POLL);
    if (items.length === 0) return;
    const rows = await (type === 'slug' ? deps.lookup.bySlugs(items) : deps.lookup.byConditions(items));
    const found = new Map<string, MarketRow[]>();
    for (const row of rows) found.set(row.requested, [...(found.get(row.requested) ?? []), row]);
    for (const item of items) {
      const callbacks = waiting[type].get(item);
      if (callbacks === undefined) continue;
      waiting[type].delete(item);
      const markets = found.get(item);
      if (markets !== undefined) for (const onResolved of [...callbacks]) onResolved(type, item, markets);
      // To the end of the order, so that every item has its turn.
      else waiting[type].set(item, callbacks);
    }
  };
  const poll = async () => {
    if (polling) return;
    polling = true;
    try {
      await pollType('slug');
      await pollType('condition_id');
    } catch (error) {
      deps.onError(error);
    } finally {
      polling = false;
    }
  };
  const timer = setInterval(() => void poll(), deps.pollMs);

  return {
    add(type, item, onResolved) {
      const callbacks = waiting[type].get(item) ?? new Set();
      waiting[type].set(item, callbacks);
      callbacks.add(onResolved);
      return () => {
        callbacks.delete(onResolved);
        if (callbacks.size === 0 && waiting[type].get(item) === callbacks) waiting[type].delete(item);
      };
    },
    close: () => clearInterval(timer),
  };
}
