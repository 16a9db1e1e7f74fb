import { z } from 'zod';
import { commonLimits } from '../../../../schemas/plans.js';
import { badParameter } from '../../../errors/failure.js';
import { timeRangeAliases } from '../../../http/aliases.js';
import { EXAMPLE_WALLET } from '../../../http/chain-params.js';
import { defineRoute, errorSchema, type RequestContext, type Route } from '../../../http/route.js';
import { createConcurrencyLimiter } from '../../../limits/concurrency-limiter.js';
import { emptySpanPnl } from '../../../pnl/reader.js';
import type { Span } from '../../../pnl/series.sql.js';
import type { Readers } from '../../../readers.js';
import { times as bounds, v3, v3Route } from '../params.js';
import { selectionAliases, selectionFields, selectTokens } from '../selection.js';
import { emptySummaries } from './pnl-summary.js';
import {
  allTimeFields,
  allTimeFrom,
  exampleSummary,
  seriesFields,
  seriesFrom,
  spanFields,
  spanFrom,
  unrealizedFields,
  unrealizedFrom,
  unrealizedUnknown,
  walletSummaryFields,
  walletSummaryFrom,
} from './pnl-summary.serialize.js';

const common = { ...v3Route, tag: 'Wallets' } as const;
const MAX_BUCKETS = 1_000;
const SERIES_SOURCE = 'realized_pnl_series' as const;
const DAY_S = 86_400;
/** Earliest begin of a span. */
const FIRST_S = 1;
/** Error text of both concurrency limits (per account and in total). */
const BUSY = 'wallet_pnl_busy';
const periodDays = { '1d': 1, '7d': 7, '30d': 30, '1y': 365 } as const;
const periods = ['1d', '7d', '30d', '1y'] as const;
const granularities = ['hour', 'day', 'week', 'month'] as const;

const times = {
  period: v3.choice('period', periods, 'Span that ends now. `after` takes precedence.', ', ').optional(),
  ...bounds,
  after: v3.time('after', FIRST_S).optional(),
};

/** Time span of a query, both ends included; null without one. Throws ApiError if it ends before it begins. */
function spanOf(query: z.output<z.ZodObject<typeof times>>, nowMs: number): Span | null {
  const { period, after, before } = query;
  if (period === undefined && after === undefined && before === undefined) return null;
  const nowS = Math.floor(nowMs / 1000);
  const beforeS = before ?? nowS;
  const afterS = after ?? (period === undefined ? FIRST_S : nowS - periodDays[period] * DAY_S);
  if (afterS > beforeS) throw badParameter('invalid after: later than before');
  return { afterS, beforeS };
}

const pnlQuery = z.object({
  ...times,
  ...selectionFields,
  include_unrealized: v3.flag(
    'include_unrealized',
    'Add unrealized PnL if the span ends now; null for an earlier end.',
  ),
  include_combos: v3.flag('include_combos', 'Add the profit of combos.'),
});
type PnlQuery = z.output<typeof pnlQuery>;

const windowSchema = z.object({
  address: z.string(),
  ...spanFields,
  source: z.literal(SERIES_SOURCE),
  period: z.enum(periods).nullable(),
  after: z.int(),
  before: z.int(),
  ...z.object(unrealizedFields).partial().shape,
  elapsed_ms: z.int(),
});

const seriesHead = { address: z.string(), granularity: z.enum(granularities) };
const allTimeSchema = z.object({
  ...seriesHead,
  ...allTimeFields,
  source: z.literal('wallet_summary'),
  count_type: z.literal('positions'),
  summary_bucket: z.literal(true),
  elapsed_ms: z.int(),
});
const seriesSchema = z.object({
  ...seriesHead,
  after: z.int(),
  before: z.int(),
  ...seriesFields,
  source: z.literal(SERIES_SOURCE),
  elapsed_ms: z.int(),
});

