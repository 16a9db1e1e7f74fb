import { z } from 'zod';
import { conditionIdOfSlug, isKnown } from '../../../catalog/conditions.js';
import {
  type SettlementOriginRow,
  searchMarketsSql,
  searchSorts,
  settlementOriginSql,
} from '../../../catalog/markets.sql.js';
import { oppositeTokenOf } from '../../../catalog/metadata.js';
import { ApiError } from '../../../errors/failure.js';
import { requiredText } from '../../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../../http/route.js';
import { MAX_WORDS, wordsOf } from '../../../http/search-words.js';
import { unknownOutcomeMetadata } from '../../../positions/outcomes.js';
import { type Price, unpriced } from '../../../positions/position.js';
import type { Readers } from '../../../readers.js';
import { examplePage, pageFields } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import {
  conditionFrom,
  conditionSchema,
  exampleLabels,
  exampleMarket,
  foundMarketFrom,
  foundMarketSchema,
  marketFrom,
  marketSchema,
  priceFields,
  priceFrom,
  tagLabelsFrom,
} from './serialize.js';
import type { MarketViews, RankedId } from './views.js';

const common = { ...v3Route, tag: 'Markets' } as const;
/** Without the catalogue there is no market; settlements are those of the chain. */
const marketReads = ['catalog', 'chain', 'fills'] as const;
const tokenReads = ['fills', 'catalog', 'chain'] as const;

