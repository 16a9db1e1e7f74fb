import type { Facts, MarketFact, Resolution, TokenFact } from '../catalogue/facts.js';
import type { Lookup } from '../catalogue/held-lookup.js';

/** What a position is about; nulls and empty lists where neither catalogue nor chain knows. */
export interface Outcome {
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
  readonly negRisk: boolean;
  readonly endMs: number | null;
  /** null: not in the catalogue. */
  readonly tagSlugs: readonly string[] | null;
  readonly status: 'live' | 'closed' | 'resolved';
  readonly resolvedAtS: number | null;
  /** The one outcome that pays; null while open and where several do. */
  readonly winner: number | null;
}

export const unknownOutcome: Outcome = {
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
  negRisk: false,
  endMs: null,
  tagSlugs: null,
  status: 'live',
  resolvedAtS: null,
  winner: null,
};

function outcomeFrom(token: TokenFact, market: MarketFact | null, resolution: Resolution | null): Outcome {
  const open = market?.closed === true ? 'closed' : 'live';
  return {
    conditionId: token.conditionId,
    market: market?.question ?? null,
    slug: market?.slug ?? null,
    image: market?.image ?? null,
    icon: market?.icon ?? null,
    eventSlug: market?.eventSlug ?? null,
    outcome: token.outcome === '' ? null : token.outcome,
    outcomeIndex: token.outcomeIndex,
    outcomes: market?.outcomes ?? [],
    tokenIds: market?.tokenIds ?? [],
    negRisk: market?.negRisk ?? false,
    endMs: market?.endMs ?? null,
    tagSlugs: market?.tagSlugs ?? null,
    status: resolution === null ? open : 'resolved',
    resolvedAtS: resolution?.resolvedAtS ?? null,
    winner: resolution?.winner ?? null,
  };
}

/** What positions are about, by token. */
export function createOutcomeLookup({ tokensOf, marketsOf, resolutionsOf }: Facts): Lookup<Outcome> {
  return async (ids) => {
    const tokens = await tokensOf(ids);
    const conditions = [...tokens.values()].flatMap((token) => (token === null ? [] : [token.conditionId]));
    const [markets, resolutions] = await Promise.all([marketsOf(conditions), resolutionsOf(conditions)]);
    const about = (token: TokenFact | null): Outcome =>
      token === null
        ? unknownOutcome
        : outcomeFrom(token, markets.get(token.conditionId) ?? null, resolutions.get(token.conditionId) ?? null);
    return new Map([...tokens].map(([id, token]) => [id, about(token)]));
  };
}
