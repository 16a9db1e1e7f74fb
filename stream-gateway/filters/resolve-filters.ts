import type { Filters, ProtocolError } from '../protocol/messages.js';
import { type PresetName, presetOf } from '../protocol/presets.js';
import type { MarketIds } from './compile.js';
import type { MarketLookup, MarketRow } from './market-lookup.js';

/** The markets of each slug and condition id of a subscription; an empty list: the catalogue does not contain it. */
export interface MarketItems {
  readonly slugs: ReadonlyMap<string, readonly MarketRow[]>;
  readonly conditions: ReadonlyMap<string, readonly MarketRow[]>;
}

export type ItemType = 'slug' | 'condition_id';

function byItem(requested: readonly string[], rows: readonly MarketRow[]): Map<string, readonly MarketRow[]> {
  const items = new Map<string, MarketRow[]>(requested.map((item) => [item, []]));
  for (const row of rows) items.get(row.requested)?.push(row);
  return items;
}

/** Looks up slugs and condition ids. Rejects when the lookup fails. */
export async function lookUpItems(
  lookup: MarketLookup,
  requested: { readonly slugs: readonly string[]; readonly conditions: readonly string[] },
): Promise<MarketItems> {
  const { slugs, conditions } = requested;
  const [bySlug, byCondition] = await Promise.all([
    slugs.length === 0 ? [] : lookup.bySlugs(slugs),
    conditions.length === 0 ? [] : lookup.byConditions(conditions),
  ]);
  return { slugs: byItem(slugs, bySlug), conditions: byItem(conditions, byCondition) };
}

/** Distinct slugs and condition ids of the filters that the catalogue has to resolve for this preset. */
export function itemsToLookUp(preset: PresetName, filters: Pick<Filters, 'slugs' | 'condition_ids'>) {
  return {
    slugs: [...new Set(filters.slugs)],
    conditions: presetOf(preset).literalConditionIds === true ? [] : [...new Set(filters.condition_ids)],
  };
}

/** Items without a market, in request order. */
export function unresolvedOf(items: MarketItems): { readonly type: ItemType; readonly item: string }[] {
  const of = (type: ItemType, map: MarketItems['slugs']) =>
    [...map].flatMap(([item, rows]) => (rows.length === 0 ? [{ type, item }] : []));
  return [...of('slug', items.slugs), ...of('condition_id', items.conditions)];
}

/** Error if no item of a list resolved: a subscription that does not wait for them would never match. */
export function rejectionOf(items: MarketItems): ProtocolError | null {
  for (const [type, map] of [
    ['slug', items.slugs],
    ['condition_id', items.conditions],
  ] as const) {
    if (map.size === 0 || [...map.values()].some((rows) => rows.length > 0)) continue;
    return {
      code: type === 'slug' ? 'unresolved_slugs' : 'unresolved_condition_ids',
      message: `No ${type} is known: ${[...map.keys()].slice(0, 10).join(', ').slice(0, 500)}`,
    };
  }
  return null;
}

/** Tokens and conditions of the items. `waits`: items are also compared literally, so that a market matches before the catalogue has it. */
export function marketIdsOf(
  items: MarketItems,
  waits: boolean,
): { readonly slugs: MarketIds | null; readonly conditions: MarketIds | null } {
  const idsOf = (map: MarketItems['slugs']) => {
    const rows = [...map.values()].flat();
    return {
      tokens: new Set(rows.map((row) => row.token_id)),
      conditionIds: new Set(rows.map((row) => row.condition_id)),
    };
  };
  const slugs = items.slugs.size === 0 ? null : idsOf(items.slugs);
  const conditions = items.conditions.size === 0 ? null : idsOf(items.conditions);
  if (!waits) return { slugs, conditions };
  for (const id of items.conditions.keys()) conditions?.conditionIds.add(id);
  return { slugs: slugs === null ? null : { ...slugs, slugs: new Set(items.slugs.keys()) }, conditions };
}
