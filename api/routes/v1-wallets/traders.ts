import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import { moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import { createTtlCache } from '../../cache/ttl-cache.js';
import { packIds, unpackIds } from '../../catalog/id-list.js';
import { MAX_RANKED } from '../../catalog/markets.sql.js';
import { notFound } from '../../errors/failure.js';
import { paginationSessionKey } from '../../fills/pagination-sessions.js';
import { minSizeAlias } from '../../http/aliases.js';
import { cacheHeaders } from '../../http/cache-headers.js';
import { flagParam, hashParam, usdParam } from '../../http/chain-params.js';
import { priceDocs } from '../../http/field-docs.js';
import { choiceParam, integerParam } from '../../http/params.js';
import { defineRoute, errorSchema, type Route } from '../../http/route.js';
import { enforceFeatureLimit, type FeatureLimit } from '../../limits/feature-limit.js';
import type { RateLimitStore } from '../../limits/port.js';
import { completeField, ifKnown, knownAmountsOf } from '../../positions/completeness.js';
import { exampleOpenPosition } from '../../positions/examples.js';
import { type Holder, positionId } from '../../positions/position.js';
import type { HolderSort } from '../../positions/positions.sql.js';
import { priceSource, priceSourceOf } from '../../positions/price-fields.js';
import type { RankedHolders } from '../../positions/top-holders.js';
import type { HolderRow } from '../../positions/top-holders.sql.js';
import type { Readers } from '../../readers.js';
import { common, marketId, paging, parseWallets } from './params.js';

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

/** Holders that are ranked with a first page, so that later pages continue in the same order. */
const PREFIX_LENGTH = 1_000;
/** Upper bound on cached ranked wallets: 25 MB with the first rows. */
const MAX_CACHED_WALLETS = 600_000;
/** Weight of a cached first row, in ranked wallets. */
const ROW_WEIGHT = 12;

const packRankedHolders = ({ wallets, first }: RankedHolders): string =>
  JSON.stringify({ wallets: [...wallets].map(([token, list]) => [token, packIds(list)]), first });
function unpackRankedHolders(text: string): RankedHolders {
  const { wallets, first } = JSON.parse(text) as { wallets: [string, string][]; first: HolderRow[] };
  return { wallets: new Map(wallets.map(([token, list]) => [token, unpackIds(list)])), first };
}

/** Returns a function that loads at its first call and returns the same promise afterwards; the outcomes of a market share it. */
const loadOnce = <T>(load: () => Promise<T>): (() => Promise<T>) => {
  let running: Promise<T> | undefined;
  return () => {
    running ??= load();
    return running;
  };
};

/** Time of the first and last fill of a position, Unix seconds. */
type Trades = { readonly firstS: number; readonly lastS: number };

/** Serializes a holder. Profile fields are empty: they are not on chain. `trades`: undefined if not requested. */
const rowFrom = (
  position: Holder,
  market: { readonly conditionId: string | null; readonly outcomes: readonly string[] },
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
    conditionId: market.conditionId ?? '',
    outcome: market.outcomes[outcomeIndex] ?? '',
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
export function createTopTradersRoute(deps: { readers: Readers; rateLimitStore: RateLimitStore }): Route {
  const { readers, rateLimitStore } = deps;
  const rankingCache = createTtlCache({
    maxEntries: 1_000,
    nowMs: readers.nowMs,
    dataVersion: readers.dataVersion,
    weigh: (value) => {
      const { wallets, first } = value as RankedHolders;
      return [...wallets.values()].reduce((sum, { length }) => sum + length, first.length * ROW_WEIGHT);
    },
    maxWeight: MAX_CACHED_WALLETS,
    packing: { pack: (value) => packRankedHolders(value as RankedHolders), unpack: unpackRankedHolders },
  });
  const conditionId = hashParam({ invalid: 'Invalid market', description: '' });

  /** Market by condition id or slug; null if neither catalogue nor chain knows it. */
  const marketOf = async (id: string) => {
    const condition = conditionId.safeParse(id);
    const [first] = condition.success ? [] : ((await readers.fills.tokens({ marketSlug: id })) ?? []);
    const named = first === undefined ? null : (await readers.metadata.tokensOf([first])).get(first);
    const found = condition.success ? condition.data : (named?.conditionId ?? null);
    if (found === null) return null;
    const market = (await readers.conditionsOf([found])).get(found);
    return market === undefined || !(market.known || market.onChain) ? null : { ...market, conditionId: found };
  };

  return defineRoute({
    ...common,
    cacheS: CACHE_S,
    path: '/v1/markets/{id}/positions',
    reads: ['positions', 'fills', 'catalog'],
    summary: 'Top traders of a market',
    description: 'Current and former holders per outcome. limit and offset apply per outcome; PnL is before fees.',
    params: z.object({
      id: marketId,
    }),
    query: z.object({
      limit: integerParam({
        description: `Rows per outcome. Default ${DEFAULT_ROWS}.`,
        invalid: `Invalid limit. Use 1 to ${MAX_ROWS}`,
        min: 1,
        max: MAX_ROWS,
      }).default(DEFAULT_ROWS),
      offset: paging.offset,
      sortBy: choiceParam({
        description: 'Default TOTAL_PNL. TOKENS is SIZE, TOTAL_VALUE is CURRENT_VALUE.',
        invalid: `Invalid sortBy. Use: ${sortNames.join(', ')}`,
        values: sortNames,
      }).default('TOTAL_PNL'),
      sortDirection: choiceParam({
        description: 'Default DESC.',
        invalid: 'Invalid sortDirection. Use: ASC, DESC',
        values: ['ASC', 'DESC'],
      }).default('DESC'),
      status: choiceParam({
        description: 'OPEN: shares held, whether the market is settled or not; CLOSED: none left. Default ALL.',
        invalid: 'Invalid status. Use: OPEN, CLOSED, ALL',
        values: ['OPEN', 'CLOSED', 'ALL'],
      }).default('ALL'),
      min_size: usdParam({ description: 'Smallest size.', invalid: 'Invalid min_size' }).optional(),
      includeTrades: flagParam({
        description: `Adds firstTradeAt and lastTradeAt; ${commonLimits.includeTradesPerMinutePerKey} requests per minute and key.`,
        invalid: 'Invalid includeTrades. Use: true, false',
      }).default(false),
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
        outcomes: z.array(z.object({ token: z.string(), positions: z.array(rowSchema) })),
      }),
      example: {
        condition_id: exampleOpenPosition.metadata.conditionId,
        market_title: exampleOpenPosition.metadata.market,
        slug: exampleOpenPosition.metadata.slug,
        image: exampleOpenPosition.metadata.image,
        outcome_names: ['Yes', 'No'],
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
    otherResponses: {
      404: {
        description: 'Neither a known slug nor a known condition id.',
        schema: errorSchema,
        example: { error: 'Market snow-lisbon-may not found' },
      },
    },
    async handler({ params: { id }, query }, context) {
      const { limit, offset, includeTrades, ...filter } = query;
      const users = query.user === undefined ? null : parseWallets(query.user, 'user', commonLimits.topTradersMaxUsers);
      if (includeTrades) await enforceFeatureLimit(rateLimitStore, tradesLimit, context);
      const market = await marketOf(id);
      if (market === null) throw notFound(`Market ${id} not found`);

      let ageMs = 0;
      // Rows that were loaded together with the ranking.
      let first: readonly HolderRow[] = [];
      const wallets = users === null ? null : [...users].sort();
      const name = paginationSessionKey(undefined, `v1 traders ${market.conditionId}`, { ...filter, user: wallets });
      const sessionKey = paginationSessionKey(context.caller?.accountId, name, {});
      const request = {
        tokenIds: market.tokenIds,
        status: statuses[filter.status],
        minSize: filter.min_size ?? null,
        wallets,
      } as const;
      const by = { sort: sorts[filter.sortBy], order: filter.sortDirection === 'ASC' ? 'asc' : 'desc' } as const;
      const rows = PREFIX_LENGTH + limit;
      const prefix = loadOnce(async () => {
        const load = () => readers.topHolders.ranked(request, { ...by, shown: limit, rows });
        // A short ranking is not cached: reloading it is as fast.
        const lifeMs = ({ wallets: found }: RankedHolders) =>
          [...found.values()].every(({ length }) => length < rows) ? 0 : CACHE_S * 1000;
        const cached = await rankingCache.get(`${name} ${limit}`, lifeMs, load);
        ageMs = cached.ageMs;
        first = cached.value.first;
        return cached.value.wallets;
      });
      // Not cached: the ranking of a later page must not be older than that of the first page.
      const all = loadOnce(() => readers.topHolders.ranked(request, { ...by, shown: 0, rows: MAX_RANKED }));
      const pages = await Promise.all(
        market.tokenIds.map(async (token) => {
          const page = await readers.rankings.page({
            sessionKey: `${sessionKey} ${token}`,
            offset,
            limit,
            load: async () => (await all()).wallets.get(token) ?? [],
            async loadPrefix() {
              const ids = (await prefix()).get(token) ?? [];
              return { ids, isComplete: ids.length < rows };
            },
          });
          return page.ids.map((wallet) => ({ wallet, tokenId: token }));
        }),
      );
      const found = await readers.topHolders.holders(pages.flat(), first);
      const outcomes = market.tokenIds.map((token) => ({
        token,
        positions: found.filter((position) => position.tokenId === token),
      }));
      const shown = outcomes.flatMap(({ positions }) => positions);
      const trades = includeTrades ? await readers.positions.tradeSpans(shown) : null;
      return {
        body: {
          condition_id: market.conditionId,
          market_title: market.question,
          slug: market.slug,
          image: market.image,
          outcome_names: [...market.outcomes],
          outcomes: outcomes.map(({ token, positions }, outcomeIndex) => ({
            token,
            positions: positions.map((position) =>
              rowFrom(
                position,
                market,
                outcomeIndex,
                trades === null ? undefined : (trades.get(positionId(position)) ?? null),
              ),
            ),
          })),
        },
        cache: cacheHeaders({ ageMs }, CACHE_S),
      };
    },
  });
}
