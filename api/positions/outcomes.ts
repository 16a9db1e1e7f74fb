import { isComboPosition } from '../../schemas/primitives/combo-ids.js';
import type { Lookup } from '../catalog/cached-lookup.js';
import { type MarketMetadata, type MetadataLookups, outcomeNameOf, type TokenMetadata } from '../catalog/metadata.js';
import type { Resolution } from '../catalog/resolution.js';

/** Market and outcome metadata of a position; nulls and empty lists if neither catalogue nor chain has it. */
export interface OutcomeMetadata {
  readonly conditionId: string | null;
  readonly market: string | null;
  readonly slug: string | null;
  readonly image: string | null;
  readonly icon: string | null;
  readonly eventSlug: string | null;
  readonly outcome: string | null;
  readonly outcomeIndex: number | null;
  /** Names and tokens of all outcomes of the market. */
  readonly outcomes: readonly string[];
  readonly tokenIds: readonly string[];
  /** null: unknown. */
  readonly negRisk: boolean | null;
  readonly endMs: number | null;
  /** null: not in the catalogue. */
  readonly tagSlugs: readonly string[] | null;
  readonly status: 'live' | 'closed' | 'resolved';
  readonly resolvedAtS: number | null;
  /** Index of the only outcome with a payout; null before the settlement and if several outcomes pay. */
  readonly winner: number | null;
}

export const unknownOutcomeMetadata: OutcomeMetadata = {
  conditionId: null,
  market: null,
  slug: null,
  image: null,
  icon: null,
  eventSlug: null,
  outcome: null,
  outcomeIndex: null,
  outcomes: [],
  tokenIds: [],
  negRisk: null,
  endMs: null,
  tagSlugs: null,
  status: 'live',
  resolvedAtS: null,
  winner: null,
};

/** Both tokens of a condition in outcome order, from the chain metadata of one of them. */
function chainTokenPair(tokenId: string, { outcomeIndex, otherTokenId }: TokenMetadata): readonly string[] {
  if (otherTokenId === null) return [];
  return outcomeIndex === 0 ? [tokenId, otherTokenId] : [otherTokenId, tokenId];
}

function outcomeMetadataFrom(
  tokenId: string,
  token: TokenMetadata,
  market: MarketMetadata | null,
  resolution: Resolution | null,
): OutcomeMetadata {
  const open = market?.closed === true ? 'closed' : 'live';
  return {
    conditionId: token.conditionId,
    market: market?.question ?? null,
    slug: market?.slug ?? null,
    image: market?.image ?? null,
    icon: market?.icon ?? null,
    eventSlug: market?.eventSlug ?? null,
    outcome: outcomeNameOf(token, market) || null,
    outcomeIndex: token.outcomeIndex,
    outcomes: market?.outcomes ?? [],
    tokenIds: market?.tokenIds.length ? market.tokenIds : chainTokenPair(tokenId, token),
    negRisk: token.negRisk ?? market?.negRisk ?? null,
    endMs: market?.endMs ?? null,
    tagSlugs: market?.tagSlugs ?? null,
    status: resolution === null ? open : 'resolved',
    resolvedAtS: resolution?.resolvedAtS ?? null,
    winner: resolution?.winner ?? null,
  };
}

/** Looks up outcome metadata by token. */
export function createOutcomeMetadataLookup({
  tokensOf,
  marketsOf,
  resolutionsOf,
  exchangeNegRiskOf,
}: MetadataLookups): Lookup<OutcomeMetadata> {
  return async (ids) => {
    const tokens = await tokensOf(ids);
    const conditions = [...tokens.values()].flatMap((token) => (token === null ? [] : [token.conditionId]));
    const [markets, resolutions] = await Promise.all([marketsOf(conditions), resolutionsOf(conditions)]);
    const metadataOf = (id: string, token: TokenMetadata | null): OutcomeMetadata =>
      token === null
        ? unknownOutcomeMetadata
        : outcomeMetadataFrom(
            id,
            token,
            markets.get(token.conditionId) ?? null,
            resolutions.get(token.conditionId) ?? null,
          );
    const found = new Map([...tokens].map(([id, token]) => [id, metadataOf(id, token)]));
    const unknown = [...found].flatMap(([id, { negRisk }]) => (negRisk === null && !isComboPosition(id) ? [id] : []));
    if (unknown.length === 0) return found;
    for (const [id, negRisk] of await exchangeNegRiskOf(unknown)) {
      const metadata = found.get(id);
      if (metadata !== undefined) found.set(id, { ...metadata, negRisk });
    }
    return found;
  };
}
