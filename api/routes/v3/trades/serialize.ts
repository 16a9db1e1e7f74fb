import { z } from 'zod';
import { moneyToNumber, priceNumber } from '../../../../schemas/primitives/money.js';
import { counterpartyField, counterpartyFlag } from '../../../fills/counterparty.js';
import type { FillGroupRow, FillRow } from '../../../fills/fills.sql.js';
import { NO_BUILDER } from '../../../fills/filter.js';
import { directionOf, legsOf, signedRoleOf } from '../../../fills/legs.js';
import type { TokenTitle } from '../../../fills/titles.js';
import { tokenFields, tokenFieldsFrom } from '../../../fills/token-fields.js';
import { priceDocs, sideDocs } from '../../../http/field-docs.js';

const commonFields = {
  market: z.string().nullable(),
  slug: z.string().nullable(),
  outcome: z.string().nullable(),
  outcome_index: z.int().nullable(),
  image: z.string().nullable(),
  condition_id: z.string().nullable(),
  ...tokenFields,
};

const orderSide = z
  .int()
  .nullable()
  .meta({ description: 'Side of the maker order: 0 buy, 1 sell, null on the first exchange generation.' });
const role = z
  .enum(['maker', 'taker'])
  .meta({ description: 'Role of the requested wallet; always maker without one.' });
const direction = z.enum(['BUY', 'SELL']).describe(sideDocs.subject);

export const tradeSchema = z.object({
  id: z.string().meta({ description: '`<transaction hash>_<order hash>_<log index>`; opaque.' }),
  maker: z.string(),
  taker: z.string(),
  maker_asset_id: z.string().meta({ description: '"0" is USDC.' }),
  taker_asset_id: z.string().meta({ description: '"0" is USDC.' }),
  maker_amount: z.number().meta({ description: 'USD on the collateral leg, else shares.' }),
  taker_amount: z.number(),
  amount_usd: z.number(),
  fee: z.number().meta({ description: 'USD.' }),
  token_id: z.string(),
  asset: z.string(),
  price: z.number().describe(`${priceDocs.fill} 4 decimals.`),
  size: z.number(),
  amount: z.number(),
  timestamp: z.string().meta({ description: 'Unix seconds, as text.' }),
  transaction_hash: z.string(),
  order_hash: z.string(),
  builder: z.string().meta({ description: 'Builder code; all zeros: none.' }),
  side: orderSide,
  role,
  direction,
  counterparty: counterpartyField,
  ...commonFields,
  event_slug: z.string().nullable(),
  event_id: z.int().nullable(),
});

export const orderSchema = z.object({
  order_hash: z.string(),
  fill_count: z.int(),
  avg_price: z.number().describe(priceDocs.order),
  total_amount_usd: z.number(),
  total_usd: z.number(),
  total_shares: z.number(),
  total_fee: z.number(),
  total_maker_amount: z.number(),
  total_taker_amount: z.number(),
  first_fill_at: z.int(),
  last_fill_at: z.int(),
  timestamp: z.string(),
  tx_hashes: z.array(z.string()),
  ...commonFields,
  direction,
  counterparty: counterpartyField,
  role,
  side: orderSide,
  maker: z.string(),
  taker: z.string(),
});

/** V1 orders have no signed side: null. */
const sideNumber = (row: { exchange_version: number; side: 'BUY' | 'SELL' }): number | null =>
  row.exchange_version === 1 ? null : row.side === 'BUY' ? 0 : 1;

const titleFieldsFrom = (row: FillRow, title: TokenTitle) => ({
  market: title.market,
  slug: title.slug,
  outcome: title.outcome,
  outcome_index: title.outcomeIndex,
  image: title.image,
  condition_id: title.conditionId,
  ...tokenFieldsFrom(row, title),
});

/** Fields that fills and groups of fills have in common. */
const amountsOf = (row: FillRow) => {
  const usdc = BigInt(row.usdc);
  const shares = BigInt(row.shares);
  const legs = legsOf(row);
  return {
    legs,
    usd: moneyToNumber(usdc),
    size: moneyToNumber(shares),
    fee: moneyToNumber(BigInt(row.fee)),
    price: priceNumber(usdc, shares) ?? 0,
    maker_amount: moneyToNumber(legs.makerAmount),
    taker_amount: moneyToNumber(legs.takerAmount),
  };
};

const partiesOf = (row: FillRow) => ({
  side: sideNumber(row),
  role: row.role,
  direction: directionOf(row),
  ...counterpartyFlag(row),
  maker: row.maker,
  taker: row.taker,
});

/** A fill as trade row. */
export function tradeFrom(row: FillRow, title: TokenTitle): z.input<typeof tradeSchema> {
  const { legs, usd, size, fee, price, maker_amount, taker_amount } = amountsOf(row);
  return {
    id: `${row.tx_hash}_${row.order_hash}_${row.log_index}`,
    maker_asset_id: legs.makerAssetId,
    taker_asset_id: legs.takerAssetId,
    maker_amount,
    taker_amount,
    amount_usd: usd,
    fee,
    token_id: row.token_id,
    asset: row.token_id,
    price,
    size,
    amount: size,
    timestamp: String(row.timestamp),
    transaction_hash: row.tx_hash,
    order_hash: row.order_hash,
    builder: row.builder === '' ? NO_BUILDER : row.builder,
    ...partiesOf(row),
    ...titleFieldsFrom(row, title),
    event_slug: title.eventSlug,
    event_id: title.eventId,
  };
}

/** An order with the sums of its fills. `ofWallet`: the list is that of a wallet, else the maker is the subject of every row. */
export function orderFrom(row: FillGroupRow, title: TokenTitle, ofWallet: boolean): z.input<typeof orderSchema> {
  const { usd, size, fee, price, maker_amount, taker_amount } = amountsOf(row);
  return {
    order_hash: row.order_hash,
    fill_count: Number(row.fill_count),
    avg_price: price,
    total_amount_usd: usd,
    total_usd: usd,
    total_shares: size,
    total_fee: fee,
    total_maker_amount: maker_amount,
    total_taker_amount: taker_amount,
    first_fill_at: Number(row.first_fill_at),
    last_fill_at: Number(row.timestamp),
    timestamp: String(row.timestamp),
    tx_hashes: [...row.tx_hashes],
    ...titleFieldsFrom(row, title),
    ...partiesOf(row),
    ...(ofWallet ? { role: signedRoleOf(row) } : {}),
  };
}

/** A wallet's fills of one token in one transaction: a trade row with their sums. */
export const userTradeSchema = tradeSchema.extend({ fill_count: z.int(), tx_hashes: z.array(z.string()) });

export function userTradeFrom(row: FillGroupRow, title: TokenTitle): z.input<typeof userTradeSchema> {
  return {
    ...tradeFrom(row, title),
    role: signedRoleOf(row),
    fill_count: Number(row.fill_count),
    tx_hashes: [...row.tx_hashes],
  };
}
