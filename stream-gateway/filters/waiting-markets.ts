import { type MarketItems, unresolvedOf } from './resolve-filters.js';
import type { OnResolved, ResolvedItem, UnresolvedWatch } from './unresolved-watch.js';

/** The unknown slugs and condition ids that the subscriptions of one connection wait for. */
export interface WaitingMarkets {
  /** Waits for the unknown ones of `markets`, and no longer for others. Call again after a change of the filters. */
  watch(subscriptionId: string, markets: MarketItems): void;
  /** Ends the waiting of one subscription, or of all. */
  forget(subscriptionId?: string): void;
}

export function createWaitingMarkets(deps: {
  watch: UnresolvedWatch;
  /** Called when items have appeared. */
  onResolved: (subscriptionId: string, items: readonly ResolvedItem[]) => void;
}): WaitingMarkets {
  /** By subscription: what to call, and how to cancel each item. */
  const waiting = new Map<string, { readonly onResolved: OnResolved; readonly cancels: Map<string, () => void> }>();
  const keyOf = ({ type, item }: Pick<ResolvedItem, 'type' | 'item'>) => `${type} ${item}`;
  const createOnResolved =
    (subscriptionId: string): OnResolved =>
    (items) => {
      const cancels = waiting.get(subscriptionId)?.cancels;
      for (const key of items.map(keyOf)) {
        cancels?.get(key)?.();
        cancels?.delete(key);
      }
      if (cancels?.size === 0) waiting.delete(subscriptionId);
      deps.onResolved(subscriptionId, items);
    };
  return {
    watch(subscriptionId, markets) {
      const before = waiting.get(subscriptionId);
      const onResolved = before?.onResolved ?? createOnResolved(subscriptionId);
      const cancels = new Map<string, () => void>();
      for (const unresolved of unresolvedOf(markets)) {
        const key = keyOf(unresolved);
        const cancel = before?.cancels.get(key) ?? deps.watch.add(unresolved.type, unresolved.item, onResolved);
        before?.cancels.delete(key);
        cancels.set(key, cancel);
      }
      for (const cancel of before?.cancels.values() ?? []) cancel();
      if (cancels.size === 0) waiting.delete(subscriptionId);
      else waiting.set(subscriptionId, { onResolved, cancels });
    },
    forget(subscriptionId) {
      for (const id of subscriptionId === undefined ? [...waiting.keys()] : [subscriptionId]) {
        for (const cancel of waiting.get(id)?.cancels.values() ?? []) cancel();
        waiting.delete(id);
      }
    },
  };
}
