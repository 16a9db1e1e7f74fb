import type { Lookup } from '../catalog/cached-lookup.js';
import {
  type MarketMetadata,
  type MetadataLookups,
  oppositeTokenOf,
  outcomeNameOf,
  type TokenMetadata,
} from '../catalog/metadata.js';
import { numericId } from '../tables/catalog-id.js';

/** Condition and outcome index of a token (catalogue or chain) with names from the catalogue; null: unknown. */
export interface TokenTitle {
  readonly market: string | null;
  readonly slug: string | null;
  readonly outcome: string | null;
  readonly outcomeIndex: number | null;
  readonly image: string | null;
  readonly icon: string | null;
  readonly conditionId: string | null;
  /** Token of the other outcome in a market with two outcomes. */
  readonly oppositeAsset: string | null;
  readonly negRisk: boolean | null;
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  readonly eventId: number | null;
}

export const untitled: TokenTitle = {
  market: null,
  slug: null,
  outcome: null,
  outcomeIndex: null,
  image: null,
  icon: null,
  conditionId: null,
  oppositeAsset: null,
  negRisk: null,
  eventSlug: null,
  eventTitle: null,
  eventId: null,
};

/** Number of an event, derived if its id is none; null if JSON has no exact form for it. */
function eventNumber(id: string | null): number | null {
  const number = id === null || id === '' ? Number.NaN : Number(numericId(id));
  return Number.isSafeInteger(number) ? number : null;
}

const titleFrom = (token: TokenMetadata, market: MarketMetadata | null): TokenTitle => ({
  market: market?.question ?? null,
  slug: market?.slug ?? null,
  outcome: outcomeNameOf(token, market),
  outcomeIndex: token.outcomeIndex,
  image: market?.image ?? null,
  icon: market?.icon ?? null,
  conditionId: token.conditionId,
  oppositeAsset:
    token.otherTokenId ?? (market === null ? null : oppositeTokenOf({ ...token, tokenIds: market.tokenIds })),
  negRisk: token.negRisk ?? market?.negRisk ?? null,
  eventSlug: market?.eventSlug ?? null,
  eventTitle: market?.eventTitle ?? null,
  eventId: eventNumber(market?.eventId ?? null),
});

/** Looks up titles in the catalogue, with condition and outcome index from the chain as fallback. */
export function createTitles({ tokensOf, marketsOf }: MetadataLookups) {
  /** Titles by token; contains every requested token, `untitled` for unknown ones. */
  const titlesOf: Lookup<TokenTitle> = async (ids) => {
    const tokens = await tokensOf(ids);
    const markets = await marketsOf(
      [...tokens.values()].flatMap((token) => (token === null ? [] : [token.conditionId])),
    );
    const titled = ([id, token]: [string, TokenMetadata | null]): [string, TokenTitle] => [
      id,
      token === null ? untitled : titleFrom(token, markets.get(token.conditionId) ?? null),
    ];
    return new Map([...tokens].map(titled));
  };
  return {
    titlesOf,
    titleOf: async (tokenId: string) => (await titlesOf([tokenId])).get(tokenId) ?? untitled,
    /** Serializes rows with the titles of their tokens. */
    async withTitles<Row extends { readonly token_id: string }, T>(
      rows: readonly Row[],
      serialize: (row: Row, title: TokenTitle) => T,
    ): Promise<T[]> {
      const titles = await titlesOf(rows.map((row) => row.token_id));
      return rows.map((row) => serialize(row, titles.get(row.token_id) ?? untitled));
    },
  };
}
