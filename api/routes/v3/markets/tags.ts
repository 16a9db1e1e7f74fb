import { z } from 'zod';
import { type TagRow, type TagSort, taggedMarketsSql, tagsSql } from '../../../catalog/markets.sql.js';
import { ApiError } from '../../../errors/failure.js';
import { slugParam } from '../../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../../http/route.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import type { Readers } from '../../../readers.js';
import { examplePage, pageFields, pagingOf } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import { exampleLabels, exampleMarket, marketFrom, marketSchema } from './serialize.js';
import { type MarketViews, RANKING_MS, type RankedId } from './views.js';

const common = { ...v3Route, tag: 'Markets' } as const;

/** GET /v3/tags, and the markets of a tag. */
export function createTagRoutes({ tables, cache }: Readers, { ranked }: MarketViews): readonly Route[] {
  const tagRows = () => cache.get('v3 tags', RANKING_MS, () => tables.rows<TagRow>(tagsSql()));
  const tags = defineRoute({
    ...common,
    path: '/v3/tags',
    reads: ['catalog', 'fills'],
    summary: 'Tags by number of markets',
    query: z.object(paging),
    success: {
      description: 'A page of tags',
      schema: z.object({ tags: z.array(z.object({ tag: z.string(), market_count: z.int() })), ...pageFields }),
      example: { tags: [{ tag: 'weather', market_count: 12 }], ...examplePage },
    },
    async handler({ query }, context) {
      const { value } = await tagRows();
      const by = { value: (row: TagRow) => Number(row.markets), id: (row: TagRow) => row.tag };
      const page = rankedPage(value, by, query, context);
      return {
        body: {
          tags: page.rows.map((row) => ({ tag: row.tag, market_count: Number(row.markets) })),
          ...pagingOf(query, page, context),
        },
      };
    },
  });

  const sorts: readonly TagSort[] = ['volume_all_time', 'liquidity', 'created_at'];
  const tag = defineRoute({
    ...common,
    path: '/v3/tags/{slug}',
    reads: ['catalog', 'fills'],
    summary: 'Markets of a tag',
    description: 'Lists the first 10,000.',
    params: z.object({ slug: slugParam({ description: 'Tag slug.', invalid: 'invalid tag', example: 'weather' }) }),
    query: z.object({
      sort: v3.choice('sort', sorts, 'Descending. Default volume_all_time.', ', ').default('volume_all_time'),
      ...paging,
    }),
    success: {
      description: 'A page of markets',
      schema: z.object({ data: z.array(marketSchema), ...pageFields }),
      example: { data: [marketFrom(exampleMarket, exampleLabels)], ...examplePage },
    },
    otherResponses: notFoundResponse('No market carries the tag.', 'tag not found', { tag: 'weather' }),
    async handler({ params: { slug }, query }, context) {
      const name = `v3 tag ${query.sort} ${slug}`;
      const load = () => tables.rows<RankedId>(taggedMarketsSql(slug, query.sort));
      const page = await ranked(name, query, { context, direction: 'desc', sort: query.sort, load });
      const data = page.serialize(marketFrom);
      if (page.isEmpty) {
        throw new ApiError({ kind: 'not_found', message: 'tag not found', fields: { tag: slug } });
      }
      return { body: { data, ...page.fields() } };
    },
  });

  return [tags, tag];
}
