import { z } from 'zod';
import { moneyToNumber, ratio } from '../../../../schemas/primitives/money.js';
import { type Resolution, resolutions } from '../../../candles/candles.sql.js';
import type { Candle, CandlePage } from '../../../candles/reader.js';
import type { Condition } from '../../../catalog/conditions.js';
import { priceDocs, sideDocs } from '../../../http/field-docs.js';
import { choiceParam, integerParam } from '../../../http/params.js';
import { secondsParam } from '../../../http/time-params.js';
import { v3 } from '../params.js';

const names = Object.keys(resolutions) as Resolution[];
export const maxLimits: Readonly<Record<Resolution, number>> = {
  '1m': 120,
  '5m': 180,
  '15m': 240,
  '1h': 300,
  '4h': 360,
  '1d': 500,
};
const DEFAULT_LIMIT = 120;
/** Latest start of a bucket: the last second of a ClickHouse DateTime. */
const LAST_BUCKET_S = 2 ** 32 - 1;
const timestampParam = (name: string, description: string) =>
  secondsParam({ description, invalid: `invalid ${name}: use Unix seconds` })
    .transform((value) => Math.min(value, LAST_BUCKET_S))
    .meta({ type: 'integer', minimum: 0, description })
    .optional();

export const candlesQuery = z.object({
  resolution: choiceParam({
    description: 'Length of a bucket. Default 1h.',
    invalid: `resolution must be one of [${names.join(', ')}]`,
    values: names,
  }).default('1h'),
  limit: integerParam({
    description: `Number of buckets. Default ${DEFAULT_LIMIT}; at most ${names.map((name) => `${maxLimits[name]} of ${name}`).join(', ')}.`,
    invalid: 'invalid limit: use a whole number, 1 or more',
    min: 1,
    max: 500,
    clamp: true,
  }).default(DEFAULT_LIMIT),
  direction: v3
    .choice(
      'direction',
      ['before', 'after'],
      'before: the newest buckets up to the anchor or end. after: the oldest buckets from the anchor on. Default before.',
    )
    .default('before'),
  anchor_ts: timestampParam('anchor_ts', 'Where `direction` looks from, Unix seconds.'),
  start: timestampParam('start', 'Start of the range, Unix seconds.'),
  end: timestampParam('end', 'End of the range, Unix seconds.'),
  order: v3.choice('order', ['asc', 'desc'], 'Order of the buckets in the response. Default asc.').default('asc'),
  gap_fill: v3.flag(
    'gap_fill',
    'Fill buckets without trades, between the first and the newest trade of the token, with the previous close. Default false.',
  ),
});
export const seriesQuery = candlesQuery.extend({ token_id: v3.token });
export type CandlesQuery = z.output<typeof candlesQuery>;

const seconds = z.int().nullable();
const candleSchema = z.object({
  time: z.int().meta({ description: 'Start of the bucket, Unix seconds.' }),
  time_unix: z.int(),
  time_ms: z.int(),
  open: z.number().describe(priceDocs.open),
  high: z.number().describe(priceDocs.high),
  low: z.number().describe(priceDocs.low),
  close: z.number().describe(priceDocs.close),
  volume: z.number().meta({ description: 'USD.' }),
  volume_usd: z.number(),
  volume_shares: z.number(),
  volume_buy: z.number().describe(sideDocs.buyUsd),
  volume_sell: z.number().describe(sideDocs.sellUsd),
  trades: z.int(),
  vwap: z.number().describe(priceDocs.vwap),
  first_trade_ts: seconds,
  last_trade_ts: seconds,
  first_block: seconds,
  last_block: seconds,
  first_log_index: seconds,
  last_log_index: seconds,
  gap_filled: z.boolean(),
});

