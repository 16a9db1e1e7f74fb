import { compileFilters } from '../filters/compile.js';
import type { MarketLookup } from '../filters/market-lookup.js';
import { itemsToLookUp, lookUpItems, type MarketItems, marketIdsOf, unresolvedOf } from '../filters/resolve-filters.js';
import { updateFilters } from '../filters/update-filters.js';
import { type ClientMessage, countFilterItems, type ProtocolError } from '../protocol/messages.js';
import type { MarketWaits } from './market-waits.js';
import type { Peer } from './peer.js';
import type { ActiveSubscription, Subscriptions } from './subscriptions.js';

/** Returns the handler of the action `update`: adds and removes filter items of a subscription without a gap or a repeat. */
export function createUpdate(deps: {
  readonly peer: Pick<Peer, 'closed'>;
  readonly subscriptions: Pick<Subscriptions, 'get' | 'replace'>;
  readonly waiting: MarketWaits;
  readonly lookup: MarketLookup;
  readonly limitError: (items: number, replaced: ActiveSubscription) => ProtocolError | null;
  readonly noSuchSubscription: (subscriptionId: string) => void;
  readonly unavailable: (dependency: 'catalogue', error: unknown) => void;
  readonly sendError: (error: ProtocolError) => void;
  /** Sends the acknowledgement; `seq`: the newest event that the old filters examined. */
  readonly acknowledge: (subscriptionId: string, seq: number, warnings: readonly string[]) => void;
}): (message: ClientMessage & { action: 'update' }) => Promise<void> {
  const { subscriptions, sendError } = deps;
  return async ({ subscriptionId, add, remove, warnings }) => {
    const requested = subscriptions.get(subscriptionId);
    if (requested === undefined) return deps.noSuchSubscription(subscriptionId);
    const { preset } = requested;
    if (preset === 'chainlink') {
      return sendError({ code: 'invalid_message', message: 'A chainlink subscription is replaced by a new one' });
    }
    const changed = updateFilters(requested.filters, { add, remove });
    if ('code' in changed) return sendError(changed);
    const { filters } = changed;
    const items = countFilterItems(filters);
    const overLimit = deps.limitError(items, requested);
    if (overLimit !== null) return sendError(overLimit);
    let added: MarketItems;
    try {
      added = await lookUpItems(
        deps.lookup,
        itemsToLookUp(preset, { slugs: [...add.slugs], condition_ids: [...add.condition_ids] }),
      );
    } catch (error) {
      return deps.unavailable('catalogue', error);
    }
    // A replay may have ended meanwhile, and a waiting item may have appeared.
    const current = subscriptions.get(subscriptionId);
    if (deps.peer.closed) return;
    if (current === undefined) return deps.noSuchSubscription(subscriptionId);
    const markets: MarketItems = {
      slugs: selectRows(filters.slugs, current.markets.slugs, added.slugs),
      conditions: selectRows(filters.condition_ids, current.markets.conditions, added.conditions),
    };
    const reported = new Set(unresolvedOf(current.markets).map(({ type, item }) => `${type} ${item}`));
    const filter = compileFilters(preset, filters, marketIdsOf(markets, true));
    const next = { ...current, filters, markets, items, waits: true, filter };
    subscriptions.replace(current, next, (seq) =>
      deps.acknowledge(subscriptionId, seq, [
        ...warnings,
        ...changed.warnings,
        ...unresolvedOf(added).map(({ type, item }) => `${type} not found: ${item}`),
      ]),
    );
    deps.waiting.watch(next, reported);
  };
}

/** The catalogue rows of `names`; those of `added` come before those of `current`. */
function selectRows(
  names: readonly string[],
  current: MarketItems['slugs'],
  added: MarketItems['slugs'],
): MarketItems['slugs'] {
  const all = new Map([...current, ...added]);
  return new Map(names.flatMap((name) => (all.has(name) ? [[name, all.get(name) ?? []] as const] : [])));
}
