import { z } from 'zod';
import { positionConditionId } from '../../../../schemas/primitives/ids.js';
import { formatFixed, ratio } from '../../../../schemas/primitives/money.js';
import type { FillRow } from '../../../fills/fills.sql.js';
import type { FillFilter } from '../../../fills/filter.js';
import { priceDocs } from '../../../http/field-docs.js';
import { defineRoute, type RequestContext, type Route } from '../../../http/route.js';
import { logPositionCursor } from '../../../pagination/cursor.js';
import { cursorPage } from '../../../pagination/list-page.js';
import type { Readers } from '../../../readers.js';
import { pageFields, pagingOf } from '../envelope.js';
import { v3, v3Route } from '../params.js';
import { exampleFill, examplePaging } from './examples.js';
import type { ListQuery } from './lists.js';
import { comboAliases, comboFilterOf, comboTradesQuery } from './query.js';

const COMBO_SOURCE = 'v3.wallet_combos.trades' as const;

const comboTradeSchema = z.object({
  position_type: z.literal('combo'),
  wallet_role: z.enum(['maker', 'taker']),
  wallet_address: z.string(),
  counterparty_address: z.string(),
  combo_condition_id: z.string().meta({ description: '0x and 62 hex digits.' }),
  condition_id: z.string(),
  position_id: z.string().meta({ description: 'Decimal.' }),
  side: z
    .enum(['BUY', 'SELL'])
    .describe(
      'Side of the maker, who signed this order; the wallet has the opposite side where `wallet_role` is taker.',
    ),
  price: z.string().describe(`${priceDocs.fill} 4 decimals.`),
  size: z.string().meta({ description: 'Shares, 6 decimals.' }),
  fee: z.string().meta({ description: 'USDC, 6 decimals.' }),
  tx_hash: z.string(),
  log_index: z.int(),
  block_number: z.int(),
  timestamp: z.int().meta({ description: 'Unix seconds.' }),
});

/** Fields that include_combos adds to a wallet's trades. */
export const comboFields = {
  include_combos: z.literal(true),
  included_position_types: z.array(z.string()),
  combo_trades: z.array(comboTradeSchema.extend({ source: z.literal(COMBO_SOURCE) })),
  combo_trade_count: z.int(),
  combo_has_more: z.boolean(),
  combo_next_cursor: z
    .string()
    .nullable()
    .meta({ description: '`combo_cursor` of the next page of `combo_trades`; null on the last one.' }),
  combo_source: z.literal(COMBO_SOURCE),
};

function comboTradeFrom(row: FillRow): z.input<typeof comboTradeSchema> {
  const condition = positionConditionId(BigInt(row.token_id));
  const makerIsWallet = row.role === 'maker';
  const price = ratio(BigInt(row.usdc), BigInt(row.shares), 4) ?? 0n;
  return {
    position_type: 'combo',
    wallet_role: row.role,
    wallet_address: makerIsWallet ? row.maker : row.taker,
    counterparty_address: makerIsWallet ? row.taker : row.maker,
    combo_condition_id: condition,
    condition_id: condition,
    position_id: row.token_id,
    side: row.side,
    price: formatFixed(price, 4, 4),
    size: formatFixed(BigInt(row.shares), 6),
    fee: formatFixed(BigInt(row.fee), 6),
    tx_hash: row.tx_hash,
    log_index: Number(row.log_index),
    block_number: Number(row.block_number),
    timestamp: Number(row.timestamp),
  };
}

/** Combo trades of a wallet: the branch that `include_combos` adds to its other trades, at the same offset and limit, with a cursor of its own. */
export async function readComboBranch(
  { fills }: Readers,
  filter: FillFilter,
  query: ListQuery & { readonly combo_cursor?: string | undefined },
  { endpoint }: RequestContext,
): Promise<z.input<z.ZodObject<typeof comboFields>>> {
  const list = { endpoint, order: `combos ${query.order}` };
  const { rows, cursor } = await cursorPage(logPositionCursor, list, { cursor: query.combo_cursor }, (beyond) =>
    fills.fills({ ...filter, beyond }, query),
  );
  return {
    include_combos: true,
    included_position_types: ['market', 'combo'],
    combo_trades: rows.map((row) => ({ ...comboTradeFrom(row), source: COMBO_SOURCE })),
    combo_trade_count: rows.length,
    combo_has_more: cursor !== null,
    combo_next_cursor: cursor,
    combo_source: COMBO_SOURCE,
  };
}

/** GET /v3/wallets/{address}/combos/trades: fills of the third exchange generation. */
export function createComboTradesRoute({ fills }: Readers): Route {
  return defineRoute({
    ...v3Route,
    tag: 'Trades',
    isHeavy: true,
    path: '/v3/wallets/{address}/combos/trades',
    reads: ['fills'],
    summary: 'Combo trades of a wallet, newest first',
    params: z.object({ address: v3.address }),
    query: comboTradesQuery,
    aliases: comboAliases,
    success: {
      description: 'A page of combo trades',
      schema: z.object({
        address: z.string(),
        trades: z.array(comboTradeSchema),
        position_type: z.literal('combo'),
        source: z.literal(COMBO_SOURCE),
        ...pageFields,
      }),
      example: {
        address: exampleFill.maker,
        trades: [
          comboTradeFrom({
            ...exampleFill,
            token_id: '1741334187009265192213210063949860811096650382021683265628000000000000000256',
            exchange_version: 3,
          }),
        ],
        position_type: 'combo',
        source: COMBO_SOURCE,
        ...examplePaging,
      },
    },
    async handler({ params: { address }, query }, context) {
      const order = { order: 'desc', limit: query.limit, offset: query.offset } as const;
      const page = await cursorPage(logPositionCursor, context, query, (beyond) =>
        fills.fills({ ...comboFilterOf(address, query), beyond }, order),
      );
      return {
        body: {
          address,
          trades: page.rows.map(comboTradeFrom),
          position_type: 'combo' as const,
          source: COMBO_SOURCE,
          ...pagingOf(query, page, context),
        },
      };
    },
  });
}
