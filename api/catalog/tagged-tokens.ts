import type { MetadataLookups } from './metadata.js';

/** Of the given tokens those whose market has at least one tag of each list. */
export type TaggedTokens = (
  tokenIds: readonly string[],
  lists: readonly (readonly string[])[],
) => Promise<ReadonlySet<string>>;

/** Creates the selection from cached metadata, which a page needs anyway. */
export const createTaggedTokens =
  ({ tokensOf, marketsOf }: Pick<MetadataLookups, 'tokensOf' | 'marketsOf'>): TaggedTokens =>
  async (tokenIds, lists) => {
    const tokens = await tokensOf(tokenIds);
    const conditionOf = (tokenId: string) => tokens.get(tokenId)?.conditionId ?? '';
    const markets = await marketsOf([...new Set(tokenIds.map(conditionOf))]);
    // Like the tables, which have the tags of the tokens that the catalogue names.
    const tagsOf = (tokenId: string) => {
      const market = markets.get(conditionOf(tokenId)) ?? null;
      return market?.tokenIds.includes(tokenId) === true ? market.tagSlugs : [];
    };
    return new Set(
      tokenIds.filter((tokenId) => lists.every((tags) => tags.some((tag) => tagsOf(tokenId).includes(tag)))),
    );
  };
