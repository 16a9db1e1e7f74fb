import type { Filters, ProtocolError } from '../protocol/messages.js';

/** Lists of filters that an update can change. */
export const updatableFilters = ['wallets', 'tokens', 'slugs', 'condition_ids'] as const;
export type UpdatableFilter = (typeof updatableFilters)[number];
export type FilterLists = Readonly<Record<UpdatableFilter, readonly string[]>>;

/** The filters with items removed and added. Error if a list would lose its last item: an empty list is no filter, so it would match everything. */
export function updateFilters(
  filters: Filters,
  change: { readonly add: FilterLists; readonly remove: FilterLists },
): { readonly filters: Filters; readonly warnings: readonly string[] } | ProtocolError {
  const updated = { ...filters };
  const warnings: string[] = [];
  for (const name of updatableFilters) {
    const removed = new Set(change.remove[name]);
    const before = new Set(name === 'tokens' ? [...filters.tokens, ...filters.markets] : filters[name]);
    for (const item of removed) if (!before.has(item)) warnings.push(`not in ${name}: ${item.slice(0, 100)}`);
    const after = [...new Set([...[...before].filter((item) => !removed.has(item)), ...change.add[name]])];
    if (after.length === 0 && before.size > 0) {
      return {
        code: 'invalid_message',
        message: `The last item of ${name} cannot be removed: unsubscribe, or add another`,
      };
    }
    updated[name] = after;
    if (name === 'tokens') updated.markets = [];
  }
  return { filters: updated, warnings };
}
