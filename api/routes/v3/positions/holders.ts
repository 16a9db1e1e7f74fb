import { z } from 'zod';
import { plans } from '../../../../schemas/plans.js';
import type { TtlCache } from '../../../cache/ttl-cache.js';
import { MAX_RANKED } from '../../../catalogue/markets.sql.js';
import type { Rankings } from '../../../catalogue/rankings.js';
import type { FillReader } from '../../../fills/reader.js';
import type { TokenSelection } from '../../../fills/tokens.sql.js';
import { walkName } from '../../../fills/walks.js';
import { choiceParam } from '../../../http/params.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import type { HolderSort, PositionStatus } from '../../../positions/positions.sql.js';
import type { PositionReader } from '../../../positions/reader.js';
import { pageFields, pagingOf } from '../envelope.js';
import { v3 } from '../params.js';
import { examplePaging } from '../trades/examples.js';
import { examplePosition } from './examples.js';
import { holderFrom, holderSchema } from './serialize.js';

const common = { method: 'get', family: 'v3', tag: 'Markets', auth: 'key', gate: 'v3' } as const;
/** Oldest order of holders a walk begins with. */
const ORDER_S = 30;
const LARGEST_PAGE = Math.max(...Object.values(plans).map((terms) => terms.conditionPositionsMaxLimit));
const WALK = `Descending, the first ${MAX_RANKED.toLocaleString('en')}. A walk by \`offset\` keeps the order of its first page for a quarter of an hour; an order is up to ${ORDER_S} s old when the walk begins, the rows are as they are now.`;

const sorts = ['pnl', 'realized_pnl', 'amount', 'volume'] as const;
const measures: Readonly<Record<(typeof sorts)[number], HolderSort>> = {
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
}

export interface HoldersDeps {
  readonly positions: PositionReader;
  readonly fills: FillReader;
  readonly rankings: Rankings;
  readonly cache: TtlCache;
}

/** Who holds or held the outcomes of a market: by condition, by slug, by token. */
export function createHolderRoutes(deps: HoldersDeps): readonly Route[] {
  const { positions, fills, rankings, cache } = deps;

  const pageOf = async (name: string, selection: TokenSelection, query: HoldersQuery, context: RequestContext) => {
    const status: PositionStatus = query.status ?? 'all';
    const list = `v3 holders ${name} ${status} ${measures[query.sort]}`;
    const page = await rankings.page({
      walk: walkName(context.caller?.accountId, list, {}),
      ...query,
      load: async () => {
        const order = await cache.get(list, ORDER_S * 1000, async () => {
          const tokenIds = (await fills.tokens(selection)) ?? [];
          const filter = { tokenIds, status, minSize: null, wallets: null };
          return positions.holderOrder(filter, measures[query.sort], 'desc');
        });
        return order.value;
      },
    });
    const rows = (await positions.byId(page.ids)).map(holderFrom);
    const paging = () => pagingOf(query, { rows: rows.length, hasMore: page.hasMore, cursor: null, context });
    return { rows, paging };
  };

  const page = { data: z.array(holderSchema), ...pageFields };
  const example = { data: [holderFrom(examplePosition)], ...examplePaging, next_cursor: null };

  const byCondition = defineRoute({
    ...common,
    path: '/v3/markets/condition/{condition_id}/positions',
    summary: 'Who holds, or held, the outcomes of a market',
    description: `One row per wallet and outcome. ${WALK} Page sizes go up to 300 on the starter plan.`,
    params: z.object({ condition_id: v3.conditionId }),
    query: z.object({ sort: sortParam('pnl'), limit: v3.limit(LARGEST_PAGE), offset: v3.offset }),
    success: { description: 'A page of positions', schema: z.object(page), example },
    async handler({ params: { condition_id: conditionId }, query }, context) {
      const plan = context.caller?.plan;
      const most = plan === undefined ? 0 : plans[plan].conditionPositionsMaxLimit;
      const held = { ...query, limit: Math.min(query.limit, most) };
      const { rows, paging } = await pageOf(conditionId, { conditionId }, held, context);
      return { body: { data: rows, ...paging() } };
    },
  });

  const bySlug = defineRoute({
    ...common,
    path: '/v3/markets/slug/{slug}/positions',
    summary: 'Who holds, or held, the outcomes of a market, by its slug',
    description: `One row per wallet and outcome. ${WALK}`,
    params: z.object({ slug: v3.slug }),
    query: z.object({
      sort: sortParam('realized_pnl'),
      status: choiceParam({
        description: 'open: shares held; closed: none left. Default both.',
        invalid: 'invalid status: use open or closed',
        values: ['open', 'closed'],
      }).optional(),
      limit: v3.limit(),
      offset: v3.offset,
    }),
    success: { description: 'A page of positions', schema: z.object(page), example },
    async handler({ params: { slug: marketSlug }, query }, context) {
      const { rows, paging } = await pageOf(`slug ${marketSlug}`, { marketSlug }, query, context);
      return { body: { data: rows, ...paging() } };
    },
  });

  const { token_id: _, ...exampleRow } = holderFrom(examplePosition);
  const byToken = defineRoute({
    ...common,
    path: '/v3/markets/{token_id}/positions',
    summary: 'Who holds, or held, an outcome token',
    description: WALK,
    params: z.object({ token_id: v3.tokenId }),
    query: z.object({ sort: sortParam('pnl'), limit: v3.limit(), offset: v3.offset }),
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
