import { z } from 'zod';
import { moneyToNumber } from '../../../../schemas/primitives/money.js';
import type { Condition } from '../../../catalog/conditions.js';
import type { SettlementOriginRow } from '../../../catalog/markets.sql.js';
import type { MarketMetadata } from '../../../catalog/metadata.js';
import { priceDocs } from '../../../http/field-docs.js';
import type { Price } from '../../../positions/position.js';
import { priceSource, priceSourceOf } from '../../../positions/price-fields.js';

const decimals = z.string().meta({ description: 'USD, decimal text.' });
const tags = z.array(z.string()).nullable().meta({ description: 'Labels of the tags.' });

export const foundMarketSchema = z.object({
  condition_id: z.string(),
  question: z.string(),
  slug: z.string(),
  category: z.string().nullable(),
  volume_all_time: z.string().meta({
    description: 'Volume that the catalogue of the venue published, USD, decimal text; 0 if it published none.',
  }),
  active: z.boolean(),
  closed: z.boolean(),
  resolved: z
    .boolean()
    .meta({ description: 'Whether the chain has settled the market, also if it paid several outcomes.' }),
  winning_outcome_index: z.int().nullable(),
  tag_slugs: tags,
});

export const marketSchema = foundMarketSchema.extend({
  outcomes: z.array(z.string()),
  neg_risk: z.boolean(),
  liquidity: decimals,
  end_date: z.string().nullable().meta({ description: '`YYYY-MM-DD HH:MM:SS+00`.' }),
  event_slug: z.string().nullable(),
  event_title: z.string().nullable(),
  token_ids: z.array(z.string()),
  token_outcomes: z.array(z.string()),
});

/** USD with six decimals. */
const decimalText = (usd: number): string => usd.toFixed(6);

/** `YYYY-MM-DD HH:MM:SS`, UTC. */
const plainTime = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ');

const endDate = (ms: number | null): string | null => (ms === null ? null : `${plainTime(Math.floor(ms / 1000))}+00`);

/** Tag labels in the market's order; the slug if the catalogue has no label. */
export const tagLabelsFrom = (slugs: readonly string[], labels: ReadonlyMap<string, string>): string[] | null =>
  slugs.length === 0 ? null : slugs.map((slug) => labels.get(slug) || slug);

/** A condition whose market is in the catalogue. */
export type ListedMarket = Condition & { readonly market: MarketMetadata };
export const isListed = (condition: Condition | undefined): condition is ListedMarket =>
  condition !== undefined && condition.market !== null;

/** A market as search result. The catalogue replaced categories by tags. */
export const foundMarketFrom = (
  { conditionId, market, resolution }: ListedMarket,
  labels: ReadonlyMap<string, string>,
): z.input<typeof foundMarketSchema> => ({
  condition_id: conditionId,
  question: market.question,
  slug: market.slug,
  category: null,
  volume_all_time: decimalText(market.volume),
  active: market.active,
  closed: market.closed || resolution !== null,
  resolved: resolution !== null,
  winning_outcome_index: resolution?.winner ?? null,
  tag_slugs: tagLabelsFrom(market.tagSlugs, labels),
});

export function marketFrom(listed: ListedMarket, labels: ReadonlyMap<string, string>): z.input<typeof marketSchema> {
  const { market, tokenIds } = listed;
  return {
    ...foundMarketFrom(listed, labels),
    outcomes: [...market.outcomes],
    neg_risk: market.negRisk,
    liquidity: decimalText(market.liquidity),
    end_date: endDate(market.endMs),
    event_slug: market.eventSlug,
    event_title: market.eventTitle,
    token_ids: [...tokenIds],
    token_outcomes: [...market.outcomes],
  };
}

