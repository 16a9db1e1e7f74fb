import type { CompiledFilter, FilterableEvent, IndexedItems } from './compile.js';

/** An indexed value. */
interface HasFilter {
  readonly filter: CompiledFilter;
}

/** Multimap that stores a single value without a Set: most keys have one value. */
function createMultimap<V extends object>() {
  const entries = new Map<string, V | Set<V>>();
  return {
    add(key: string, value: V): void {
      const found = entries.get(key);
      if (found === undefined) entries.set(key, value);
      else if (found instanceof Set) found.add(value);
      else if (found !== value) entries.set(key, new Set([found, value]));
    },
    delete(key: string, value: V): void {
      const found = entries.get(key);
      if (found === value) entries.delete(key);
      else if (found instanceof Set) {
        found.delete(value);
        if (found.size === 0) entries.delete(key);
      }
    },
    each(key: string, visit: (value: V) => void): void {
      const found = entries.get(key);
      if (found === undefined) return;
      if (found instanceof Set) for (const value of found) visit(value);
      else visit(found);
    },
    get size() {
      return entries.size;
    },
  };
}

export interface SubscriptionIndex<S extends HasFilter> {
  add(subscription: S): void;
  remove(subscription: S): void;
  /**
   * Visits every subscription that may match, possibly more than once. `indexed`: it was found by an item, so `matchesIndexed` suffices. The visitor
   * may remove subscriptions.
   */
  candidates(
    event: FilterableEvent & { readonly channel: string },
    visit: (subscription: S, indexed: boolean) => void,
  ): void;
  /** Number of distinct items and channels in the index. */
  readonly size: number;
}

/**
 * Finds the candidate subscriptions of an event without testing all: subscriptions with items by the items of one category, all others by
 * channel.
 */
export function createSubscriptionIndex<S extends HasFilter>(): SubscriptionIndex<S> {
  const wallets = createMultimap<S>();
  const tokens = createMultimap<S>();
  const conditionIds = createMultimap<S>();
  const slugs = createMultimap<S>();
  const feeds = createMultimap<S>();
  const channels = createMultimap<S>();
  const all = [wallets, tokens, conditionIds, slugs, feeds, channels];

  const register = (subscription: S, change: 'add' | 'delete') => {
    const { index, channels: listed, unconditional } = subscription.filter;
    for (const channel of index === null ? listed : unconditional) channels[change](channel, subscription);
    if (index === null) return;
    const each = (map: ReturnType<typeof createMultimap<S>>, items: IndexedItems[keyof IndexedItems]) => {
      if (items !== undefined) for (const item of items) map[change](item, subscription);
    };
    each(wallets, index.wallets);
    each(tokens, index.tokens);
    each(conditionIds, index.conditionIds);
    each(slugs, index.slugs);
    each(feeds, index.feeds);
  };

  return {
    add: (subscription) => register(subscription, 'add'),
    remove: (subscription) => register(subscription, 'delete'),
    candidates(event, visit) {
      const indexed = (subscription: S) => visit(subscription, true);
      if (wallets.size > 0) for (const wallet of event.wallets) wallets.each(wallet, indexed);
      if (tokens.size > 0) for (const token of event.tokens) tokens.each(token, indexed);
      if (conditionIds.size > 0) for (const id of event.condition_ids) conditionIds.each(id, indexed);
      if (slugs.size > 0) for (const slug of event.slugs) slugs.each(slug, indexed);
      if (feeds.size > 0 && event.feed !== null) feeds.each(event.feed, indexed);
      channels.each(event.channel, (subscription) => visit(subscription, false));
    },
    get size() {
      return all.reduce((sum, map) => sum + map.size, 0);
    },
  };
}
