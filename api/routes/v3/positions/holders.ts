import { z } from 'zod';
import { plans } from '../../../../schemas/plans.js';
import type { TokenSelection } from '../../../fills/tokens.sql.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import type { PageQuery } from '../../../pagination/list-page.js';
import { exampleOpenPosition } from '../../../positions/examples.js';
import type { HolderSort, PositionStatus } from '../../../positions/positions.sql.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { HOLDER_PAGINATION_NOTE, readHolders } from './holder-pages.js';
import { holderFrom, holderSchema } from './serialize.js';

const common = { ...v3Route, tag: 'Markets' } as const;
const LARGEST_PAGE = Math.max(...Object.values(plans).map((terms) => terms.conditionPositionsMaxLimit));
const sorts = ['pnl', 'realized_pnl', 'amount', 'volume'] as const;
const sortColumns: Readonly<Record<(typeof sorts)[number], HolderSort>> = {
  pnl: 'realized_pnl',
  realized_pnl: 'realized_pnl',
  amount: 'size',
  volume: 'total_bought',
};
const sortParam = (fallback: (typeof sorts)[number]) =>
  v3
    .choice('sort', sorts, `Default ${fallback}: \`pnl\` is realized_pnl, \`volume\` is total_bought.`, ', ')
    .default(fallback);

interface HoldersQuery extends PageQuery {
  readonly sort: (typeof sorts)[number];
  readonly status?: Exclude<PositionStatus, 'all'>;
}

/** GET holders of a market (by condition or slug) and of a token, closed positions included. */
export function createHolderRoutes(readers: Readers): readonly Route[] {
  const pageOf = async (name: string, selection: TokenSelection, query: HoldersQuery, context: RequestContext) => {
    const request = { ...query, sort: sortColumns[query.sort], order: 'desc', minSize: null } as const;
    const found = await readHolders(readers, name, selection, request, context);
    return { data: found.rows.map(holderFrom), ...pagingOf(query, found, context) };
  };

  const page = { data: z.array(holderSchema), ...pageFields };
  const example = { data: [holderFrom(exampleOpenPosition)], ...examplePaging, next_cursor: null };

  const byCondition = defineRoute({
    ...common,
    path: '/v3/markets/condition/{condition_id}/positions',
    reads: ['positions', 'catalog'],
    summary: 'Current and former holders of a market',
    description: `One row per wallet and outcome. ${HOLDER_PAGINATION_NOTE} On the starter plan \`limit\` is at most 300.`,
    params: z.object({ condition_id: v3.conditionId }),
    query: z.object({ sort: sortParam('pnl'), ...paging, limit: v3.limit(LARGEST_PAGE) }),
    success: { description: 'A page of positions', schema: z.object(page), example },
    async handler({ params: { condition_id: conditionId }, query }, context) {
      const most = context.caller?.terms.conditionPositionsMaxLimit ?? 0;
      const capped = { ...query, limit: Math.min(query.limit, most) };
      return { body: await pageOf(conditionId, { conditionId }, capped, context) };
    },
  });

  const bySlug = defineRoute({
    ...common,
    path: '/v3/markets/slug/{slug}/positions',
    reads: ['catalog', 'positions'],
    summary: 'Current and former holders of a market, by slug',
    description: `One row per wallet and outcome. ${HOLDER_PAGINATION_NOTE}`,
    params: z.object({ slug: v3.slug }),
    query: z.object({
      sort: sortParam('realized_pnl'),
      status: v3
        .choice(
          'status',
          ['open', 'closed'],
          'By amount, whether the market is settled or not. open: above 0; closed: 0. Rows of this list have no status; lists whose rows have one use open only for markets that are not settled. Default both.',
        )
        .optional(),
      ...paging,
    }),
    success: { description: 'A page of positions', schema: z.object(page), example },
    async handler({ params: { slug: marketSlug }, query }, context) {
      return { body: await pageOf(`slug ${marketSlug}`, { marketSlug }, query, context) };
    },
  });

  const { token_id: _, ...exampleRow } = holderFrom(exampleOpenPosition);
  const byToken = defineRoute({
    ...common,
    path: '/v3/markets/{token_id}/positions',
    reads: ['positions', 'catalog'],
    summary: 'Current and former holders of an outcome token',
    description: HOLDER_PAGINATION_NOTE,
    params: z.object({ token_id: v3.tokenId }),
    query: z.object({ sort: sortParam('pnl'), ...paging }),
    success: {
      description: 'A page of positions',
      schema: z.object({ ...page, data: z.array(holderSchema.omit({ token_id: true })) }),
      example: { ...example, data: [exampleRow] },
    },
    async handler({ params: { token_id: tokenId }, query }, context) {
      const { data, ...page } = await pageOf(`token ${tokenId}`, { tokenId }, query, context);
      return { body: { data: data.map(({ token_id: _token, ...row }) => row), ...page } };
    },
  });

  return [byCondition, bySlug, byToken];
}