const windowSchema = z.object({
  start_ts: seconds,
  end_ts: seconds,
  first_bucket: seconds,
  last_bucket: seconds,
  duration_seconds: z.int(),
  bucket_count: z.int(),
  resolution_seconds: z.int(),
  older_end_ts: seconds.meta({ description: '`end` of the previous page.' }),
  newer_start_ts: seconds.meta({ description: '`anchor_ts` of the next page, with direction=after.' }),
  has_older: z.boolean(),
  has_newer: z.boolean(),
});
const paginationSchema = z.object({
  limit: z.int(),
  max_limit: z.int(),
  direction: z.enum(['before', 'after']),
  order: z.enum(['asc', 'desc']),
  older_end_ts: seconds,
  newer_start_ts: seconds,
  has_more: z.boolean(),
  has_older: z.boolean(),
  has_newer: z.boolean(),
});
export const tokenSeries = {
  token_id: z.string(),
  resolution: z.enum(names),
  count: z.int(),
  candles: z.array(candleSchema),
  question: z.string().nullable(),
  slug: z.string().nullable(),
  outcome: z.string().nullable(),
  image: z.string().nullable(),
  condition_id: z.string().nullable(),
  outcome_index: z.int().nullable(),
  window: windowSchema,
  pagination: paginationSchema,
  gap_fill: z.boolean(),
};

function candleFrom(candle: Candle): z.input<typeof candleSchema> {
  const usd = moneyToNumber(candle.usdc);
  return {
    time: candle.startS,
    time_unix: candle.startS,
    time_ms: candle.startS * 1000,
    open: moneyToNumber(candle.open),
    high: moneyToNumber(candle.high),
    low: moneyToNumber(candle.low),
    close: moneyToNumber(candle.close),
    volume: usd,
    volume_usd: usd,
    volume_shares: moneyToNumber(candle.shares),
    volume_buy: moneyToNumber(candle.buyUsdc),
    volume_sell: moneyToNumber(candle.usdc - candle.buyUsdc),
    trades: candle.trades,
    vwap: moneyToNumber(ratio(candle.usdc, candle.shares, 6) ?? candle.close),
    first_trade_ts: candle.first?.atS ?? null,
    last_trade_ts: candle.last?.atS ?? null,
    first_block: candle.first?.block ?? null,
    last_block: candle.last?.block ?? null,
    first_log_index: candle.first?.logIndex ?? null,
    last_log_index: candle.last?.logIndex ?? null,
    gap_filled: candle.trades === 0,
  };
}

/** Candles of one token with the fields of their page. */
export function seriesFrom(query: CandlesQuery, tokenId: string, condition: Condition | null, page: CandlePage) {
  const resolutionS = resolutions[query.resolution];
  const maxLimit = maxLimits[query.resolution];
  const first = page.candles[0]?.startS ?? null;
  const last = page.candles.at(-1)?.startS ?? null;
  const endTs = last === null ? null : last + resolutionS;
  // In the direction of the query a next page lies within the range: the token may have candles beyond it.
  const newest = query.direction === 'before';
  const olderEnd = newest && !page.hasMore ? null : page.olderEndS;
  const newerStart = newest || page.hasMore ? page.newerStartS : null;
  const found = page.candles.map(candleFrom);
  const market = condition?.market ?? null;
  const index = condition?.tokenIds.indexOf(tokenId) ?? -1;
  return {
    token_id: tokenId,
    resolution: query.resolution,
    count: found.length,
    candles: query.order === 'asc' ? found : found.reverse(),
    question: market?.question ?? null,
    slug: market?.slug ?? null,
    outcome: market?.outcomes[index] ?? null,
    image: market?.image ?? null,
    condition_id: condition?.conditionId ?? null,
    outcome_index: index < 0 ? null : index,
    window: {
      start_ts: first,
      end_ts: endTs,
      first_bucket: first,
      last_bucket: last,
      duration_seconds: first === null || endTs === null ? 0 : endTs - first,
      bucket_count: found.length,
      resolution_seconds: resolutionS,
      older_end_ts: olderEnd,
      newer_start_ts: newerStart,
      has_older: page.olderEndS !== null,
      has_newer: page.newerStartS !== null,
    },
    pagination: {
      limit: Math.min(query.limit, maxLimit),
      max_limit: maxLimit,
      direction: query.direction,
      order: query.order,
      older_end_ts: olderEnd,
      newer_start_ts: newerStart,
      has_more: page.hasMore,
      has_older: page.olderEndS !== null,
      has_newer: page.newerStartS !== null,
    },
    gap_fill: query.gap_fill,
  };
}