/** GET markets, tokens, conditions and prices. */
export function createMarketRoutes(readers: Readers, { listed, ranked }: MarketViews): readonly Route[] {
  const { tables, conditionsOf, outcomesOf, prices } = readers;
  const { tokensOf, tagLabelsOf } = readers.metadata;

  const search = defineRoute({
    ...common,
    path: '/v3/markets/search',
    reads: marketReads,
    summary: 'Markets whose question, slug or event title contain every word',
    description:
      'Case-insensitive, parts of words included; punctuation is matched literally. Without `sort`: largest volume first. Lists the first 10,000.',
    query: z.object({
      q: requiredText('q')
        .max(300, 'invalid q: at most 300 characters')
        .refine((text) => wordsOf(text).length <= MAX_WORDS, `invalid q: at most ${MAX_WORDS} words`)
        .meta({ description: 'Words, each of which must occur.', example: 'snow lisbon' }),
      sort: v3
        .choice(
          'sort',
          searchSorts,
          '`volume`: largest published volume first. `current`: open markets with trades, others with trades, open ones without (the first to end first), the rest; each with the largest volume first.',
          ', ',
        )
        .default('volume'),
      ...paging,
    }),
    success: {
      description: 'A page of markets',
      schema: z.object({ data: z.array(foundMarketSchema), ...pageFields }),
      example: { data: [foundMarketFrom(exampleMarket, exampleLabels)], ...examplePage },
    },
    async handler({ query }, context) {
      const words = wordsOf(query.q);
      const name = `v3 search ${query.sort} ${JSON.stringify(words)}`;
      const nowS = Math.floor(readers.nowMs() / 1000);
      const load = () => tables.rows<RankedId>(searchMarketsSql(words, query.sort, nowS));
      const direction = query.sort === 'current' ? 'asc' : 'desc';
      const page = await ranked(name, query, { context, direction, sort: query.sort, load });
      return { body: { data: page.serialize(foundMarketFrom), ...page.fields() } };
    },
  });

  const one = (
    path: string,
    summary: string,
    params: z.ZodObject,
    conditionIdOf: (id: string) => Promise<string | undefined>,
  ): Route =>
    defineRoute({
      ...common,
      path,
      reads: marketReads,
      summary,
      params,
      success: {
        description: 'One market, or none',
        schema: z.object({ data: z.array(marketSchema), elapsed_ms: z.int() }),
        example: { data: [marketFrom(exampleMarket, exampleLabels)], elapsed_ms: 2 },
      },
      async handler({ params: given }, context) {
        const id = await conditionIdOf(String(Object.values(given)[0]));
        const { markets, labels } = await listed(id === undefined ? [] : [id]);
        return { body: { data: markets.map((one) => marketFrom(one, labels)), elapsed_ms: context.elapsedMs() } };
      },
    });

  const priceOf = async (id: string): Promise<Price> => (await prices([id])).get(id) ?? unpriced;

  const price = defineRoute({
    ...common,
    path: '/v3/markets/{token_id}/price',
    reads: tokenReads,
    summary: 'Price of an outcome token',
    description:
      'The settlement price; before settlement the mid of best bid and ask of the verified order book if it is younger than 60 s, otherwise the newer of last fill and catalogue quote.',
    params: z.object({ token_id: v3.tokenId }),
    success: {
      description: 'The price and its source',
      schema: z.object({ token_id: z.string(), ...priceFields, elapsed_ms: z.int() }),
      example: {
        token_id: '71',
        ...priceFrom({ usd: 550_000n, source: 'last_fill', updatedAtS: 1790000200 }),
        elapsed_ms: 2,
      },
    },
    async handler({ params: { token_id } }, context) {
      return { body: { token_id, ...priceFrom(await priceOf(token_id)), elapsed_ms: context.elapsedMs() } };
    },
  });

  const tokenSchema = z.object({
    token_id: z.string(),
    ...priceFields,
    condition_id: z.string(),
    outcome: z.string().meta({ description: 'Empty until the catalogue lists the market.' }),
    outcome_index: z.int(),
    question: z.string().meta({ description: 'Empty until the catalogue lists the market.' }),
    slug: z.string().meta({ description: 'Empty until the catalogue lists the market.' }),
    opposite_asset: z.string().nullable().meta({ description: 'Token of the other outcome.' }),
    neg_risk: z.boolean().nullable(),
    category: z.string().nullable(),
    tag_slugs: z.array(z.string()).nullable(),
  });
  const token = defineRoute({
    ...common,
    path: '/v3/tokens/{token_id}',
    reads: tokenReads,
    summary: 'An outcome token, its market and price',
    params: z.object({ token_id: v3.tokenId }),
    success: {
      description: 'One token, or none',
      schema: z.object({ data: z.array(tokenSchema), elapsed_ms: z.int() }),
      example: {
        data: [
          {
            token_id: '71',
            ...priceFrom({ usd: 550_000n, source: 'clob_mid', updatedAtS: 1790000200 }),
            condition_id: exampleMarket.conditionId,
            outcome: 'Yes',
            outcome_index: 0,
            question: exampleMarket.market.question,
            slug: exampleMarket.market.slug,
            opposite_asset: '72',
            neg_risk: false,
            category: null,
            tag_slugs: ['Weather'],
          },
        ],
        elapsed_ms: 2,
      },
    },
    async handler({ params: { token_id } }, context) {
      const [metadataByToken, found] = await Promise.all([outcomesOf([token_id]), priceOf(token_id)]);
      const metadata = metadataByToken.get(token_id) ?? unknownOutcomeMetadata;
      const { conditionId, outcomeIndex } = metadata;
      const tags = metadata.tagSlugs ?? [];
      const data =
        conditionId === null || outcomeIndex === null
          ? []
          : [
              {
                token_id,
                ...priceFrom(found),
                condition_id: conditionId,
                outcome: metadata.outcome ?? '',
                outcome_index: outcomeIndex,
                question: metadata.market ?? '',
                slug: metadata.slug ?? '',
                opposite_asset: oppositeTokenOf(metadata),
                neg_risk: metadata.negRisk,
                // The catalogue replaced categories by tags.
                category: null,
                tag_slugs: tagLabelsFrom(tags, await tagLabelsOf(tags)),
              },
            ];
      return { body: { data, elapsed_ms: context.elapsedMs() } };
    },
  });

  const condition = defineRoute({
    ...common,
    path: '/v3/conditions/{condition_id}',
    reads: ['chain', 'catalog', 'fills'],
    summary: 'A condition and its settlement',
    params: z.object({ condition_id: v3.conditionId }),
    success: {
      description: 'The condition',
      schema: conditionSchema,
      example: {
        ...conditionFrom(exampleMarket, exampleLabels, {
          oracle: '',
          tx_hash: '',
          source: 'https://weather.example/lisbon',
        }),
        elapsed_ms: 2,
      },
    },
    otherResponses: notFoundResponse('The condition is neither in the catalogue nor on chain.', 'condition not found'),
    async handler({ params: { condition_id } }, context) {
      const [conditions, [origin]] = await Promise.all([
        conditionsOf([condition_id]),
        tables.rows<SettlementOriginRow>(settlementOriginSql(condition_id)),
      ]);
      const condition = conditions.get(condition_id);
      if (!isKnown(condition)) {
        throw new ApiError({ kind: 'not_found', message: 'condition not found' });
      }
      const labels = await tagLabelsOf(condition.market?.tagSlugs ?? []);
      return { body: { ...conditionFrom(condition, labels, origin), elapsed_ms: context.elapsedMs() } };
    },
  });

  return [
    search,
    one(
      '/v3/markets/condition/{condition_id}',
      'A market by condition id',
      z.object({ condition_id: v3.conditionId }),
      async (id) => id,
    ),
    one('/v3/markets/slug/{slug}', 'A market by slug', z.object({ slug: v3.slug }), (slug) =>
      conditionIdOfSlug(tables, slug),
    ),
    one(
      '/v3/markets/{token_id}',
      'A market by outcome token',
      z.object({ token_id: v3.tokenId }),
      async (id) => (await tokensOf([id])).get(id)?.conditionId,
    ),
    price,
    token,
    condition,
  ];
}
