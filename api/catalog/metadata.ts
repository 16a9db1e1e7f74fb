import type { Tables } from '../tables/port.js';
import { boolFrom } from '../tables/values.js';
import { type CachedLookup, createCachedLookup, type Lookup, readRows } from './cached-lookup.js';
import type { ChangeFeed } from './change-feed.js';
import { type ConditionTokens, readConditionTokens } from './condition-tokens.js';
import { tagLabelsSql } from './markets.sql.js';
import {
  type ExchangeNegRiskRow,
  exchangeNegRiskSql,
  type MarketMetadataRow,
  marketMetadataSql,
  type ResolutionRow,
  resolutionsSql,
  type TokenMetadataRow,
  tokenMetadataSql,
} from './metadata.sql.js';
import { type Resolution, resolutionOf } from './resolution.js';

/** Condition and outcome of a token. */
export interface TokenMetadata {
  readonly conditionId: string;
  readonly outcomeIndex: number;
  /** null: not in the catalogue. */
  readonly outcome: string | null;
  /** null: the condition is not on chain. */
  readonly negRisk: boolean | null;
  /** Token of the other outcome; null: the condition is not on chain. */
  readonly otherTokenId: string | null;
}

/** Catalogue metadata of a market. */
export interface MarketMetadata {
  readonly question: string;
  readonly slug: string;
  readonly image: string | null;
  readonly icon: string | null;
  readonly eventId: string | null;
  readonly eventSlug: string | null;
  readonly eventTitle: string | null;
  readonly outcomes: readonly string[];
  /** In outcome order. */
  readonly tokenIds: readonly string[];
  readonly negRisk: boolean;
  readonly active: boolean;
  readonly closed: boolean;
  /** USD, as the catalogue publishes it; also `liquidity`. */
  readonly volume: number;
  readonly liquidity: number;
  readonly endMs: number | null;
  readonly tagSlugs: readonly string[];
}

/** Token of the other outcome in a market with two outcomes; null where unknown. `tokenIds`: in outcome order. */
export function oppositeTokenOf({
  outcomeIndex,
  tokenIds,
}: {
  readonly outcomeIndex: number | null;
  readonly tokenIds: readonly string[];
}): string | null {
  return outcomeIndex === null || tokenIds.length !== 2 ? null : (tokenIds[1 - outcomeIndex] ?? null);
}

/** Name of the outcome of a token; null where unknown. Of a market that the catalogue lists without tokens it is the one with the chain's index. */
export const outcomeNameOf = (token: TokenMetadata, market: MarketMetadata | null): string | null =>
  token.outcome ?? (market?.tokenIds.length === 0 ? (market.outcomes[token.outcomeIndex] ?? null) : null);

/** Metadata lookups shared by all API groups, cached until a change; null where unknown. */
export interface MetadataLookups {
  /** By token id. */
  readonly tokensOf: Lookup<TokenMetadata | null>;
  /** By condition id. */
  readonly marketsOf: Lookup<MarketMetadata | null>;
  /** By condition id. */
  readonly conditionTokensOf: Lookup<ConditionTokens | null>;
  /** By condition id; null while open. */
  readonly resolutionsOf: Lookup<Resolution | null>;
  /** By tag; empty for a tag without a label. */
  readonly tagLabelsOf: Lookup<string>;
  /** By token id: whether the exchange that its fills are of trades neg-risk markets; null without fills, and for combos. */
  readonly exchangeNegRiskOf: Lookup<boolean | null>;
}

/** Metadata lookups whose caches can be prefetched. */
export type CachedMetadataLookups = {
  readonly [Kind in keyof MetadataLookups]: MetadataLookups[Kind] & Pick<CachedLookup<unknown>, 'prefetch'>;
};

/** Room for other markets than the largest, as a multiple. */
const CACHE_ROOM = 1.25;
/** Conditions that the caches hold: 1.7 KB each for the market and its resolution. */
const cachedConditions = (markets: number): number => Math.ceil(markets * CACHE_ROOM);
/** Tokens that a cache holds: 0.35 KB of metadata or 0.2 KB of price each. */
export const cachedTokens = (markets: number): number => 2 * cachedConditions(markets);

const tokenFrom = (row: TokenMetadataRow): TokenMetadata => ({
  conditionId: row.condition_id,
  outcomeIndex: Number(row.outcome_index),
  outcome: boolFrom(row.catalogued) ? row.outcome : null,
  negRisk: row.neg_risk === null ? null : boolFrom(row.neg_risk),
  otherTokenId: row.other_token,
});

const marketFrom = (row: MarketMetadataRow): MarketMetadata => ({
  question: row.question,
  slug: row.slug,
  image: row.image,
  // Usually the same URL: one shared string.
  icon: row.icon === row.image ? row.image : row.icon,
  eventId: row.event_id,
  eventSlug: row.event_slug,
  eventTitle: row.event_title,
  outcomes: row.outcomes,
  tokenIds: row.tokens,
  negRisk: boolFrom(row.neg_risk),
  active: boolFrom(row.active),
  closed: boolFrom(row.closed),
  volume: row.volume,
  liquidity: row.liquidity,
  endMs: row.end_ms === null ? null : Number(row.end_ms),
  tagSlugs: row.tag_slugs,
});

export function createMetadataLookups(deps: {
  tables: Tables;
  nowMs: () => number;
  changes: ChangeFeed;
  /** The largest markets fit into the caches, and a quarter more. */
  cachedMarkets: number;
}): CachedMetadataLookups {
  const { tables, nowMs, changes, cachedMarkets } = deps;
  return {
    tokensOf: createCachedLookup<TokenMetadata | null>({
      read: readRows(tables, tokenMetadataSql, (row: TokenMetadataRow) => row.token, tokenFrom),
      unknown: null,
      nowMs,
      maxSize: cachedTokens(cachedMarkets),
      invalidation: { changes, tables: ['tokens', 'chain_tokens'] },
    }),
    marketsOf: createCachedLookup<MarketMetadata | null>({
      read: readRows(tables, marketMetadataSql, (row: MarketMetadataRow) => row.condition_id, marketFrom),
      unknown: null,
      nowMs,
      maxSize: cachedConditions(cachedMarkets),
      invalidation: { changes, tables: ['markets'] },
    }),
    // Rows never change; a missing one is read again after one second.
    conditionTokensOf: createCachedLookup<ConditionTokens | null>({
      read: readConditionTokens(tables),
      unknown: null,
      nowMs,
    }),
    resolutionsOf: createCachedLookup<Resolution | null>({
      read: readRows(tables, resolutionsSql, (row: ResolutionRow) => row.condition_id, resolutionOf),
      unknown: null,
      nowMs,
      maxSize: cachedConditions(cachedMarkets),
      invalidation: { changes, tables: ['resolutions'] },
    }),
    tagLabelsOf: createCachedLookup<string>({
      read: readRows(
        tables,
        tagLabelsSql,
        (row: { readonly slug: string; readonly label: string }) => row.slug,
        (row) => row.label,
      ),
      unknown: '',
      nowMs,
      invalidation: { changes, tables: ['tags'] },
    }),
    exchangeNegRiskOf: createCachedLookup<boolean | null>({
      read: readRows(
        tables,
        exchangeNegRiskSql,
        (row: ExchangeNegRiskRow) => row.token,
        (row) => boolFrom(row.neg_risk),
      ),
      unknown: null,
      nowMs,
      // A token's kind never changes: the first fill decides it.
      invalidation: { changes, tables: ['fills'], update: (value) => (value === null ? undefined : value) },
    }),
  };
}
