import { z } from 'zod';
import { plans } from '../../../../schemas/plans.js';
import type { TokenSelection } from '../../../fills/tokens.sql.js';
import { choiceParam } from '../../../http/params.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import { exampleOpenPosition } from '../../../positions/examples.js';
import type { HolderSort, PositionStatus } from '../../../positions/positions.sql.js';
import { pageFields } from '../envelope.js';
import { paging, v3, v3Route } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { createHolderPages, HOLDER_PAGINATION_NOTE, type HolderPagesDeps } from './holder-pages.js';
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
  choiceParam({
    description: `Default ${fallback}: \`pnl\` is realized_pnl, \`volume\` is total_bought.`,
    invalid: `invalid sort: use ${sorts.join(', ')}`,
    values: sorts,
  }).default(fallback);

interface HoldersQuery {
  readonly sort: (typeof sorts)[number];
  readonly status?: Exclude<PositionStatus, 'all'>;
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/** GET holders of a market (by condition or slug) and of a token, closed positions included. */
export function createHolderRoutes(deps: HolderPagesDeps): readonly Route[] {
  const listOf = createHolderPages(deps);
  const pageOf = async (name: string, selection: TokenSelection, query: HoldersQuery, context: RequestContext) => {
    const request = { ...query, sort: sortColumns[query.sort], order: 'desc', minSize: null } as const;
    const { rows, paging } = await listOf(name, selection, request, context);
    return { rows: rows.map(holderFrom), paging };
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
    query: z.object({ sort: sortParam('pnl'), limit: v3.limit(LARGEST_PAGE), offset: v3.offset, cursor: v3.cursor }),
    success: { description: 'A page of positions', schema: z.object(page), example },
    async handler({ params: { condition_id: conditionId }, query }, context) {
      const most = context.caller?.terms.conditionPositionsMaxLimit ?? 0;
      const capped = { ...query, limit: Math.min(query.limit, most) };
      const { rows, paging } = await pageOf(conditionId, { conditionId }, capped, context);
      return { body: { data: rows, ...paging() } };
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
      status: choiceParam({
        description:
          'By amount, whether the market is settled or not. open: above 0; closed: 0. Rows of this list have no status; lists whose rows have one use open only for markets that are not settled. Default both.',
        invalid: 'invalid status: use open or closed',
        values: ['open', 'closed'],
      }).optional(),
      ...paging,
    }),
    success: { description: 'A page of positions', schema: z.object(page), example },
    async handler({ params: { slug: marketSlug }, query }, context) {
      const { rows, paging } = await pageOf(`slug ${marketSlug}`, { marketSlug }, query, context);
      return { body: { data: rows, ...paging() } };
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
      const { rows, paging } = await pageOf(`token ${tokenId}`, { tokenId }, query, context);
      return { body: { data: rows.map(({ token_id: _token, ...row }) => row), ...paging() } };
    },
  });

  return [byCondition, bySlug, byToken];
}
