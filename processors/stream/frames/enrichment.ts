import { moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import type { MarketMetadata } from '../catalog-model.js';
import { distinct } from './frame.js';

const PRICE_DECIMALS = 6;

/** usdc / shares rounded half up to 6 decimals; 0 for a fill of no shares. */
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

/** Title, slug and picture of market and event, without what belongs to single outcomes. */
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

/** The whole enrichment block of an event about one token; empty while the market is unknown. */
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

/** Settlements and trades also name the parent event's slug. */
export const eventSlugField = (market: MarketMetadata | undefined): { event_slug?: string } =>
  market?.eventSlug == null ? {} : { event_slug: market.eventSlug };

/**
 * What filters see of an event about a market. Its tokens are the ones it is about: those given, or all of the market's for kinds without
 * a token of their own. That enrichment also names the other outcome does not make an event one of that outcome.
 */
export function marketFilters(
  market: MarketMetadata | undefined,
  subject: { readonly tokens: readonly string[] } | 'whole market',
  conditionId: string | null = null,
): { tokens: string[]; conditionIds: string[]; slugs: string[] } {
  return {
    tokens: distinct(...(subject === 'whole market' ? (market?.tokenIds ?? []) : subject.tokens)),
    conditionIds: distinct(conditionId, market?.conditionId),
    slugs: distinct(market?.slug),
  };
}
