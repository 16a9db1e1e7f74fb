import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import { moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import { knownCondition } from '../../catalog/conditions.js';
import { notFound } from '../../errors/failure.js';
import { minSizeAlias } from '../../http/aliases.js';
import { usdParam } from '../../http/chain-params.js';
import { priceDocs } from '../../http/field-docs.js';
import { named } from '../../http/named-params.js';
import { integerParam } from '../../http/params.js';
import { defineRoute, notFoundResponse, type Route } from '../../http/route.js';
import { enforceFeatureLimit, type FeatureLimit } from '../../limits/feature-limit.js';
import type { RateLimitStore } from '../../limits/port.js';
import { cursorsOf } from '../../pagination/cursor.js';
import { completeField, ifKnown, knownAmountsOf } from '../../positions/completeness.js';
import { exampleOpenPosition } from '../../positions/examples.js';
import { type Holder, positionId } from '../../positions/position.js';
import type { HolderSort } from '../../positions/positions.sql.js';
import { priceSource, priceSourceOf } from '../../positions/price-fields.js';
import { holdersCursor } from '../../positions/top-holders.js';
import type { Readers } from '../../readers.js';
import { common, cursor, marketId, marketNameOf, nextCursor, paging, parseUsers } from './params.js';

const CACHE_S = 30;
const DEFAULT_ROWS = 50;
const MAX_ROWS = commonLimits.topTradersMaxLimit;

const sorts = {
  TOTAL_PNL: 'total_pnl',
  REALIZED_PNL: 'realized_pnl',
  CURRENT_VALUE: 'current_value',
  TOTAL_VALUE: 'current_value',
  SIZE: 'size',
  INITIAL_VALUE: 'initial_value',
  TOKENS: 'size',
  CASH_PNL: 'unrealized_pnl',
} as const satisfies Record<string, HolderSort>;
const sortNames = Object.keys(sorts) as (keyof typeof sorts)[];
const statuses = { OPEN: 'open', CLOSED: 'closed', ALL: 'all' } as const;

const tradesLimit: FeatureLimit = {
  name: 'include-trades',
  requests: commonLimits.includeTradesPerMinutePerKey,
  windowMs: commonLimits.rateWindowMs,
  message: (retryAtS) =>
    `includeTrades is limited to ${commonLimits.includeTradesPerMinutePerKey} requests per minute per key. Retry after ${retryAtS}`,
};

const tradeTime = z
  .int()
  .nullable()
  .optional()
  .meta({ description: 'Only with includeTrades, Unix seconds; null without a fill.' });
const rowSchema = z.object({
  proxyWallet: z.string(),
  name: z.string(),
  profileImage: z.string(),
  verified: z.boolean(),
  asset: z.string(),
  conditionId: z.string(),
  outcome: z.string(),
  outcomeIndex: z.int(),
  size: z.number().nullable(),
  avgPrice: z.number().nullable().describe(priceDocs.average),
  currPrice: z.number().describe(`${priceDocs.now} 0 where there is none.`),
  priceSource,
  priceUpdatedAt: z.int().nullable().meta({ description: 'Unix seconds.' }),
  currentValue: z.number().nullable(),
  totalBought: z.number().nullable(),
  realizedPnl: z.number().nullable(),
  cashPnl: z.number().nullable(),
  totalPnl: z.number().nullable(),
  complete: completeField,
  firstTradeAt: tradeTime,
  lastTradeAt: tradeTime,
});

/** Time of the first and last fill of a position, Unix seconds. */
type Trades = { readonly firstS: number; readonly lastS: number };

/** Serializes a holder. Profile fields are empty: they are not on chain. `trades`: undefined if not requested. */
const rowFrom = (
  position: Holder,
  { conditionId, outcomes }: { readonly conditionId: string | null; readonly outcomes: readonly string[] },
  outcomeIndex: number,
  trades: Trades | null | undefined,
): z.input<typeof rowSchema> => {
  const known = knownAmountsOf(position);
  return {
    proxyWallet: position.wallet,
    name: '',
    profileImage: '',
    verified: false,
    asset: position.tokenId,
    conditionId: conditionId ?? '',
    outcome: outcomes[outcomeIndex] ?? '',
    outcomeIndex,
    size: ifKnown(known.size, moneyToNumber),
    avgPrice: ifKnown(known.avgPrice, (average) => priceNumber(average, 10n ** 18n, 6) ?? 0),
    currPrice: moneyToNumber(position.price.usd ?? 0n),
    priceSource: priceSourceOf(position.price),
    priceUpdatedAt: position.price.updatedAtS,
    currentValue: ifKnown(known.currentValue, moneyToNumber),
    totalBought: ifKnown(known.totalBought, moneyToNumber),
    realizedPnl: ifKnown(known.realizedPnl, moneyToNumber),
    cashPnl: ifKnown(known.unrealizedPnl, moneyToNumber),
    totalPnl: ifKnown(known.totalPnl, moneyToNumber),
    complete: position.isComplete,
    ...(trades === undefined ? {} : { firstTradeAt: trades?.firstS ?? null, lastTradeAt: trades?.lastS ?? null }),
  };
};

/** GET /v1/markets/{id}/positions: top traders per outcome. */
export function createTopTradersRoute(readers: Readers, rateLimitStore: RateLimitStore): Route {
  return defineRoute({
    ...common,
    cacheS: CACHE_S,
    path: '/v1/markets/{id}/positions',
    reads: ['positions', 'fills', 'catalog'],
    summary: 'Top traders of a market',
    description:
      'Current and former holders per outcome. limit, offset and next_cursor apply per outcome; PnL is before fees.',
    params: z.object({ id: marketId }),
    query: z.object({
      limit: integerParam({
        description: `Rows per outcome. Default ${DEFAULT_ROWS}.`,
        invalid: `Invalid limit. Use 1 to ${MAX_ROWS}`,
        min: 1,
        max: MAX_ROWS,
      }).default(DEFAULT_ROWS),
      offset: paging.offset,
      cursor,
      sortBy: named
        .choice('sortBy', sortNames, 'Default TOTAL_PNL. TOKENS is SIZE, TOTAL_VALUE is CURRENT_VALUE.')
        .default('TOTAL_PNL'),
      sortDirection: named.sortDirection,
      status: named
        .choice(
          'status',
          ['OPEN', 'CLOSED', 'ALL'],
          'OPEN: shares held, whether the market is settled or not; CLOSED: none left. Default ALL.',
        )
        .default('ALL'),
      min_size: usdParam({ description: 'Smallest size.', invalid: 'Invalid min_size' }).optional(),
      includeTrades: named
        .flag(
          'includeTrades',
          `Adds firstTradeAt and lastTradeAt; ${commonLimits.includeTradesPerMinutePerKey} requests per minute and key.`,
        )
        .default(false),
      user: z
        .string()
        .meta({ description: `Only these wallets: up to ${commonLimits.topTradersMaxUsers}, comma-separated.` })
        .optional(),
    }),
    aliases: minSizeAlias,
    success: {
      description: 'A page per outcome, in the order of the outcomes',
      schema: z.object({
        condition_id: z.string(),
        market_title: z.string().nullable().meta({ description: 'null until the catalogue lists the market.' }),
        slug: z.string().nullable().meta({ description: 'null until the catalogue lists the market.' }),
        image: z.string().nullable(),
        outcome_names: z.array(z.string()),
        next_cursor: nextCursor,
        outcomes: z.array(z.object({ token: z.string(), positions: z.array(rowSchema) })),
      }),
      example: {
        condition_id: exampleOpenPosition.metadata.conditionId,
        market_title: exampleOpenPosition.metadata.market,
        slug: exampleOpenPosition.metadata.slug,
        image: exampleOpenPosition.metadata.image,
        outcome_names: ['Yes', 'No'],
        next_cursor: null,
        outcomes: [
          {
            token: exampleOpenPosition.tokenId,
            positions: [
              rowFrom(exampleOpenPosition, exampleOpenPosition.metadata, 0, { firstS: 1789000000, lastS: 1790000123 }),
            ],
          },
          { token: exampleOpenPosition.metadata.tokenIds[1], positions: [] },
        ],
      },
    },
    otherResponses: notFoundResponse(
      'Neither a known slug nor a known condition id.',
      'Market snow-lisbon-may not found',
    ),
    async handler({ params: { id }, query }, context) {
      const { limit, offset, includeTrades } = query;
      const users = parseUsers(query.user, commonLimits.topTradersMaxUsers);
      if (includeTrades) await enforceFeatureLimit(rateLimitStore, tradesLimit, context);
      const condition = await knownCondition(readers, marketNameOf(id));
      if (condition === null) throw notFound(`Market ${id} not found`);
      const { market, tokenIds, conditionId } = condition;
      const outcomes = market?.outcomes ?? [];

      const wallets = users === null ? null : [...users].sort();
      const sort = sorts[query.sortBy];
      const order = query.sortDirection === 'ASC' ? 'asc' : 'desc';
      const cursors = cursorsOf(holdersCursor(tokenIds.length), {
        endpoint: context.endpoint,
        order: `${sort} ${order}`,
      });
      const starts = cursors.read(query.cursor) ?? [];
      const filter = {
        tokenIds,
        status: statuses[query.status],
        minSize: query.min_size ?? null,
        wallets,
      } as const;
      const load = async () => {
        const rows = await readers.topHolders.pages(filter, { sort, order, limit, offset, starts });
        return { rows, hasMore: rows.some(({ next }) => next !== 'end') };
      };
      const name = JSON.stringify([
        'v1 traders',
        conditionId,
        filter.status,
        String(filter.minSize),
        wallets,
        sort,
        order,
        limit,
        offset,
        query.cursor,
      ]);
      // A short list is not cached: reloading it is as fast.
      const lifeMs = ({ hasMore }: { readonly hasMore: boolean }) => (hasMore ? CACHE_S * 1000 : 0);
      const { value: pages, ageMs } = await readers.cache.get(name, lifeMs, load);
      const shown = pages.rows.flatMap(({ holders }) => holders);
      const trades = includeTrades ? await readers.positions.tradeSpans(shown) : null;
      return {
        body: {
          condition_id: conditionId,
          market_title: market?.question ?? null,
          slug: market?.slug ?? null,
          image: market?.image ?? null,
          outcome_names: [...outcomes],
          next_cursor: pages.hasMore ? cursors.write(pages.rows.map(({ next }) => next)) : null,
          outcomes: tokenIds.map((token, outcomeIndex) => ({
            token,
            positions: (pages.rows[outcomeIndex]?.holders ?? []).map((position) =>
              rowFrom(
                position,
                { conditionId, outcomes },
                outcomeIndex,
                trades === null ? undefined : (trades.get(positionId(position)) ?? null),
              ),
            ),
          })),
        },
        cache: { ageMs },
      };
    },
  });
}
