import { moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import type { MarketMetadata } from '../catalog-model.js';
import { distinct } from './frame.js';

const PRICE_DECIMALS = 6;

/** usdc / shares rounded half up to 6 decimals; 0 for a fill of zero shares. */
export const price = (usdc: bigint, shares: bigint): number => priceNumber(usdc, shares, PRICE_DECIMALS) ?? 0;

/** Base units as whole units. */
export const toUnits = (amount: bigint): number => moneyToNumber(amount);

/** `v2`, `v3`; V1 has no such field. */
export const exchangeVersionField = (version: number): { exchange_version?: string } =>
  version === 1 ? {} : { exchange_version: `v${version}` };

/** Outcome label of a token of that market. */
export function outcomeOf(market: MarketMetadata | undefined, tokenId: string): { outcome?: string } {
  const outcome = market?.outcomes[market.tokenIds.indexOf(tokenId)];
  return outcome === undefined ? {} : { outcome };
}

const definedFields = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));

/** Token id -> label. */
export const tokenLabels = (market: MarketMetadata): Record<string, string> =>
  Object.fromEntries(market.tokenIds.map((tokenId, index) => [tokenId, market.outcomes[index] ?? '']));

/** Title, slug and image of market and event, without fields of single outcomes. */
export function marketFields(market: MarketMetadata | undefined): Record<string, unknown> {
  if (market === undefined) return {};
  return definedFields({
    market_title: market.title,
    market_slug: market.slug,
    market_image: market.image,
    event_title: market.eventTitle,
  });
}

/** The enrichment of an event about all outcomes of a market; empty while the market is unknown. */
export function wholeMarketEnrichment(market: MarketMetadata | undefined): Record<string, unknown> {
  if (market === undefined) return {};
  return {
    ...marketFields(market),
    tokens: tokenLabels(market),
    neg_risk: market.negRisk,
    ...definedFields({ tick_size: market.tickSize }),
    taker_base_fee: market.takerBaseFee,
  };
}

/** The complete enrichment of an event about one token; empty while the market is unknown. */
export function enrichment(market: MarketMetadata | undefined, tokenId: string): Record<string, unknown> {
  if (market === undefined) return {};
  return {
    ...marketFields(market),
    condition_id: market.conditionId,
    ...outcomeOf(market, tokenId),
    outcomes: market.outcomes,
    token_ids: market.tokenIds,
    tokens: tokenLabels(market),
    neg_risk: market.negRisk,
    ...definedFields({ tick_size: market.tickSize }),
    taker_base_fee: market.takerBaseFee,
  };
}

/** Slug of the parent event, for settlements and trades. */
export const eventSlugField = (market: MarketMetadata | undefined): { event_slug?: string } =>
  market?.eventSlug == null ? {} : { event_slug: market.eventSlug };

/** Slugs that a filter may name for a market: its own and that of its event. */
export const slugsOf = (...markets: readonly (MarketMetadata | undefined)[]): string[] =>
  distinct(...markets.flatMap((market) => [market?.slug, market?.eventSlug]));

/**
 * Values that filters compare with, for an event about a market. `tokens`: the tokens that the event is about, all of the market for kinds without a
 * token. Enrichment also names the other outcome's token, which does not match the filter.
 */
export function marketFilters(
  market: MarketMetadata | undefined,
  tokens: readonly string[],
  conditionId: string | null = null,
): { tokens: string[]; conditionIds: string[]; slugs: string[] } {
  return {
    tokens: distinct(...tokens),
    conditionIds: distinct(conditionId, market?.conditionId),
    slugs: slugsOf(market),
  };
}
