import { z } from 'zod';
import { type CopyPeriod, copyPeriods } from '../../../schemas/copy-pnl/period-scores.sql.js';
import type { PoolDirectory } from '../../copy-pnl/pool-directory.js';
import type { PoolScoresReader } from '../../copy-pnl/pool-scores.js';
import { EXAMPLE_WALLET } from '../../http/chain-params.js';
import { parsedText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';
import { admit, common } from './pool-common.js';
import { exampleScore, INVALID_PERIOD, lastRefreshSchema, scoreFields, scoreFrom } from './pool-score.js';

const isPeriod = (text: string): text is CopyPeriod => (copyPeriods as readonly string[]).includes(text);

const periodsParam = parsedText<readonly CopyPeriod[]>(
  {
    parse(text) {
      const named = text.split(',').map((name) => name.trim().toLowerCase());
      return named.every(isPeriod) ? [...new Set(named)] : undefined;
    },
    invalid: INVALID_PERIOD,
  },
  {
    type: 'string',
    description: `Comma-separated, in the order of the response: ${copyPeriods.join(', ')}. Default: all of them.`,
    example: '7d,30d',
  },
).default(copyPeriods);

/** GET /v2/copy-pnl/snapshot: the scores of every wallet in the caller's pool. */
export function createPoolSnapshotRoute(deps: {
  pools: PoolDirectory;
  scores: PoolScoresReader;
  rateLimitStore: RateLimitStore;
}): Route {
  return defineRoute({
    ...common,
    method: 'get',
    path: '/v2/copy-pnl/snapshot',
    reads: ['wallet_activity'],
    respondsWhileEmpty: true,
    summary: 'Scores of all wallets in the pool',
    description:
      'From the last refresh: new wallets are scored at once, all of them every 24 hours. A period without a score is null; a wallet whose last refresh failed keeps its scores in addition to the error. Scoring starts when the history is loaded.',
    query: z.object({ periods: periodsParam }),
    success: {
      description: 'Every wallet, ascending',
      schema: z.object({
        total_in_pool: z.int(),
        scored_any: z.int().meta({ description: 'Wallets with a score in one of the periods.' }),
        errored_any: z.int().meta({ description: 'Wallets whose last refresh failed.' }),
        pending_any: z.int().meta({ description: 'Wallets with neither a score in the periods nor an error.' }),
        periods: z.array(z.enum(copyPeriods)),
        last_refresh: lastRefreshSchema,
        wallets: z.array(
          z.object({
            wallet: z.string(),
            periods: z.partialRecord(z.enum(copyPeriods), z.object(scoreFields).nullable()),
            error: z
              .object({ error: z.string(), ts: z.int().meta({ description: 'Unix seconds.' }) })
              .optional()
              .meta({ description: 'Only if the last refresh of the wallet failed.' }),
          }),
        ),
      }),
      example: {
        total_in_pool: 1,
        scored_any: 1,
        errored_any: 1,
        pending_any: 0,
        periods: ['7d', '30d'],
        last_refresh: 1811001000,
        wallets: [
          {
            wallet: EXAMPLE_WALLET,
            periods: { '7d': null, '30d': exampleScore },
            error: { error: 'timeout_180s', ts: 1811000900 },
          },
        ],
      },
    },
    async handler({ query: { periods } }, context) {
      const caller = await admit(deps.rateLimitStore, context);
      const [wallets, lastRefresh] = await Promise.all([
        deps.scores.scores(deps.pools.walletsOf(caller.poolKeyHash), periods),
        deps.scores.lastRefreshS(),
      ]);
      const count = (test: (wallet: (typeof wallets)[number]) => boolean) => wallets.filter(test).length;
      return {
        body: {
          total_in_pool: wallets.length,
          scored_any: count(({ scores }) => scores.size > 0),
          errored_any: count(({ failure }) => failure !== null),
          pending_any: count(({ scores, failure }) => scores.size === 0 && failure === null),
          periods: [...periods],
          last_refresh: lastRefresh,
          wallets: wallets.map(({ wallet, scores, failure }) => ({
            wallet,
            periods: Object.fromEntries(
              periods.map((period) => {
                const score = scores.get(period);
                return [period, score === undefined ? null : scoreFrom(score)];
              }),
            ),
            ...(failure === null ? {} : { error: { error: failure.error, ts: failure.atS } }),
          })),
        },
      };
    },
  });
}
