import { z } from 'zod';
import { moneyToNumber, ratio } from '../../../schemas/primitives/money.js';
import type { TtlCache } from '../../cache/ttl-cache.js';
import { type Resolution, resolutions } from '../../candles/candles.sql.js';
import { type Candle, readCandles } from '../../candles/reader.js';
import { type TokenTitle, untitled } from '../../fills/titles.js';
import { timeRangeAliases } from '../../http/aliases.js';
import { priceDocs, sideDocs } from '../../http/field-docs.js';
import { choiceParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import type { Tables } from '../../tables/port.js';
import { readTokenVolume } from '../../volumes/reader.js';
import { type BuilderRow, buildersSql, type HourRow, hoursSql } from '../../volumes/volumes.sql.js';
import { rankBuilders } from '../v3/global/builders.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { clob } from './params.js';
import { amountText, FIRST_VERSION, isoTime, padded, priceText, SOURCE } from './serialize.js';

const common = { method: 'get', apiGroup: 'clobv2', tag: 'CLOB v2', auth: 'key', feature: 'clobv2' } as const;
const source = z.literal(SOURCE);
const decimal = z.string().meta({ description: 'Decimal text.' });
const BUILDERS_MS = 30_000;
const FEE_PLACES = 24;
const MAX_HOURS = 8_784;
const DEFAULT_HOURS = 168;

/** Market fields of a token, next to its volume. */
export const titleFields = {
  market: z.string().nullable(),
  slug: z.string().nullable(),
  outcome: z.string().nullable(),
  image: z.string().nullable(),
  condition_id: z.string().nullable(),
};
export const titleOf = (title: TokenTitle) => ({
  market: title.market,
  slug: title.slug,
  outcome: title.outcome,
  image: title.image,
  condition_id: title.conditionId,
});

const { market: _, ...shortTitleFields } = titleFields;
const candleTitleFields = { question: titleFields.market, ...shortTitleFields };
const candleTitleOf = (title: TokenTitle) => {
  const { market: question, ...rest } = titleOf(title);
  return { question, ...rest };
};

const names = Object.keys(resolutions) as Resolution[];
const candleSchema = z.object({
  bucket: z.string(),
  time: z.int().meta({ description: 'Start of the bucket, Unix seconds; equal to time_unix.' }),
  time_unix: z.int(),
  open: decimal.describe(`${priceDocs.open} Decimal text.`),
  high: decimal.describe(`${priceDocs.high} Decimal text.`),
  low: decimal.describe(`${priceDocs.low} Decimal text.`),
  close: decimal.describe(`${priceDocs.close} Decimal text.`),
  volume_usdc: decimal,
  volume_buy: decimal.describe(`${sideDocs.buyUsd} Decimal text.`),
  volume_sell: decimal.describe(`${sideDocs.sellUsd} Decimal text.`),
  volume_shares: decimal,
  trades: z.int(),
  vwap: decimal.describe(`${priceDocs.vwap} Decimal text.`),
});
const PRICE_PLACES = 20;
const candleFrom = (candle: Candle): z.input<typeof candleSchema> => ({
  bucket: isoTime(candle.startS),
  time: candle.startS,
  time_unix: candle.startS,
  open: padded(candle.open, PRICE_PLACES),
  high: padded(candle.high, PRICE_PLACES),
  low: padded(candle.low, PRICE_PLACES),
  close: padded(candle.close, PRICE_PLACES),
  volume_usdc: amountText(candle.usdc),
  volume_buy: amountText(candle.buyUsdc),
  volume_sell: amountText(candle.usdc - candle.buyUsdc),
  volume_shares: amountText(candle.shares),
  trades: candle.trades,
  vwap: priceText(candle.usdc, candle.shares),
});

/** GET volumes of V2 and later exchanges (token, hours, builders), and candles. */
export function createClobVolumes(deps: { tables: Tables; cache: TtlCache; readers: Readers }): readonly Route[] {
  const { tables, cache, readers } = deps;

  const volume = defineRoute({
    ...common,
    path: '/clobv2/markets/{token_id}/volume',
    reads: ['fills'],
    summary: 'Volume of an outcome token',
    description: 'Each match counts once, by the side of its maker.',
    params: z.object({ token_id: clob.tokenId }),
    success: {
      description: 'Sums; zeros and `found: false` for an unknown token',
      schema: z.object({
        token_id: z.string(),
        source,
        found: z.boolean(),
        total_trades: z.int(),
        buys: z.int().describe(sideDocs.buys),
        sells: z.int().describe(sideDocs.sells),
        volume_usdc: z.number(),
        buy_volume_usdc: z.number().describe(sideDocs.buyUsd),
        sell_volume_usdc: z.number().describe(sideDocs.sellUsd),
        volume_shares: z.number(),
        ...titleFields,
      }),
      example: {
        token_id: exampleFill.token_id,
        source: SOURCE,
        found: true,
        total_trades: 40,
        buys: 31,
        sells: 9,
        volume_usdc: 5120.25,
        buy_volume_usdc: 4000.125,
        sell_volume_usdc: 1120.125,
        volume_shares: 10011.5,
        ...titleOf(exampleTitle),
      },
    },
    async handler({ params: { token_id } }) {
      const [sums, titles] = await Promise.all([
        readTokenVolume(tables, token_id, FIRST_VERSION),
        readers.titlesOf([token_id]),
      ]);
      const found = sums.trades > 0;
      return {
        body: {
          token_id,
          source: SOURCE,
          found,
          total_trades: sums.trades,
          buys: sums.buys,
          sells: sums.sells,
          volume_usdc: moneyToNumber(sums.usdc),
          buy_volume_usdc: moneyToNumber(sums.buyUsdc),
          sell_volume_usdc: moneyToNumber(sums.sellUsdc),
          volume_shares: moneyToNumber(sums.shares),
          ...titleOf(found ? (titles.get(token_id) ?? untitled) : untitled),
        },
      };
    },
  });

  const candles = defineRoute({
    ...common,
    path: '/clobv2/candles/{token_id}',
    reads: ['fills'],
    summary: 'Candles of an outcome token, newest first',
    description:
      'Computed from fills of all exchange generations; each match counts once. Buckets without trades are omitted.',
    params: z.object({ token_id: clob.tokenId }),
    query: z.object({
      resolution: choiceParam({
        description: 'Length of a bucket. Default 1h.',
        invalid: `resolution must be one of [${names.join(', ')}]`,
        values: names,
      }).default('1h'),
      start: clob.time('Start of the range, Unix seconds.'),
      end: clob.time('End of the range, Unix seconds.'),
      limit: clob.limit(1_000, 500),
    }),
    aliases: timeRangeAliases('start', 'end'),
    success: {
      description: 'Candles',
      schema: z.object({
        token_id: z.string(),
        source,
        resolution: z.enum(names),
        count: z.int(),
        candles: z.array(candleSchema),
        pagination: z.object({
          limit: z.int(),
          has_more: z.boolean().meta({ description: 'The token has older candles.' }),
          older_end_ts: z
            .int()
            .nullable()
            .meta({ description: '`end` of the page of older candles; null: no older candles.' }),
          newer_start_ts: z
            .int()
            .nullable()
            .meta({ description: '`start` of all newer candles; null: no newer candles.' }),
        }),
        ...candleTitleFields,
      }),
      example: {
        token_id: exampleFill.token_id,
        source: SOURCE,
        resolution: '1h',
        count: 1,
        candles: [
          {
            bucket: '2026-09-21T14:00:00+00:00',
            time: 1789999200,
            time_unix: 1789999200,
            open: priceText(400_000n, 1_000_000n),
            high: priceText(420_000n, 1_000_000n),
            low: priceText(400_000n, 1_000_000n),
            close: priceText(410_000n, 1_000_000n),
            volume_usdc: amountText(82_000_000n),
            volume_buy: amountText(42_000_000n),
            volume_sell: amountText(40_000_000n),
            volume_shares: amountText(200_000_000n),
            trades: 2,
            vwap: priceText(82_000_000n, 200_000_000n),
          },
        ],
        pagination: { limit: 500, has_more: true, older_end_ts: 1789999199, newer_start_ts: null },
        ...candleTitleOf(exampleTitle),
      },
    },
    async handler({ params: { token_id }, query }) {
      const { resolution, limit, start, end } = query;
      const seconds = resolutions[resolution];
      const [page, titles] = await Promise.all([
        readCandles(tables, {
          tokenId: token_id,
          seconds,
          limit,
          direction: 'before',
          fromS: start ?? null,
          toS: end ?? null,
          gapFill: false,
        }),
        readers.titlesOf([token_id]),
      ]);
      const [first, last] = [page.candles[0], page.candles.at(-1)];
      return {
        body: {
          token_id,
          source: SOURCE,
          resolution,
          count: page.candles.length,
          candles: page.candles.map(candleFrom).reverse(),
          pagination: {
            limit,
            has_more: page.hasOlder,
            older_end_ts: page.hasOlder && first !== undefined ? first.startS - 1 : null,
            newer_start_ts: page.hasNewer && last !== undefined ? last.startS + seconds : null,
          },
          ...candleTitleOf(titles.get(token_id) ?? untitled),
        },
      };
    },
  });

  const hourly = defineRoute({
    ...common,
    path: '/clobv2/volume/hourly',
    reads: ['fills'],
    summary: 'Volume per hour, newest first',
    query: z.object({ limit: clob.limit(MAX_HOURS, DEFAULT_HOURS) }),
    success: {
      description: 'Hours with trades',
      schema: z.object({
        count: z.int(),
        source,
        buckets: z.array(
          z.object({
            bucket: z.string(),
            time_unix: z.int(),
            trades: z.int(),
            volume_usdc: decimal,
            fee_usdc: decimal,
          }),
        ),
      }),
      example: {
        count: 1,
        source: SOURCE,
        buckets: [
          {
            bucket: '2026-09-21T14:00:00+00:00',
            time_unix: 1789999200,
            trades: 12,
            volume_usdc: amountText(5_120_250_000n),
            fee_usdc: padded(331_000n, FEE_PLACES),
          },
        ],
      },
    },
    async handler({ query }) {
      const rows = await tables.rows<HourRow>(hoursSql(FIRST_VERSION, query.limit));
      return {
        body: {
          count: rows.length,
          source: SOURCE,
          buckets: rows.map((row) => ({
            bucket: isoTime(Number(row.hour_s)),
            time_unix: Number(row.hour_s),
            trades: Number(row.trades),
            volume_usdc: amountText(BigInt(row.usdc)),
            fee_usdc: padded(BigInt(row.fee), FEE_PLACES),
          })),
        },
      };
    },
  });

  const builderSchema = z.object({
    builder: z.string(),
    fills: z.int(),
    notional_usdc: decimal,
    fee_collected_usdc: decimal,
    avg_fill_usdc: decimal.describe('Mean USD per fill, decimal text.'),
  });
  const builders = defineRoute({
    ...common,
    path: '/clobv2/builders',
    reads: ['fills'],
    summary: 'Builders, largest notional first',
    query: z.object({ limit: clob.limit(500, 50) }),
    success: {
      description: 'Builders',
      schema: z.object({ count: z.int(), source, builders: z.array(builderSchema) }),
      example: {
        count: 1,
        source: SOURCE,
        builders: [
          {
            builder: `0x${'bc'.repeat(32)}`,
            fills: 3,
            notional_usdc: amountText(66_275_000n),
            fee_collected_usdc: padded(331_000n, FEE_PLACES),
            avg_fill_usdc: priceText(66_275_000n, 3_000_000n),
          },
        ],
      },
    },
    async handler({ query }) {
      const { value } = await cache.get('v3 builders', BUILDERS_MS, () => tables.rows<BuilderRow>(buildersSql()));
      const found = rankBuilders(value, 'volume').slice(0, query.limit);
      return {
        body: {
          count: found.length,
          source: SOURCE,
          builders: found.map((row) => ({
            builder: row.builder,
            fills: Number(row.trades),
            notional_usdc: amountText(BigInt(row.usdc)),
            fee_collected_usdc: padded(BigInt(row.fee), FEE_PLACES),
            avg_fill_usdc: padded(
              ratio(BigInt(row.usdc), BigInt(row.trades) * 1_000_000n, PRICE_PLACES) ?? 0n,
              PRICE_PLACES,
              PRICE_PLACES,
            ),
          })),
        },
      };
    },
  });

  return [volume, candles, hourly, builders];
}
