import { z } from 'zod';
import { formatMoney, moneyToNumber } from '../../../../schemas/primitives/money.js';
import { ApiError } from '../../../errors/failure.js';
import { sideDocs } from '../../../http/field-docs.js';
import { defineRoute, notFoundResponse, type Route } from '../../../http/route.js';
import { rankedPage } from '../../../pagination/ranked-page.js';
import type { Readers } from '../../../readers.js';
import { exampleBuilder } from '../../../volumes/examples.js';
import { readBuilders } from '../../../volumes/reader.js';
import type { BuilderRow } from '../../../volumes/volumes.sql.js';
import { examplePage, pageFields, pagingOf } from '../envelope.js';
import { builderCodeParam, paging, v3, v3Route } from '../params.js';

const common = { ...v3Route, tag: 'Builders' } as const;
const SOURCE = 'v3.builder_fills' as const;
const SCOPE = 'order_fills' as const;
const SEMANTICS =
  'volume is the USDC leg of every fill of an order with the code; buy_ and sell_ count shares at one dollar.';

const baseUnits = z.string().meta({ description: 'Base units (6 decimals).' });
const usdText = z.string().meta({ description: 'USD, decimal text.' });
const builderSchema = z.object({
  builder: z.string(),
  builder_code: z.string(),
  builder_name: z.string().nullable(),
  builder_logo: z.string().nullable(),
  builder_verified: z.boolean().nullable(),
  fill_count: z.int(),
  first_fill: z.string().meta({ description: 'Unix seconds, as text.' }),
  last_fill: z.string(),
  rank: z.int().meta({ description: 'Rank among all builders, by the requested sort.' }),
  source: z.literal(SOURCE),
  total_fees: baseUnits,
  total_fees_usdc: z.number(),
  total_maker_volume: baseUnits,
  total_maker_volume_usdc: z.number(),
  total_taker_volume: baseUnits,
  total_taker_volume_usdc: z.number(),
  volume: z.string(),
  volume_e6: baseUnits,
  volume_usdc: usdText,
  buy_volume: baseUnits.describe(`${sideDocs.builderBuy}, base units.`),
  buy_volume_e6: baseUnits.describe(`${sideDocs.builderBuy}, base units.`),
  buy_volume_usdc: usdText.describe(`${sideDocs.builderBuy}, decimal text.`),
  sell_volume: baseUnits.describe(`${sideDocs.builderSell}, base units.`),
  sell_volume_e6: baseUnits.describe(`${sideDocs.builderSell}, base units.`),
  sell_volume_usdc: usdText.describe(`${sideDocs.builderSell}, decimal text.`),
  volume_scope: z.literal(SCOPE),
  volume_semantics: z.string(),
  external_rank: z
    .int()
    .nullable()
    .meta({ description: 'Rank in the ranking of the venue; always null, because that ranking is not read.' }),
  external_volume: z.string().nullable(),
  external_active_users: z.int().nullable(),
  stats_refreshed_at: z.string().nullable().meta({ description: 'When the external figures were read; always null.' }),
  stats_checked_at: z.string().nullable(),
  stats_pending: z.boolean().meta({ description: 'Whether external figures are being fetched; always false.' }),
});

function builderFrom(row: BuilderRow, rank: number): z.input<typeof builderSchema> {
  const usd = (units: string) => moneyToNumber(BigInt(units));
  const text = (units: string) => formatMoney(BigInt(units));
  return {
    builder: row.builder,
    builder_code: row.builder,
    builder_name: null,
    builder_logo: null,
    builder_verified: null,
    fill_count: Number(row.trades),
    first_fill: String(row.first_at),
    last_fill: String(row.last_at),
    rank,
    source: SOURCE,
    total_fees: row.fee,
    total_fees_usdc: usd(row.fee),
    total_maker_volume: row.maker_amount,
    total_maker_volume_usdc: usd(row.maker_amount),
    total_taker_volume: row.taker_amount,
    total_taker_volume_usdc: usd(row.taker_amount),
    volume: row.usdc,
    volume_e6: row.usdc,
    volume_usdc: text(row.usdc),
    buy_volume: row.buy_shares,
    buy_volume_e6: row.buy_shares,
    buy_volume_usdc: text(row.buy_shares),
    sell_volume: row.sell_shares,
    sell_volume_e6: row.sell_shares,
    sell_volume_usdc: text(row.sell_shares),
    volume_scope: SCOPE,
    volume_semantics: SEMANTICS,
    external_rank: null,
    external_volume: null,
    external_active_users: null,
    stats_refreshed_at: null,
    stats_checked_at: null,
    stats_pending: false,
  };
}

const sortColumns = { fills: 'trades', volume: 'usdc', fees: 'fee' } as const;
const sortParam = v3
  .choice('sort', ['fills', 'volume', 'fees'], 'What `rank` goes by, descending. Default fills.')
  .default('fills');

/** GET /v3/builders and /v3/builders/{code}: sums over the fills of orders that carry a builder code. */
export function createBuilderRoutes(readers: Readers): readonly Route[] {
  const list = defineRoute({
    ...common,
    path: '/v3/builders',
    reads: ['fills'],
    summary: 'Builders by fills, volume or fees',
    query: z.object({ sort: sortParam, ...paging }),
    success: {
      description: 'A page of builders',
      schema: z.object({ builders: z.array(builderSchema), ...pageFields }),
      example: { builders: [builderFrom(exampleBuilder, 1)], ...examplePage },
    },
    async handler({ query }, context) {
      const column = sortColumns[query.sort];
      const rows = await readBuilders(readers, column);
      const by = { value: (row: BuilderRow) => BigInt(row[column]), id: (row: BuilderRow) => row.builder };
      const page = rankedPage(rows, by, query, { endpoint: context.endpoint, order: query.sort });
      const builders = page.rows.map((row, index) => builderFrom(row, page.from + index + 1));
      return { body: { builders, ...pagingOf(query, page, context) } };
    },
  });

  const one = defineRoute({
    ...common,
    path: '/v3/builders/{code}',
    reads: ['fills'],
    summary: 'One builder',
    params: z.object({ code: builderCodeParam }),
    query: z.object({ sort: sortParam }),
    success: {
      description: 'The builder',
      schema: builderSchema.extend({ elapsed_ms: z.int() }),
      example: { ...builderFrom(exampleBuilder, 1), elapsed_ms: 2 },
    },
    otherResponses: notFoundResponse('No fill carries the code.', 'builder not found'),
    async handler({ params, query }, context) {
      const code = params.code.startsWith('0x') ? params.code : `0x${params.code}`;
      const rows = await readBuilders(readers, sortColumns[query.sort]);
      const index = rows.findIndex((row) => row.builder === code);
      const row = rows[index];
      if (row === undefined) throw new ApiError({ kind: 'not_found', message: 'builder not found' });
      return { body: { ...builderFrom(row, index + 1), elapsed_ms: context.elapsedMs() } };
    },
  });

  return [list, one];
}