export const conditionSchema = z.object({
  id: z.string(),
  position_ids: z.array(z.string()),
  payout_numerators: z.array(z.int()).meta({ description: 'Empty until the condition is resolved.' }),
  payout_denominator: z.string().meta({ description: '"0" until the condition is resolved.' }),
  question: z.string().nullable(),
  slug: z.string().nullable(),
  outcomes: z.array(z.string()),
  end_date: z.string().nullable(),
  active: z.boolean(),
  closed: z.boolean(),
  neg_risk: z.boolean().nullable().meta({ description: 'null if neither chain nor catalogue states it.' }),
  event_slug: z.string().nullable(),
  event_title: z.string().nullable(),
  category: z.string().nullable(),
  liquidity: z.string(),
  volume: z.string(),
  tags: z.array(z.string()),
  winning_outcome_index: z.int().nullable(),
  resolved_at: z
    .string()
    .nullable()
    .meta({ description: 'Unix milliseconds, as text; null until the chain settled it.' }),
  oracle: z.string().nullable().meta({ description: 'Contract that settled it on the chain.' }),
  resolution_tx: z.string().nullable().meta({ description: 'Transaction that settled it.' }),
  resolution_source: z
    .string()
    .nullable()
    .meta({ description: 'Source that the rules name for the outcome, as the catalogue publishes it.' }),
  elapsed_ms: z.int(),
});

/** A condition and its settlement, with what the catalogue has of its market. */
export function conditionFrom(
  condition: Condition,
  labels: ReadonlyMap<string, string>,
  origin: SettlementOriginRow | undefined,
): Omit<z.input<typeof conditionSchema>, 'elapsed_ms'> {
  const market = isListed(condition) ? marketFrom(condition, labels) : null;
  const { resolution } = condition;
  return {
    id: condition.conditionId,
    position_ids: [...condition.tokenIds],
    payout_numerators: (resolution?.payouts ?? []).map(Number),
    payout_denominator: String(resolution?.denominator ?? 0n),
    question: market?.question ?? null,
    slug: market?.slug ?? null,
    outcomes: market?.outcomes ?? [],
    end_date: market?.end_date ?? null,
    active: market?.active ?? false,
    closed: market?.closed === true || resolution !== null,
    neg_risk: condition.negRisk,
    event_slug: market?.event_slug ?? null,
    event_title: market?.event_title ?? null,
    category: null,
    liquidity: market?.liquidity ?? decimalText(0),
    volume: market?.volume_all_time ?? decimalText(0),
    tags: market?.tag_slugs ?? [],
    winning_outcome_index: resolution?.winner ?? null,
    resolved_at: resolution === null ? null : `${resolution.resolvedAtS}000`,
    oracle: origin?.oracle || null,
    resolution_tx: origin?.tx_hash || null,
    resolution_source: origin?.source || null,
  };
}

export const priceFields = {
  price: z.number().describe(`${priceDocs.now} 0 without a price.`),
  resolved: z.boolean(),
  source: priceSource,
  updated_at: z
    .string()
    .nullable()
    .meta({ description: '`YYYY-MM-DD HH:MM:SS` UTC: time of the settlement, quote or fill.' }),
};

export const priceFrom = (price: Price) => ({
  price: moneyToNumber(price.usd ?? 0n),
  resolved: price.source === 'settlement',
  source: priceSourceOf(price),
  updated_at: price.updatedAtS === null ? null : plainTime(price.updatedAtS),
});

export const exampleMarket: ListedMarket = {
  conditionId: `0x${'c1'.repeat(32)}`,
  market: {
    question: 'Will it snow in Lisbon by May?',
    slug: 'snow-lisbon-may',
    image: 'https://img.example/snow.png',
    icon: null,
    eventId: null,
    eventSlug: 'snow-lisbon',
    eventTitle: 'Snow in Lisbon',
    outcomes: ['Yes', 'No'],
    tokenIds: ['71', '72'],
    negRisk: false,
    active: true,
    closed: false,
    volume: 5120.25,
    liquidity: 300.1,
    endMs: 1_809_129_600_000,
    tagSlugs: ['weather'],
  },
  onChain: true,
  negRisk: false,
  tokenIds: ['71', '72'],
  resolution: null,
};
export const exampleLabels: ReadonlyMap<string, string> = new Map([['weather', 'Weather']]);
