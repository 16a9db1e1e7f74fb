import { z } from 'zod';
import { formatFixed, moneyToNumber } from '../../../schemas/primitives/money.js';
import { untitled } from '../../fills/titles.js';
import { sideDocs } from '../../http/field-docs.js';
import { defineRoute, type Route } from '../../http/route.js';
import type { Readers } from '../../readers.js';
import { exampleBuilder, exampleVolume } from '../../volumes/examples.js';
import { readBuilders, readTokenVolume, type TokenVolume } from '../../volumes/reader.js';
import { type BuilderRow, type HourRow, hoursSql } from '../../volumes/volumes.sql.js';
import { exampleFill, exampleTitle } from '../v3/trades/examples.js';
import { clob, common } from './params.js';
import { amountText, FIRST_VERSION, isoTime, priceText, SOURCE, titleFields, titleOf } from './serialize.js';

const source = z.literal(SOURCE);
const decimal = z.string().meta({ description: 'Decimal text.' });
const FEE_PLACES = 24;
const MAX_HOURS = 8_784;
const DEFAULT_HOURS = 168;

const sumsFrom = (sums: TokenVolume) => ({
  total_trades: sums.trades,
  buys: sums.buys,
  sells: sums.sells,
  volume_usdc: moneyToNumber(sums.usdc),
  buy_volume_usdc: moneyToNumber(sums.buyUsdc),
  sell_volume_usdc: moneyToNumber(sums.sellUsdc),
  volume_shares: moneyToNumber(sums.shares),
});
const hourFrom = (row: HourRow) => ({
  bucket: isoTime(Number(row.hour_s)),
  time_unix: Number(row.hour_s),
  trades: Number(row.trades),
  volume_usdc: amountText(BigInt(row.usdc)),
  fee_usdc: formatFixed(BigInt(row.fee), FEE_PLACES),
});
const builderFrom = (row: BuilderRow) => ({
  builder: row.builder,
  fills: Number(row.trades),
  notional_usdc: amountText(BigInt(row.usdc)),
  fee_collected_usdc: formatFixed(BigInt(row.fee), FEE_PLACES),
  avg_fill_usdc: priceText(BigInt(row.usdc), BigInt(row.trades) * 1_000_000n),
});

/** GET volumes of V2 and later exchanges (token, hours, builders). */
export function createClobVolumes(readers: Readers): readonly Route[] {
  const { tables } = readers;

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
        ...sumsFrom(exampleVolume),
        ...titleOf(exampleTitle),
      },
    },
    async handler({ params: { token_id } }) {
      const [sums, title] = await Promise.all([
        readTokenVolume(tables, token_id, FIRST_VERSION),
        readers.titleOf(token_id),
      ]);
      const found = sums.trades > 0;
      return {
        body: {
          token_id,
          source: SOURCE,
          found,
          ...sumsFrom(sums),
          ...titleOf(found ? title : untitled),
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
        buckets: [hourFrom({ hour_s: 1789999200, trades: '12', usdc: '5120250000', fee: '331000' })],
      },
    },
    async handler({ query }) {
      const rows = await tables.rows<HourRow>(hoursSql(FIRST_VERSION, query.limit));
      return {
        body: {
          count: rows.length,
          source: SOURCE,
          buckets: rows.map(hourFrom),
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
        builders: [builderFrom(exampleBuilder)],
      },
    },
    async handler({ query }) {
      const found = (await readBuilders(readers, 'usdc')).slice(0, query.limit);
      return {
        body: {
          count: found.length,
          source: SOURCE,
          builders: found.map(builderFrom),
        },
      };
    },
  });

  return [volume, hourly, builders];
}
