import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import { MAX_STALENESS_S } from '../../catalog/change-feed.js';
import { EXAMPLE_WALLET } from '../../http/chain-params.js';
import { named } from '../../http/named-params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Period, PnlPoint } from '../../pnl-series/series.js';
import type { Readers } from '../../readers.js';
import { common } from './params.js';

const CACHE_S = 60;
/** Cache lifetime of a response; the series it is computed from may be older by MAX_STALENESS_S. */
const RESPONSE_CACHE_S = CACHE_S - MAX_STALENESS_S;
const HOUR_S = 3_600;
/** Spacing and number of points per period; null: the age of the wallet determines the number. */
const periods = {
  '1D': { stepS: HOUR_S, points: 25 },
  '1W': { stepS: 3 * HOUR_S, points: 57 },
  '1M': { stepS: 18 * HOUR_S, points: 41 },
  ALL: { stepS: 12 * HOUR_S, points: null },
} as const satisfies Record<string, Period>;

/** GET /v1/trader/{wallet}/pnl: PnL series of a wallet. */
export function createV1PnlRoute({ cache, pnlSeries }: Pick<Readers, 'cache' | 'pnlSeries'>): Route {
  return defineRoute({
    ...common,
    cacheS: CACHE_S,
    path: '/v1/trader/{wallet}/pnl',
    reads: ['pnl', 'positions', 'fills'],
    summary: 'PnL of a wallet over time',
    description:
      'Cumulative since the first trade of the wallet, without combos, marked to market, after fees: cash received minus cash paid, plus positions at the prices of each point. A past point values each token at its settlement price if the market was resolved by then, otherwise at the last trade of the full hours before it on either outcome of the market, and at cost without one: order book and catalogue quotes of the past are not stored. The newest point uses the current prices of the other endpoints (settlement, fresh mid, last fill or catalogue quote), so it can differ from the point before it although nothing was traded. Points are 1 h (1D), 3 h (1W), 18 h (1M) or 12 h (ALL) apart. Of wallets with many events one series of an account is computed at a time: others wait up to 20 s. 503 if a series takes too long to compute; a shorter period takes less.',
    params: z.object({ wallet: named.wallet }),
    query: z.object({
      period: named.choice('period', ['1D', '1W', '1M', 'ALL'], 'Default 1M.').default('1M'),
    }),
    success: {
      description: 'Oldest first; empty for a wallet that never traded',
      schema: z.object({
        wallet: z.string(),
        period: z.enum(['1D', '1W', '1M', 'ALL']),
        series: z.array(z.object({ timestamp: z.int().meta({ description: 'Unix seconds.' }), pnl: z.number() })),
        count: z.int(),
      }),
      example: {
        wallet: EXAMPLE_WALLET,
        period: '1W',
        series: [
          { timestamp: 1790089200, pnl: 120.5 },
          { timestamp: 1790100000, pnl: 118.25 },
        ],
        count: 2,
      },
    },
    async handler({ params: { wallet }, query: { period } }, { caller }) {
      const cached = await cache.getLimited<readonly PnlPoint[] | null>(
        `v1 pnl ${wallet} ${period}`,
        RESPONSE_CACHE_S * 1000,
        (shared) => pnlSeries(wallet, periods[period], caller?.accountId ?? '', shared),
      );
      const series = (cached.value ?? []).map(({ atS, pnl }) => ({ timestamp: atS, pnl: moneyToNumber(pnl) }));
      return { body: { wallet, period, series, count: series.length }, cache: cached };
    },
  });
}
