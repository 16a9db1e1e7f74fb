import pLimit from 'p-limit';
import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import type { TtlCache } from '../../cache/ttl-cache.js';
import { EXAMPLE_WALLET, walletParam } from '../../http/chain-params.js';
import { choiceParam } from '../../http/params.js';
import { cacheOf } from '../../http/replies.js';
import { defineRoute, type Route } from '../../http/route.js';
import { LINES_S } from '../../positions/price-lines.js';
import { firstMoment, type ProfitSeriesDeps, readProfitSeries } from '../../positions/series.js';
import type { Grid } from '../../positions/series.sql.js';
import { common } from './params.js';

const CACHE_S = 60;
/** Of an answer; the prices in it may have been held before. */
const ANSWER_S = CACHE_S - LINES_S;
const AT_ONCE = 4;
/** Changes of positions. With 100,000 positions a series takes some 100 MB while it is made: those of large wallets are made one by one. */
const MANY = 3_000;
const HOUR_S = 3_600;
const MINUTE_S = 60;
/** Spacing of the points, and how many; null: as many as the wallet is old. */
const periods = {
  '1D': { stepS: HOUR_S, points: 25 },
  '1W': { stepS: 3 * HOUR_S, points: 57 },
  '1M': { stepS: 18 * HOUR_S, points: 41 },
  ALL: { stepS: 12 * HOUR_S, points: null },
} as const;

/** `points` moments `stepS` apart, counted back from the minute of now; or as many as there are since a time. */
function gridOf(stepS: number, points: number | { readonly sinceS: number }, nowMs: number): Grid {
  const endS = Math.floor(nowMs / 1000 / MINUTE_S) * MINUTE_S;
  const count = typeof points === 'number' ? points : Math.max(0, Math.floor((endS - points.sinceS) / stepS)) + 1;
  return { startS: endS - (count - 1) * stepS, stepS, points: count };
}

/** GET /v1/trader/{wallet}/pnl. */
export function createV1PnlRoute(deps: ProfitSeriesDeps & { cache: TtlCache; nowMs: () => number }): Route {
  const turn = pLimit(AT_ONCE);
  const largeTurn = pLimit(1);
  const seriesOf = async (wallet: string, period: keyof typeof periods) => {
    const { stepS, points } = periods[period];
    const sinceS = points === null ? await firstMoment(deps.tables, wallet) : null;
    if (points === null && sinceS === null) return null;
    const grid = gridOf(stepS, points ?? { sinceS: sinceS ?? 0 }, deps.nowMs());
    const found = await turn(() => readProfitSeries(deps, wallet, grid, MANY));
    return found === 'more' ? largeTurn(() => readProfitSeries(deps, wallet, grid, null)) : found;
  };
  return defineRoute({
    ...common,
    cacheS: CACHE_S,
    path: '/v1/trader/{wallet}/pnl',
    summary: 'Profit of a wallet over time',
    description:
      'Cumulative over the life of the wallet, marked to market, after fees: cash in less cash out plus what is held at the prices of each moment. A moment is priced by the last trades of the full hours before it, the newest one by the prices of now, a resolved market by its settlement. Points are 1 h (1D), 3 h (1W), 18 h (1M) or 12 h (ALL) apart.',
    params: z.object({ wallet: walletParam({ invalid: 'Invalid wallet' }) }),
    query: z.object({
      period: choiceParam({
        description: 'Default 1M.',
        invalid: 'Invalid period. Use: 1D, 1W, 1M, ALL',
        values: ['1D', '1W', '1M', 'ALL'],
      }).default('1M'),
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
    async handler({ params: { wallet }, query: { period } }) {
      const cached = await deps.cache.get(`v1 pnl ${wallet} ${period}`, ANSWER_S * 1000, () =>
        seriesOf(wallet, period),
      );
      const series = (cached.value ?? []).map(({ atS, pnl }) => ({ timestamp: atS, pnl: moneyToNumber(pnl) }));
      return { body: { wallet, period, series, count: series.length }, cache: cacheOf(cached, CACHE_S) };
    },
  });
}
