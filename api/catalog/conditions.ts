import type { Lookup } from './cached-lookup.js';
import type { ConditionTokens, MarketMetadata, MetadataLookups } from './metadata.js';
import type { Resolution } from './resolution.js';

/** Catalogue and chain metadata of a condition; empty lists and nulls where unknown. */
export interface Condition {
  /** False: not in the catalogue. */
  readonly known: boolean;
  /** True if a log of the chain contains it. */
  readonly onChain: boolean;
  readonly question: string | null;
  readonly slug: string | null;
  readonly image: string | null;
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  /** null: unknown. */
  readonly negRisk: boolean | null;
  readonly outcomes: readonly string[];
  readonly tokenIds: readonly string[];
  readonly resolution: Resolution | null;
}

const conditionFrom = (
  market: MarketMetadata | null,
  chain: ConditionTokens | null,
  resolution: Resolution | null,
): Condition => ({
  known: market !== null,
  onChain: chain !== null || resolution !== null,
  question: market?.question ?? null,
  slug: market?.slug ?? null,
  image: market?.image ?? null,
  eventSlug: market?.eventSlug ?? null,
  eventTitle: market?.eventTitle ?? null,
  negRisk: chain?.negRisk ?? market?.negRisk ?? null,
  outcomes: market?.outcomes ?? [],
  tokenIds: market?.tokenIds ?? chain?.tokenIds ?? [],
  resolution,
});

/** Conditions by id. */
export function createConditionLookup({
  marketsOf,
  conditionTokensOf,
  resolutionsOf,
}: MetadataLookups): Lookup<Condition> {
  return async (ids) => {
    const [markets, chain, resolutions] = await Promise.all([
      marketsOf(ids),
      conditionTokensOf(ids),
      resolutionsOf(ids),
    ]);
    return new Map(
      ids.map((id) => [id, conditionFrom(markets.get(id) ?? null, chain.get(id) ?? null, resolutions.get(id) ?? null)]),
    );
  };
}
