import type { Filters, ProtocolError } from '../protocol/messages.js';
import { type PresetName, presetOf } from '../protocol/presets.js';
import type { MarketIds } from './compile.js';
import { type MarketLookup, type Resolution, toResolution } from './market-lookup.js';

export interface ResolvedFilters {
  readonly slugs: MarketIds | null;
  readonly conditions: MarketIds | null;
  /** Warnings for the client about items that the catalogue does not contain. */
  readonly warnings: readonly string[];
}

/** Error if no item of a list resolved: the subscription would never match. */
function rejectionOf(
  resolution: Resolution | null,
  requested: readonly string[],
  itemType: 'slug' | 'condition_id',
): ProtocolError | null {
  if (resolution === null || resolution.missing.length < requested.length) return null;
  return {
    code: itemType === 'slug' ? 'unresolved_slugs' : 'unresolved_condition_ids',
    message: `No ${itemType} is known: ${requested.slice(0, 10).join(', ').slice(0, 500)}`,
  };
}

/** Looks up the distinct slugs and condition ids of a subscription. Rejects when the lookup fails. */
export async function resolveFilters(
  lookup: MarketLookup,
  preset: PresetName,
  filters: Filters,
): Promise<ResolvedFilters | ProtocolError> {
  const slugs = [...new Set(filters.slugs)];
  const conditionIds = presetOf(preset).literalConditionIds === true ? [] : [...new Set(filters.condition_ids)];
  const [bySlug, byCondition] = await Promise.all([
    slugs.length === 0 ? null : lookup.bySlugs(slugs).then((rows) => toResolution(slugs, rows)),
    conditionIds.length === 0
      ? null
      : lookup.byConditions(conditionIds).then((rows) => toResolution(conditionIds, rows)),
  ]);
  const rejection = rejectionOf(bySlug, slugs, 'slug') ?? rejectionOf(byCondition, conditionIds, 'condition_id');
  if (rejection !== null) return rejection;
  return {
    slugs: bySlug?.sets ?? null,
    conditions: byCondition?.sets ?? null,
    warnings: [
      ...(bySlug?.missing ?? []).map((slug) => `slug not found: ${slug}`),
      ...(byCondition?.missing ?? []).map((id) => `condition_id not found: ${id}`),
    ],
  };
}
