import type { MarketRow } from './market-lookup.js';
import { type ItemType, type MarketItems, unresolvedOf } from './resolve-filters.js';
import type { UnresolvedWatch } from './unresolved-watch.js';

/** The unknown slugs and condition ids that the subscriptions of one connection wait for. */
export interface WaitingMarkets {
  /** Waits for the unknown ones of `markets`, and no longer for others. Call again after a change of the filters. */
  watch(subscriptionId: string, markets: MarketItems): void;
  /** Ends the waiting of one subscription, or of all. */
  forget(subscriptionId?: string): void;
}

export function createWaitingMarkets(deps: {
  watch: UnresolvedWatch;
  /** Called when an item has appeared. */
  onResolved: (subscriptionId: string, type: ItemType, item: string, rows: readonly MarketRow[]) => void;
}): WaitingMarkets {
  /** Cancels, by item. */
  const waiting = new Map<string, Map<string, () => void>>();
  return {
    watch(subscriptionId, markets) {
      const before = waiting.get(subscriptionId) ?? new Map<string, () => void>();
      const after = new Map<string, () => void>();
      for (const { type, item } of unresolvedOf(markets)) {
        const key = `${type} ${item}`;
        const cancel =
          before.get(key) ??
          deps.watch.add(type, item, (...found) => {
            after.delete(key);
            deps.onResolved(subscriptionId, ...found);
          });
        before.delete(key);
        after.set(key, cancel);
      }
      for (const cancel of before.values()) cancel();
      if (after.size === 0) waiting.delete(subscriptionId);
      else waiting.set(subscriptionId, after);
    },
    forget(subscriptionId) {
      for (const id of subscriptionId === undefined ? [...waiting.keys()] : [subscriptionId]) {
        for (const cancel of waiting.get(id)?.values() ?? []) cancel();
        waiting.delete(id);
      }
    },
  };
}
