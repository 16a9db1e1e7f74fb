import { z } from 'zod';
import { formatFixed } from '../../../schemas/primitives/money.js';
import { type Resolution, resolutions } from '../../candles/candles.sql.js';
import { exampleCandles } from '../../candles/examples.js';
import { type Candle, readCandles } from '../../candles/reader.js';
import type { TokenTitle } from '../../fills/titles.js';
import { timeRangeAliases } from '../../http/aliases.js';
import { priceDocs, sideDocs } from '../../http/field-docs.js';
import { choiceParam } from '../../http/params.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { clob, common } from './params.js';
import { amountText, isoTime, priceText, SOURCE, titleOf as shownTitleOf, titleFields } from './serialize.js';

const decimal = z.string().meta({ description: 'Decimal text.' });
const PRICE_PLACES = 20;

const { market: _, ...shortTitleFields } = titleFields;
const candleTitleFields = { question: titleFields.market, ...shortTitleFields };
const candleTitleOf = (title: TokenTitle) => {
  const { market: question, ...rest } = shownTitleOf(title);
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
const candleFrom = (candle: Candle): z.input<typeof candleSchema> => ({
  bucket: isoTime(candle.startS),
  time: candle.startS,
  time_unix: candle.startS,
  open: formatFixed(candle.open, PRICE_PLACES),
  high: formatFixed(candle.high, PRICE_PLACES),
  low: formatFixed(candle.low, PRICE_PLACES),
  close: formatFixed(candle.close, PRICE_PLACES),
  volume_usdc: amountText(candle.usdc),
  volume_buy: amountText(candle.buyUsdc),
  volume_sell: amountText(candle.usdc - candle.buyUsdc),
  volume_shares: amountText(candle.shares),
  trades: candle.trades,
  vwap: priceText(candle.usdc, candle.shares),
});

/** GET candles of an outcome token, from fills of all exchange generations. */
export function createClobCandles({ tables, titleOf }: Readers): Route {
  return defineRoute({
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
        source: z.literal(SOURCE),
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
        candles: exampleCandles.candles.map(candleFrom),
        pagination: { limit: 500, has_more: true, older_end_ts: 1789999199, newer_start_ts: null },
        ...candleTitleOf(exampleTitle),
      },
    },
    async handler({ params: { token_id }, query }) {
      const { resolution, limit, start, end } = query;
      const seconds = resolutions[resolution];
      const [page, title] = await Promise.all([
        readCandles(tables, {
          tokenId: token_id,
          seconds,
          limit,
          direction: 'before',
          fromS: start ?? null,
          toS: end ?? null,
          gapFill: false,
        }),
        titleOf(token_id),
      ]);
      return {
        body: {
          token_id,
          source: SOURCE,
          resolution,
          count: page.candles.length,
          candles: page.candles.map(candleFrom).reverse(),
          pagination: {
            limit,
            has_more: page.olderEndS !== null,
            older_end_ts: page.olderEndS,
            newer_start_ts: page.newerStartS,
          },
          ...candleTitleOf(title),
        },
      };
    },
  });
}