/** GET realized PnL of a wallet within a time span: as one sum, and as a series of buckets. */
export function createWalletPnlRoutes(readers: Readers): readonly Route[] {
  const { pnl } = readers;
  const concurrencyLimiter = createConcurrencyLimiter({
    perAccount: commonLimits.v3PnlAtOncePerAccount,
    total: commonLimits.v3PnlAtOncePerProcess,
    maxWaitMs: 750,
    message: BUSY,
    accountScope: 'v3_pnl_account_concurrency',
    totalScope: 'v3_pnl_global_concurrency',
    nowMs: readers.nowMs,
  });

  const respond = async (address: string, query: PnlQuery, context: RequestContext) => {
    const span = spanOf(query, context.nowMs);
    const tokens = await selectTokens(readers, query);
    const summaryOf = async () => (await pnl.summaries([address], tokens)).get(address) ?? emptySummaries;
    if (span === null) {
      const summary = walletSummaryFrom(address, await summaryOf(), query.include_combos);
      return { ...summary, elapsed_ms: context.elapsedMs() };
    }
    // Sizes and prices of earlier times are not stored.
    const isNow = span.beforeS >= Math.floor(context.nowMs / 1000);
    const [[realized = emptySpanPnl], summary] = await Promise.all([
      pnl.spanPnl(address, [span], { tokens, combos: query.include_combos }),
      query.include_unrealized && isNow ? summaryOf() : null,
    ]);
    const unrealized = summary === null ? null : unrealizedFrom(realized, summary, query.include_combos);
    return {
      address,
      ...spanFrom(realized),
      source: SERIES_SOURCE,
      period: query.after === undefined ? (query.period ?? null) : null,
      after: span.afterS,
      before: span.beforeS,
      ...(query.include_unrealized ? (unrealized ?? unrealizedUnknown) : {}),
      elapsed_ms: context.elapsedMs(),
    };
  };

  const total = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/pnl',
    reads: ['positions', 'pnl'],
    summary: 'PnL of a wallet, of all time or of a span, in all or in selected markets',
    description:
      'Without `period`, `after` and `before` the response is the summary of the wallet. Filters are ANDed. At most two requests of an account run concurrently; a third waits up to 750 ms.',
    params: z.object({ address: v3.address }),
    query: pnlQuery,
    aliases: { ...timeRangeAliases('after', 'before'), ...selectionAliases },
    success: {
      description: 'The summary, or the sums of the span',
      schema: z.union([windowSchema, z.object({ ...walletSummaryFields, elapsed_ms: z.int() })]),
      example: {
        address: EXAMPLE_WALLET,
        ...spanFrom({ ...exampleSummary, events: 4 }),
        source: SERIES_SOURCE,
        period: '30d',
        after: 1787408200,
        before: 1790000200,
        elapsed_ms: 5,
      },
    },
    otherResponses: {
      429: {
        description: 'Too many requests, or two requests of the account are already running.',
        schema: errorSchema,
        example: { error: BUSY, reset_at: 1811000467, scope: 'v3_pnl_account_concurrency' },
      },
      503: {
        description: 'Too many of these requests are running, or log or tables are unreachable.',
        schema: errorSchema,
        example: { error: BUSY, scope: 'v3_pnl_global_concurrency' },
      },
    },
    handler: async ({ params: { address }, query }, context) => ({
      body: await concurrencyLimiter.run(context.caller?.accountId ?? '', () => respond(address, query, context)),
    }),
  });

  const series = defineRoute({
    ...common,
    path: '/v3/wallets/{address}/pnl/events',
    reads: ['positions', 'pnl'],
    summary: 'Realized PnL of a wallet per hour, day, week or month',
    description:
      'Without `period`, `after` and `before`: one bucket over all time that counts positions. Otherwise the UTC buckets with realized PnL, oldest first; weeks begin on Monday. For more than `limit` buckets request again with `after` the last one. Totals cover the returned buckets. Combos are excluded.',
    params: z.object({ address: v3.address }),
    query: z.object({
      group: v3.choice('group', granularities, 'Length of a bucket. Default day.', ', ').default('day'),
      ...times,
      limit: v3.limit(MAX_BUCKETS, MAX_BUCKETS),
    }),
    aliases: timeRangeAliases('after', 'before'),
    success: {
      description: 'The series',
      schema: z.union([allTimeSchema, seriesSchema]),
      example: {
        address: EXAMPLE_WALLET,
        granularity: 'day',
        after: 1789999200,
        before: 1790604000,
        ...seriesFrom([{ ...exampleSummary, events: 4, startS: 1790035200 }]),
        source: SERIES_SOURCE,
        elapsed_ms: 5,
      },
    },
    async handler({ params: { address }, query }, context) {
      const span = spanOf(query, context.nowMs);
      if (span === null) {
        const { markets } = (await pnl.summaries([address], null)).get(address) ?? emptySummaries;
        return {
          body: {
            address,
            granularity: query.group,
            ...allTimeFrom(markets, Math.floor(context.nowMs / 1000)),
            source: 'wallet_summary' as const,
            count_type: 'positions' as const,
            summary_bucket: true as const,
            elapsed_ms: context.elapsedMs(),
          },
        };
      }
      const buckets = await pnl.series(address, span, query.group, query.limit);
      return {
        body: {
          address,
          granularity: query.group,
          after: span.afterS,
          before: span.beforeS,
          ...seriesFrom(buckets),
          source: SERIES_SOURCE,
          elapsed_ms: context.elapsedMs(),
        },
      };
    },
  });

  return [total, series];
}
