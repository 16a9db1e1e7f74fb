import { z } from 'zod';
import { copyPeriods } from '../../../schemas/copy-pnl/period-scores.sql.js';
import type { PoolDirectory } from '../../copy-pnl/pool-directory.js';
import type { PoolScoresReader } from '../../copy-pnl/pool-scores.js';
import { sortKeyNames } from '../../copy-pnl/pool-scores.sql.js';
import { EXAMPLE_WALLET } from '../../http/chain-params.js';
import { named } from '../../http/named-params.js';
import { choiceParam, integerFrom, integerParam, parsedText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';
import { v2 } from '../v2-onchain/params.js';
import { admit, common } from './pool-common.js';
import { exampleScore, INVALID_PERIOD, lastRefreshSchema, scoreFields, scoreFrom } from './pool-score.js';

const MAX_LIMIT = 1_000;
const sortKeys = sortKeyNames as [(typeof sortKeyNames)[number], ...(typeof sortKeyNames)[number][]];

/** Accepts every whole number and clamps it to 1..1000. */
const limitParam = parsedText(
  {
    parse(text) {
      const value = integerFrom(text);
      return value === null ? undefined : Math.min(MAX_LIMIT, Math.max(1, value));
    },
    invalid: 'Invalid limit. Use a whole number',
  },
  { type: 'integer', description: `Rows per page. Default 100; clamped to 1..${MAX_LIMIT}.` },
).default(100);

const query = z.object({
  period: choiceParam({ description: 'Default 30d.', invalid: INVALID_PERIOD, values: copyPeriods }).default('30d'),
  sort_by: choiceParam({
    description: 'Default backtest_copy_pnl_usdc.',
    invalid: `Invalid sort_by. Allowed: ${sortKeys.join(', ')}`,
    values: sortKeys,
  }).default('backtest_copy_pnl_usdc'),
  order: choiceParam({
    description: 'Default desc. Null rates are last in both orders.',
    invalid: 'Invalid order. Allowed: asc | desc',
    values: ['asc', 'desc'],
  }).default('desc'),
  limit: limitParam,
  offset: v2.offset,
  min_trade_count: integerParam({
    description: 'Leaves out wallets with fewer fills in the period. Default 0.',
    invalid: 'Invalid min_trade_count. Use a whole number, 0 or more',
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    documentedMax: false,
  }).default(0),
  exclude_toxic: named.flag('exclude_toxic', 'Leaves out wallets with a rate above 15. Default false.').default(false),
});

/** GET /v2/copy-pnl/leaderboard: the scored wallets of the caller's pool in one period, sorted, filtered and paged. */
export function createPoolLeaderboardRoute(deps: {
  pools: PoolDirectory;
  scores: PoolScoresReader;
  rateLimitStore: RateLimitStore;
}): Route {
  return defineRoute({
    ...common,
    method: 'get',
    path: '/v2/copy-pnl/leaderboard',
    reads: ['wallet_activity'],
    respondsWhileEmpty: true,
    summary: 'Wallets of the pool by score',
    description:
      'The wallets with a score in the period, also if a later refresh failed. `errored` and `pending` count the others: their last refresh failed, or they were not scored yet. Ties are in order of wallet.',
    query,
    success: {
      description: 'A page',
      schema: z.object({
        period: z.enum(copyPeriods),
        sort_by: z.enum(sortKeys),
        order: z.enum(['asc', 'desc']),
        filters: z.object({ min_trade_count: z.int(), exclude_toxic: z.boolean() }),
        total_in_pool: z.int(),
        scored: z.int().meta({ description: 'Wallets with a score in the period.' }),
        filtered_in: z.int().meta({ description: 'Scored wallets that pass the filters.' }),
        pending: z.int(),
        errored: z.int(),
        offset: z.int(),
        limit: z.int(),
        last_refresh: lastRefreshSchema,
        results: z.array(
          z.object({
            local_rank: z.int().meta({ description: 'Position in the whole list, from 1.' }),
            wallet: z.string(),
            ...scoreFields,
          }),
        ),
        errored_sample: z
          .array(z.object({ wallet: z.string(), error: z.string(), ts: z.int() }))
          .optional()
          .meta({ description: 'Up to 10, only if there are any.' }),
        pending_sample: z.array(z.string()).optional().meta({ description: 'Up to 10, only if there are any.' }),
      }),
      example: {
        period: '30d',
        sort_by: 'backtest_copy_pnl_usdc',
        order: 'desc',
        filters: { min_trade_count: 0, exclude_toxic: false },
        total_in_pool: 2,
        scored: 1,
        filtered_in: 1,
        pending: 1,
        errored: 0,
        offset: 0,
        limit: 100,
        last_refresh: 1811001000,
        results: [{ local_rank: 1, wallet: EXAMPLE_WALLET, ...exampleScore }],
        pending_sample: ['0x2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e'],
      },
    },
    async handler({ query: requested }, context) {
      const caller = await admit(deps.rateLimitStore, context);
      const { period, order, limit, offset } = requested;
      const filters = { min_trade_count: requested.min_trade_count, exclude_toxic: requested.exclude_toxic };
      const wallets = deps.pools.walletsOf(caller.poolKeyHash);
      const [leaderboard, lastRefresh] = await Promise.all([
        deps.scores.leaderboard(wallets, {
          period,
          sortBy: requested.sort_by,
          order,
          limit,
          offset,
          minTradeCount: filters.min_trade_count,
          excludeToxic: filters.exclude_toxic,
        }),
        deps.scores.lastRefreshS(),
      ]);
      return {
        body: {
          period,
          sort_by: requested.sort_by,
          order,
          filters,
          total_in_pool: wallets.length,
          scored: leaderboard.scored,
          filtered_in: leaderboard.filteredIn,
          pending: leaderboard.pending,
          errored: leaderboard.errored,
          offset,
          limit,
          last_refresh: lastRefresh,
          results: leaderboard.page.map(({ wallet, score }, index) => ({
            local_rank: offset + index + 1,
            wallet,
            ...scoreFrom(score),
          })),
          ...(leaderboard.errored === 0
            ? {}
            : {
                errored_sample: leaderboard.erroredSample.map(({ wallet, error, atS }) => ({ wallet, error, ts: atS })),
              }),
          ...(leaderboard.pending === 0 ? {} : { pending_sample: [...leaderboard.pendingSample] }),
        },
      };
    },
  });
}
