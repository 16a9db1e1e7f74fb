import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import { badParameter } from '../../errors/failure.js';
import { priceDocs } from '../../http/field-docs.js';
import { integerParam, requiredText } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import { millisecondsParam } from '../../http/time-params.js';
import type { Readers } from '../../readers.js';
import { v1Route } from '../v1-route.js';
import { feedOf } from './coins.js';
import { symbolParam } from './inputs.js';
import { type CandleRow, candlesSql, laterTickSql, type TickRow, ticksSql } from './oracle.sql.js';

const CANDLES = 30;
const CANDLES_CACHE_S = 5;
const TICKS_CACHE_S = 60;

const candle = z.object({
  time: z.int().meta({ description: 'Start of the 5-minute bucket, Unix seconds.' }),
  open: z.number().describe(priceDocs.tickOpen),
  high: z.number().describe(priceDocs.tickHigh),
  low: z.number().describe(priceDocs.tickLow),
  close: z.number().describe(priceDocs.tickClose),
});

const tick = z.object({
  id: z.string().meta({ description: 'Stable id of the tick.' }),
  type: z.literal('price_feed'),
  feed: z.string(),
  timestamp: z.int().meta({ description: 'Unix seconds.' }),
  timestamp_ms: z.int(),
  is_twap: z.boolean(),
  twap_window_seconds: z.int().nullable(),
  data: z.object({
    feed: z.string(),
    price: z
      .number()
      .describe(
        'USD price that the oracle published with this tick: spot, or the mean over twap_window_seconds if is_twap.',
      ),
    bid: z.number().meta({ description: 'Equal to the price if the source publishes no spread.' }),
    ask: z.number().meta({ description: 'Equal to the price if the source publishes no spread.' }),
    timestamp: z.int(),
    is_twap: z.boolean(),
    twap_window_seconds: z.int().nullable(),
  }),
});

/** Serializes a stored tick; the same shape as on the event socket. */
function tickFrom(row: TickRow, feed: string): z.input<typeof tick> {
  const ms = Number(row.ms);
  const price = Number(row.price);
  const timestamp = Math.floor(ms / 1000);
  const twap = { is_twap: false, twap_window_seconds: null };
  return {
    id: row.id,
    type: 'price_feed',
    feed,
    timestamp,
    timestamp_ms: ms,
    ...twap,
    data: {
      feed,
      price,
      bid: row.bid === null ? price : Number(row.bid),
      ask: row.ask === null ? price : Number(row.ask),
      timestamp,
      ...twap,
    },
  };
}

const timeParam = (name: 'from' | 'to') =>
  requiredText(name)
    .pipe(millisecondsParam({ description: '', invalid: 'Invalid time range' }))
    .meta({ type: 'integer', minimum: 0, description: 'Unix milliseconds, inclusive.', example: 1811000100000 });

const limitText = `Invalid limit. Max ${commonLimits.ticksMaxLimit}`;

/** GET candles and ticks of the oracle feeds. */
export function createOracleRoutes({ tables, cache }: Readers): readonly Route[] {
  const candles = defineRoute({
    ...v1Route,
    path: '/v1/crypto/candles',
    reads: ['oracle'],
    tag: 'Crypto',
    cacheS: CANDLES_CACHE_S,
    summary: 'Five-minute oracle candles',
    description:
      'The newest 30 candles, oldest first, the last one still forming. A tick on a boundary closes one candle and opens the next. Buckets without ticks are omitted.',
    query: z.object({ symbol: symbolParam }),
    success: {
      description: 'Candles',
      schema: z.object({ candles: z.array(candle) }),
      example: {
        candles: [
          { time: 1811000100, open: 101.5, high: 102.25, low: 101.1, close: 101.9 },
          { time: 1811000400, open: 101.9, high: 101.95, low: 101.4, close: 101.6 },
        ],
      },
    },
    async handler({ query }) {
      const feed = feedOf(query.symbol);
      const cached = await cache.get(`candles:${feed}`, CANDLES_CACHE_S * 1000, async () => {
        const rows = await tables.rows<CandleRow>(candlesSql(feed, CANDLES));
        return rows.reverse().map((row) => ({
          time: Number(row.time),
          open: Number(row.open),
          high: Number(row.high),
          low: Number(row.low),
          close: Number(row.close),
        }));
      });
      return { body: { candles: cached.value }, cache: cached };
    },
  });

  const ticks = defineRoute({
    ...v1Route,
    path: '/v1/crypto/ticks',
    reads: ['oracle'],
    tag: 'Crypto',
    cacheS: TICKS_CACHE_S,
    summary: 'One-second oracle ticks',
    description:
      'Spot ticks, oldest first, at most 24 hours per request. `truncated`: the range contains more than `limit` ticks. A range is cached once the feed has a later tick.',
    query: z.object({
      symbol: symbolParam,
      from: timeParam('from'),
      to: timeParam('to'),
      limit: integerParam({
        description: 'Maximum number of ticks. Default 10000.',
        invalid: limitText,
        min: 1,
        max: commonLimits.ticksMaxLimit,
        example: 1000,
      }).default(commonLimits.ticksDefaultLimit),
    }),
    success: {
      description: 'Ticks',
      schema: z.object({
        symbol: z.string(),
        feed: z.string(),
        from: z.int(),
        to: z.int(),
        limit: z.int(),
        count: z.int(),
        truncated: z.boolean(),
        ticks: z.array(tick),
      }),
      example: {
        symbol: 'SOL',
        feed: 'SOL/USD',
        from: 1811000100000,
        to: 1811000102000,
        limit: 1,
        count: 1,
        truncated: true,
        ticks: [
          tickFrom(
            { id: 'SOL/USD-1811000100000-0', ms: 1811000100000, price: '101.5012345', bid: '101.49', ask: '101.51' },
            'SOL/USD',
          ),
        ],
      },
    },
    async handler({ query }) {
      if (query.to < query.from) throw badParameter('Invalid time range');
      if (query.to - query.from > commonLimits.ticksMaxRangeMs) throw badParameter('Range exceeds 24 hours');
      const feed = feedOf(query.symbol);
      const { from, to, limit } = query;
      const load = async () => {
        // Read first: the ticks of a feed are stored in order, so that those of the range are complete when a later one is found.
        const isComplete = (await tables.rows(laterTickSql(feed, to))).length > 0;
        const found = await tables.rows<TickRow>(ticksSql({ feed, fromMs: from, toMs: to, rows: limit + 1 }));
        return { isComplete, found };
      };
      const lifeMs = ({ isComplete }: Awaited<ReturnType<typeof load>>) => (isComplete ? TICKS_CACHE_S * 1000 : 0);
      const cached = await cache.get(`ticks:${feed}:${from}:${to}:${limit}`, lifeMs, load);
      const { isComplete, found } = cached.value;
      const rows = found.slice(0, limit);
      return {
        body: {
          symbol: query.symbol,
          feed,
          from,
          to,
          limit,
          count: rows.length,
          truncated: found.length > limit,
          ticks: rows.map((row) => tickFrom(row, feed)),
        },
        ...(isComplete ? { cache: cached } : {}),
      };
    },
  });

  return [candles, ticks];
}
