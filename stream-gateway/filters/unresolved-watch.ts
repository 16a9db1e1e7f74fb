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

/** Looks all waiting items of all connections up together, every `pollMs`. */
export function createUnresolvedWatch(deps: {
  lookup: MarketLookup;
  onError: (error: unknown) => void;
  pollMs: number;
}): UnresolvedWatch {
  const waiting: Record<ItemType, Map<string, Set<OnResolved>>> = { slug: new Map(), condition_id: new Map() };
  let polling = false;

  const pollType = async (type: ItemType, resolved: Map<OnResolved, ResolvedItem[]>) => {
    const items = [...waiting[type].keys()].slice(0, MAX_ITEMS_PER_POLL);
    if (items.length === 0) return;
    const rows = await (type === 'slug' ? deps.lookup.bySlugs(items) : deps.lookup.byConditions(items));
    const found = new Map<string, MarketRow[]>();
    for (const row of rows) {
      const markets = found.get(row.requested) ?? [];
      found.set(row.requested, markets);
      markets.push(row);
    }
    for (const item of items) {
      const callbacks = waiting[type].get(item);
      if (callbacks === undefined) continue;
      waiting[type].delete(item);
      const rows = found.get(item);
      if (rows === undefined) {
        // To the end of the order, so that every item has its turn.
        waiting[type].set(item, callbacks);
        continue;
      }
      for (const onResolved of callbacks) {
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
