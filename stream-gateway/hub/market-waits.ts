import { compileFilters } from '../filters/compile.js';
import { marketIdsOf, unresolvedOf } from '../filters/resolve-filters.js';
import type { UnresolvedWatch } from '../filters/unresolved-watch.js';
import { createWaitingMarkets } from '../filters/waiting-markets.js';
import type { ActiveSubscription, Subscriptions } from './subscriptions.js';

/** The unknown markets of a connection's subscriptions: reported one by one, and added to the filter once the catalogue has them. */
export interface MarketWaits {
  /** Reports the subscription's unknown items that are not in `reported` ("type item"), and waits for all of them. */
  watch(subscription: ActiveSubscription, reported: ReadonlySet<string>): void;
  /** Ends the waiting of one subscription; without an id of all. */
  forget(subscriptionId?: string): void;
}

export function createMarketWaits(deps: {
  /** Shared by all connections of the server. */
  readonly watch: UnresolvedWatch;
  readonly subscriptions: Pick<Subscriptions, 'get' | 'replace'>;
  readonly nowMs: () => number;
  readonly notify: (frame: object) => void;
  /** Whether the connection has ended: a client that reads too slowly is closed by what is sent to it. */
  readonly closed: () => boolean;
  /** The fields that say a position in the stream. */
  readonly at: (seq: number) => object;
}): MarketWaits {
  const { subscriptions, at } = deps;
  const notice = (code: string, subscriptionId: string, fields: object) =>
    deps.notify({ type: 'notice', code, ts: deps.nowMs(), subscription_id: subscriptionId, ...fields });
  const waiting = createWaitingMarkets({
    watch: deps.watch,
    onResolved(id, items) {
      const current = subscriptions.get(id);
      if (current === undefined) return;
      const markets = { slugs: new Map(current.markets.slugs), conditions: new Map(current.markets.conditions) };
      // An update may have removed some meanwhile.
      const wanted = items.filter(({ type, item, rows }) => {
        const map = type === 'slug' ? markets.slugs : markets.conditions;
        if (!map.has(item)) return false;
        map.set(item, rows);
        return true;
      });
      if (wanted.length === 0) return;
      const filter = compileFilters(current.preset, current.filters, marketIdsOf(markets, true));
      subscriptions.replace(current, { ...current, markets, filter }, (seq) => {
        for (const { type, item } of wanted) notice('resolved', id, { [type]: item, ...at(seq) });
      });
    },
  });
  return {
    watch({ id, waits, markets }, reported) {
      if (!waits) return;
      for (const { type, item } of unresolvedOf(markets)) {
        if (!reported.has(`${type} ${item}`)) notice('unresolved', id, { [type]: item });
      }
      if (!deps.closed()) waiting.watch(id, markets);
    },
    forget: waiting.forget,
  };
}
