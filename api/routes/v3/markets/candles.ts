import { z } from 'zod';
import { resolutions } from '../../../candles/candles.sql.js';
import { exampleCandles } from '../../../candles/examples.js';
import { readCandles } from '../../../candles/reader.js';
import { type Condition, knownCondition } from '../../../catalog/conditions.js';
import { tradedTokensAmong } from '../../../catalog/traded-tokens.js';
import { ApiError, badParameter } from '../../../errors/failure.js';
import { timeRangeAliases } from '../../../http/aliases.js';
import { EXAMPLE_TOKEN } from '../../../http/chain-params.js';
import { defineRoute, notFoundResponse, type Route } from '../../../http/route.js';
import type { Readers } from '../../../readers.js';
import { v3, v3Route } from '../params.js';
import { type CandlesQuery, candlesQuery, maxLimits, seriesFrom, seriesQuery, tokenSeries } from './candle-series.js';

const common = {
  ...v3Route,
  tag: 'Markets',
  reads: ['fills', 'catalog'],
} as const;
/** The time range and limit of a query. Throws ApiError for a range that is contradictory or too large. */
function rangeOf(query: CandlesQuery): { fromS: number | null; toS: number | null; limit: number } {
  const maxLimit = maxLimits[query.resolution];
  const from = query.start ?? null;
  const to = query.end ?? null;
  if (query.direction === 'after' && query.anchor_ts === undefined) {
    throw badParameter('direction=after needs anchor_ts');
  }
  if (from !== null && to !== null) {
    if (from > to) throw badParameter('invalid range: start is after end');
    const buckets =
      Math.floor(to / resolutions[query.resolution]) - Math.floor(from / resolutions[query.resolution]) + 1;
    if (buckets > maxLimit) throw badParameter(`invalid range: at most ${maxLimit} buckets of ${query.resolution}`);
  }
  const anchor = query.anchor_ts ?? null;
  const tighter = (bound: number | null, pick: (...values: number[]) => number) =>
    bound === null || anchor === null ? (bound ?? anchor) : pick(bound, anchor);
  return {
    fromS: query.direction === 'after' ? tighter(from, Math.max) : from,
    toS: query.direction === 'before' ? tighter(to, Math.min) : to,
    limit: Math.min(query.limit, maxLimit),
  };
}

const exampleQuery = candlesQuery.parse({});

/** GET candles of an outcome token, and of all outcomes of a market by condition id or slug. */
export function createCandleRoutes(readers: Readers): readonly Route[] {
  const { tables, metadata } = readers;
  const tokensMarket = async (tokenId: string): Promise<Condition | null> =>
    knownCondition(readers, { conditionId: (await metadata.tokensOf([tokenId])).get(tokenId)?.conditionId });
  const read = async (query: CandlesQuery, tokenId: string) =>
    readCandles(tables, {
      tokenId,
      seconds: resolutions[query.resolution],
      direction: query.direction,
      gapFill: query.gap_fill,
      ...rangeOf(query),
    });

  const token = defineRoute({
    ...common,
    path: '/v3/markets/{token_id}/candles',
    summary: 'Candles of an outcome token',
    description:
      'Computed from fills; each match counts once. Buckets without trades are omitted unless `gap_fill` is set.',
    params: z.object({ token_id: v3.tokenId }),
    query: candlesQuery,
    aliases: timeRangeAliases('start', 'end'),
    success: {
      description: 'Candles',
      schema: z.object({ ...tokenSeries, elapsed_ms: z.int() }),
      example: { ...seriesFrom(exampleQuery, EXAMPLE_TOKEN, null, exampleCandles), elapsed_ms: 4 },
    },
    otherResponses: notFoundResponse('The token is not in the catalogue and has no trades.', 'market token not found', {
      token_id: '71',
      hint: 'use an outcome token id',
    }),
    async handler({ params: { token_id }, query }, context) {
      const [market, page] = await Promise.all([tokensMarket(token_id), read(query, token_id)]);
      const isKnown =
        market !== null || page.candles.length > 0 || (await tradedTokensAmong(tables, [token_id])).size > 0;
      if (!isKnown) {
        throw new ApiError({
          kind: 'not_found',
          message: 'market token not found',
          fields: { token_id },
          hint: 'use an outcome token id, or /v3/markets/condition/{condition_id}/candles',
        });
      }
      return { body: { ...seriesFrom(query, token_id, market, page), elapsed_ms: context.elapsedMs() } };
    },
  });

  const series = (
    path: string,
    summary: string,
    params: z.ZodObject,
    find: (id: string) => Promise<Condition | null>,
  ): Route =>
    defineRoute({
      ...common,
      path,
      summary,
      params,
      query: seriesQuery,
      aliases: timeRangeAliases('start', 'end'),
      success: {
        description: 'One series per outcome',
        schema: z.object({
          condition_id: z.string(),
          slug: z.string().nullable().meta({ description: 'null until the catalogue lists the market.' }),
          series_count: z.int(),
          series: z.array(z.object(tokenSeries)),
          elapsed_ms: z.int(),
        }),
        example: {
          condition_id: `0x${'c1'.repeat(32)}`,
          slug: 'snow-lisbon-may',
          series_count: 1,
          series: [seriesFrom(exampleQuery, EXAMPLE_TOKEN, null, exampleCandles)],
          elapsed_ms: 7,
        },
      },
      otherResponses: notFoundResponse('Unknown market.', 'market not found'),
      async handler({ params: given, query }, context) {
        const market = await find(String(Object.values(given)[0]));
        if (market === null) throw new ApiError({ kind: 'not_found', message: 'market not found' });
        const tokenIds = market.tokenIds.filter((id) => query.token_id === undefined || id === query.token_id);
        const found = await Promise.all(
          tokenIds.map(async (id) => seriesFrom(query, id, market, await read(query, id))),
        );
        return {
          body: {
            condition_id: market.conditionId,
            slug: market.market?.slug ?? null,
            series_count: found.length,
            series: found,
            elapsed_ms: context.elapsedMs(),
          },
        };
      },
    });

  return [
    token,
    series(
      '/v3/markets/condition/{condition_id}/candles',
      'Candles of a market by condition id',
      z.object({ condition_id: v3.conditionId }),
      (conditionId) => knownCondition(readers, { conditionId }),
    ),
    series(
      '/v3/markets/slug/{slug}/candles',
      'Candles of a market by slug',
      z.object({ slug: v3.slug }),
      (marketSlug) => knownCondition(readers, { marketSlug }),
    ),
  ];
}
