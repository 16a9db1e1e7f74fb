import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import { divide, moneyToNumber } from '../../../schemas/primitives/money.js';
import { timeRangeAliases } from '../../http/aliases.js';
import { EXAMPLE_WALLET, flagParam } from '../../http/chain-params.js';
import { named } from '../../http/named-params.js';
import { integerParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { secondsParam } from '../../http/time-params.js';
import { enforceFeatureLimit, type FeatureLimit } from '../../limits/feature-limit.js';
import type { RateLimitStore } from '../../limits/port.js';
import { downsample, EQUITY_BUDGET_MS, type Equity, type EquityPoint } from '../../positions/equity.js';
import { MAX_POSITIONS } from '../../positions/reader.js';
import type { Readers } from '../../readers.js';
import { v2 } from '../v2-onchain/params.js';
import { common, POSITIONS_CACHE_S } from './params.js';

const DAY_S = 86_400;
const MAX_POINTS = 500;
const periods = { '7d': 7, '30d': 30, '90d': 90, '1y': 365, all: null } as const;
type Period = keyof typeof periods;
const periodNames = Object.keys(periods) as Period[];

const PARTIAL_ERRORS = {
  positions: `More than ${MAX_POSITIONS} positions: the oldest closed ones are omitted`,
  time: `Not all positions could be read within ${EQUITY_BUDGET_MS / 1000} s`,
} as const;

const equityLimit: FeatureLimit = {
  name: 'equity',
  requests: 1,
  windowMs: commonLimits.equityIntervalMsPerKey,
  message: () => `Rate limited. 1 request per ${commonLimits.equityIntervalMsPerKey / 1000} s per key.`,
};

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const unixSeconds = (name: string) =>
  secondsParam({ description: '', invalid: `Invalid ${name}. Use YYYY-MM-DD or Unix seconds` });
/** Parses a UTC day since 1970 (its midnight) or Unix seconds. */
const timestampParam = (name: string, description: string) =>
  z
    .string()
    .transform((text, context): number => {
      if (/^\d+$/.test(text)) {
        const seconds = unixSeconds(name).safeParse(text);
        if (seconds.success) return seconds.data;
        context.addIssue({ code: 'custom', message: seconds.error.issues[0]?.message ?? '' });
        return z.NEVER;
      }
      const ms = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
      if (ms >= 0 && new Date(ms).toISOString().startsWith(text)) return ms / 1000;
      context.addIssue({ code: 'custom', message: `Invalid ${name}. Use YYYY-MM-DD or Unix seconds` });
      return z.NEVER;
    })
    .meta({ type: 'string', description });
const flag = (name: string, description: string) =>
  flagParam({ description, invalid: `Invalid ${name}. Use: 0, 1` }).default(false);

const curve = z.array(z.object({ t: z.int().meta({ description: 'Unix seconds.' }), pnl: z.number() }));
const rounded = (value: bigint, from: number, to: number): number =>
  moneyToNumber(divide(value, 10n ** BigInt(from - to), 'half_up'), to);
const curveOf = (points: readonly EquityPoint[], from: number, to: number) =>
  downsample(points, MAX_POINTS).map(({ atS, pnl }) => ({ t: atS, pnl: rounded(pnl, from, to) }));
const finalOf = (points: readonly EquityPoint[], from: number, to: number): number =>
  rounded(points.at(-1)?.pnl ?? 0n, from, to);

/** GET /v2/trader/{wallet}/equity: equity curve of a wallet. */
export function createEquityRoute({ cache, equity: readEquity }: Readers, rateLimitStore: RateLimitStore): Route {
  return defineRoute({
    ...common,
    cacheS: POSITIONS_CACHE_S,
    path: '/v2/trader/{wallet}/equity',
    reads: ['pnl', 'fills'],
    summary: 'Equity curve of a wallet',
    description:
      'Cumulative realized PnL before fees over the positions of the wallet without combos, in the order of their first activity. Sales, merges and redemptions realize PnL. One request per 10 s and key.',
    params: z.object({ wallet: v2.wallet }),
    query: z.object({
      period: named
        .choice('period', periodNames, 'Excludes positions first active before the window. Default 30d.')
        .default('30d'),
      normalize: flag(
        'normalize',
        '1: adds the curve normalized to one dollar per position: its PnL divided by its total cost, with splits at 0.50 per share.',
      ),
      from: timestampParam('from', 'Earliest first activity: YYYY-MM-DD (UTC) or Unix seconds.').optional(),
      to: timestampParam('to', 'Latest first activity.').optional(),
      max_markets: integerParam({
        description: 'Only this number of markets, most recent activity first.',
        invalid: 'Invalid max_markets',
        min: 1,
        max: MAX_POSITIONS,
        clamp: 'max',
      }).optional(),
      include_unrealized: flag('include_unrealized', '1: open positions count at the current price.'),
    }),
    aliases: timeRangeAliases('from', 'to'),
    success: {
      description: 'Oldest first; at most 500 points, including the first and the last',
      schema: z.object({
        wallet: z.string(),
        period: z.string(),
        source: z.literal('onchain'),
        positions_count: z.int(),
        markets_count: z.int(),
        open_count: z.int(),
        applied_filters: z.object({
          fromTs: z.int().nullable(),
          toTs: z.int().nullable(),
          maxMarkets: z.int().nullable(),
          includeUnrealized: z.boolean(),
        }),
        partial: z.boolean(),
        error: z.string().optional().meta({ description: 'Reason why the curve is partial.' }),
        raw: z.object({ points: z.int(), final_pnl: z.number(), curve }),
        normalized: z
          .object({ bet_size: z.literal(1), positions: z.int(), points: z.int(), final_pnl: z.number(), curve })
          .optional(),
      }),
      example: {
        wallet: EXAMPLE_WALLET,
        period: 'all',
        source: 'onchain',
        positions_count: 2,
        markets_count: 2,
        open_count: 1,
        applied_filters: { fromTs: null, toTs: null, maxMarkets: null, includeUnrealized: false },
        partial: false,
        raw: {
          points: 2,
          final_pnl: 42.8,
          curve: [
            { t: 1789000000, pnl: 12.4 },
            { t: 1790100000, pnl: 42.8 },
          ],
        },
      },
    },
    async handler({ params: { wallet }, query }, context) {
      await enforceFeatureLimit(rateLimitStore, equityLimit, context);
      const { period, normalize, from = null, to = null, max_markets: maxMarkets = null } = query;
      const includeUnrealized = query.include_unrealized;
      const name = [wallet, period, from, to, maxMarkets, includeUnrealized].join(' ');
      // What was read in time is not kept: the next request may read more.
      const cacheS = (curve: { readonly partial: Equity['partial'] }) =>
        curve.partial === 'time' ? 0 : POSITIONS_CACHE_S;
      const cached = await cache.get(
        `v2 equity ${name}`,
        (curve) => cacheS(curve) * 1000,
        async () => {
          const days = periods[period];
          const windowStartS = days === null ? null : Math.floor(context.nowMs / 1000) - days * DAY_S;
          const fromS = windowStartS === null || from === null ? (windowStartS ?? from) : Math.max(windowStartS, from);
          const filter = { fromS, toS: to, maxMarkets, includeUnrealized };
          const equity = await readEquity(wallet, filter);
          return {
            counts: [equity.positions, equity.markets, equity.open] as const,
            partial: equity.partial,
            raw: { curve: curveOf(equity.raw, 6, 2), final_pnl: finalOf(equity.raw, 6, 2) },
            normalized: { curve: curveOf(equity.normalized, 18, 4), final_pnl: finalOf(equity.normalized, 18, 4) },
          };
        },
      );
      const { counts, partial, raw, normalized } = cached.value;
      return {
        body: {
          wallet,
          period,
          source: 'onchain' as const,
          positions_count: counts[0],
          markets_count: counts[1],
          open_count: counts[2],
          applied_filters: { fromTs: from, toTs: to, maxMarkets, includeUnrealized },
          partial: partial !== null,
          ...(partial === null ? {} : { error: PARTIAL_ERRORS[partial] }),
          raw: { points: raw.curve.length, ...raw },
          // Costs may be missing then.
          ...(normalize && partial !== 'time'
            ? {
                normalized: {
                  bet_size: 1 as const,
                  positions: counts[0],
                  points: normalized.curve.length,
                  ...normalized,
                },
              }
            : {}),
        },
        cache: { ageMs: cached.ageMs, maxAgeS: cacheS(cached.value) },
      };
    },
  });
}
