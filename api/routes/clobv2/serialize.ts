import { z } from 'zod';
import { formatFixed, ratio } from '../../../schemas/primitives/money.js';
import { counterpartyField, counterpartyFlag } from '../../fills/counterparty.js';
import type { FillRow } from '../../fills/fills.sql.js';
import { NO_BUILDER } from '../../fills/filter.js';
import { legsOf } from '../../fills/legs.js';
import type { TokenTitle } from '../../fills/titles.js';
import { tokenFields, tokenFieldsFrom } from '../../fills/token-fields.js';
import { priceDocs } from '../../http/field-docs.js';

export const SOURCE = 'onchain-v2' as const;
/** First exchange generation that this API group covers. */
export const FIRST_VERSION = 2;

const text = z.string().nullable();
const decimal = z.string().meta({ description: 'Decimal text.' });

/** `YYYY-MM-DDTHH:MM:SS+00:00`. */
export const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000Z', '+00:00');

const AMOUNT_PLACES = 16;
const PRICE_PLACES = 20;
const FEE_PLACES = 24;

export const amountText = (units: bigint): string => formatFixed(units, AMOUNT_PLACES);

/** USD per share, rounded half up to 20 decimals. */
export const priceText = (usdc: bigint, shares: bigint): string =>
  formatFixed(ratio(usdc, shares, PRICE_PLACES) ?? 0n, PRICE_PLACES, PRICE_PLACES);

export const fillSchema = z.object({
  ts: z.string().meta({ description: 'ISO-8601.' }),
  ts_unix: z.int(),
  tx_hash: z.string(),
  order_hash: z.string(),
  maker: z.string(),
  taker: z.string(),
  side: z
    .enum(['maker', 'taker'])
    .optional()
    .meta({ description: 'Role of the requested wallet; absent without one.' }),
  counterparty: counterpartyField,
  token_id: text,
  amount_usd: decimal.nullable(),
  shares: decimal.nullable(),
  price: decimal.nullable().describe(`${priceDocs.fill} Decimal text.`),
  fee_usd: decimal,
  maker_token_id: z.string().meta({ description: '"0" is USDC.' }),
  taker_token_id: z.string(),
  maker_usdc: decimal.meta({ description: 'Amount the maker gave: USD or shares.' }),
  taker_usdc: decimal,
  fee_usdc: decimal,
  builder: z.string(),
});

export const marketFields = {
  question: text,
  slug: text,
  event_title: text,
  image: text,
  condition_id: text,
  outcome: text,
};
export const marketOf = (title: TokenTitle) => ({
  question: title.market,
  slug: title.slug,
  event_title: title.eventTitle,
  image: title.image,
  condition_id: title.conditionId,
  outcome: title.outcome,
});

/** Market fields of a token, next to its sums or rows. */
export const titleFields = {
  market: text,
  slug: text,
  outcome: text,
  image: text,
  condition_id: text,
};
export const titleOf = (title: TokenTitle) => ({
  market: title.market,
  slug: title.slug,
  outcome: title.outcome,
  image: title.image,
  condition_id: title.conditionId,
});

/** A fill without market fields. `sided`: include the role of the requested wallet. */
export function fillFrom(row: FillRow, sided: boolean): z.input<typeof fillSchema> {
  const usdc = BigInt(row.usdc);
  const shares = BigInt(row.shares);
  const legs = legsOf(row);
  const fee = formatFixed(BigInt(row.fee), FEE_PLACES);
  return {
    ts: isoTime(Number(row.timestamp)),
    ts_unix: Number(row.timestamp),
    tx_hash: row.tx_hash,
    order_hash: row.order_hash,
    maker: row.maker,
    taker: row.taker,
    ...(sided ? { side: row.role, ...counterpartyFlag(row) } : {}),
    token_id: row.token_id,
    amount_usd: amountText(usdc),
    shares: amountText(shares),
    price: priceText(usdc, shares),
    fee_usd: fee,
    maker_token_id: legs.makerAssetId,
    taker_token_id: legs.takerAssetId,
    maker_usdc: amountText(legs.makerAmount),
    taker_usdc: amountText(legs.takerAmount),
    fee_usdc: fee,
    builder: row.builder === '' ? NO_BUILDER : row.builder,
  };
}

/** A fill with its market. */
export const titledFillSchema = fillSchema.extend({
  ...marketFields,
  outcome_index: z.int().nullable(),
  ...tokenFields,
});
export const titledFillFrom = (row: FillRow, sided: boolean, title: TokenTitle): z.input<typeof titledFillSchema> => ({
  ...fillFrom(row, sided),
  ...marketOf(title),
  outcome_index: title.outcomeIndex,
  ...tokenFieldsFrom(row, title),
});

export const paginationSchema = z.object({
  limit: z.int(),
  offset: z.int(),
  has_more: z.boolean(),
  next_cursor: z.string().nullable().optional().meta({ description: 'Cursor of the next page.' }),
});

/** The values of `paginationSchema`; `cursor`: that of the next page, null on the last one. */
export const paginationOf = (
  { limit, offset }: { readonly limit: number; readonly offset: number },
  cursor: string | null,
): z.input<typeof paginationSchema> => ({ limit, offset, has_more: cursor !== null, next_cursor: cursor });
