import { venueTokenPairs } from '../../schemas/primitives/venue-tokens.js';
import type { Tables } from '../tables/port.js';
import type { Lookup } from './cached-lookup.js';
import type { ConditionTokens } from './condition-tokens.js';
import { marketBySlugSql, type SluggedMarketRow } from './markets.sql.js';
import type { MarketMetadata, MetadataLookups } from './metadata.js';
import type { Resolution } from './resolution.js';
import { tradedTokensAmong } from './traded-tokens.js';

/** Catalogue and chain metadata of a condition; an empty list and nulls where unknown. */
export interface Condition {
  readonly conditionId: string;
  /** null: not in the catalogue. */
  readonly market: MarketMetadata | null;
  /** True if a log of the chain contains it, or fills of the tokens that derive from its id. Of a market that the catalogue lists with tokens: if a log names these, or settled it. */
  readonly onChain: boolean;
  /** null: unknown. */
  readonly negRisk: boolean | null;
  readonly tokenIds: readonly string[];
  readonly resolution: Resolution | null;
}

/** Whether catalogue or chain has the condition. */
export const isKnown = (condition: Condition | undefined): condition is Condition =>
  condition !== undefined && (condition.market !== null || condition.onChain);

const conditionFrom = (
  conditionId: string,
  market: MarketMetadata | null,
  chain: ConditionTokens | null,
  resolution: Resolution | null,
  traded: readonly string[] | null,
): Condition => ({
  conditionId,
  market,
  onChain: chain !== null || resolution !== null || traded !== null,
  negRisk: chain?.negRisk ?? market?.negRisk ?? null,
  // The catalogue lists some markets without tokens.
  tokenIds: (market?.tokenIds.length ? market.tokenIds : (chain?.tokenIds ?? traded)) ?? [],
  resolution,
});

/** Condition of the market with a slug; undefined if the catalogue lists none. */
export const conditionIdOfSlug = async (tables: Tables, slug: string): Promise<string | undefined> =>
  (await tables.rows<SluggedMarketRow>(marketBySlugSql(slug)))[0]?.condition_id;

/** Names a market by one of the two. */
export interface MarketName {
  readonly conditionId?: string;
  readonly marketSlug?: string;
}

/** The condition with an id or of the market with a slug; null if neither catalogue nor chain knows it. */
export async function knownCondition(
  { tables, conditionsOf }: { readonly tables: Tables; readonly conditionsOf: Lookup<Condition> },
  { conditionId, marketSlug }: MarketName,
): Promise<Condition | null> {
  const id = conditionId ?? (marketSlug === undefined ? undefined : await conditionIdOfSlug(tables, marketSlug));
  const condition = id === undefined ? undefined : (await conditionsOf([id])).get(id);
  return isKnown(condition) ? condition : null;
}

/** Conditions by id. */
export function createConditionLookup({
  tables,
  metadata: { tokensOf, marketsOf, conditionTokensOf, resolutionsOf },
}: {
  tables: Tables;
  metadata: MetadataLookups;
}): Lookup<Condition> {
  /** The pair of each condition whose tokens have fills. */
  const tradedPairs = async (ids: readonly string[]) => {
    const pairs = ids.flatMap((id) => venueTokenPairs(id).map((pair) => ({ id, pair })));
    const traded = await tradedTokensAmong(
      tables,
      pairs.flatMap(({ pair }) => pair),
    );
    return new Map(
      pairs.flatMap(({ id, pair }) => (pair.some((token) => traded.has(token)) ? [[id, pair] as const] : [])),
    );
  };
  /** Tokens of conditions according to the chain: those that the catalogue lists, if the chain names them, and the pair that it names of others. */
  const chainTokensOf = async (ids: readonly string[], markets: ReadonlyMap<string, MarketMetadata | null>) => {
    const listed = (id: string) => markets.get(id)?.tokenIds ?? [];
    const tokens = await tokensOf(ids.flatMap((id) => listed(id).slice(0, 1)));
    const chain = new Map<string, ConditionTokens | null>();
    for (const id of ids.filter((one) => listed(one).length > 0)) {
      const token = tokens.get(listed(id)[0] ?? '') ?? null;
      const isNamed = token?.conditionId === id && token.negRisk !== null;
      chain.set(id, isNamed ? { tokenIds: listed(id), negRisk: token.negRisk } : null);
    }
    for (const [id, named] of await conditionTokensOf(ids.filter((id) => !chain.has(id)))) chain.set(id, named);
    return chain;
  };
  return async (ids) => {
    const [markets, resolutions] = await Promise.all([marketsOf(ids), resolutionsOf(ids)]);
    const chain = await chainTokensOf(ids, markets);
    // History can begin after the log that names a condition; its tokens derive from its id. Lists of events have no such conditions.
    const named = (id: string) => markets.get(id) ?? chain.get(id) ?? resolutions.get(id) ?? null;
    const traded = await tradedPairs(ids.filter((id) => named(id) === null));
    return new Map(
      ids.map((id) => [
        id,
        conditionFrom(
          id,
          markets.get(id) ?? null,
          chain.get(id) ?? null,
          resolutions.get(id) ?? null,
          traded.get(id) ?? null,
        ),
      ]),
    );
  };
}
