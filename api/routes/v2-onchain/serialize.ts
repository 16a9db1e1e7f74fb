import { z } from 'zod';
import { moneyToNumber } from '../../../schemas/primitives/money.js';
import type { Condition } from '../../catalog/conditions.js';
import { counterpartyField, counterpartyFlag } from '../../fills/counterparty.js';
import type { FillRow } from '../../fills/fills.sql.js';
import { directionOf, legsOf } from '../../fills/legs.js';
import { formatCursor, type LogPositionRow, logPositionOf } from '../../fills/log-position.js';
import type { TokenTitle } from '../../fills/titles.js';
import { tokenFields, tokenFieldsFrom } from '../../fills/token-fields.js';
import type { WalletEventRow } from '../../wallet-events/events.sql.js';
import { eventId } from '../../wallet-events/reader.js';

export const SOURCE = 'onchain' as const;
const text = z.string().nullable();
const timestamp = z.int().meta({ description: 'Unix seconds.' });
export const direction = z.enum(['BUY', 'SELL']).meta({
  description: 'Whether the requested wallet, or else the maker, bought or sold the token. See `counterparty`.',
});
export const role = z
  .enum(['maker', 'taker'])
  .meta({ description: 'Role of the requested wallet; always maker without one.' });

export const marketFields = { market: text, slug: text, outcome: text, image: text };
export const marketOf = (title: TokenTitle) => ({
  market: title.market,
  slug: title.slug,
  outcome: title.outcome,
  image: title.image,
});

export const fillSchema = z.object({
  tx_hash: z.string(),
  order_hash: z.string(),
  timestamp,
  maker: z.string(),
  taker: z.string(),
  maker_asset_id: z.string().meta({ description: '"0" is USDC.' }),
  taker_asset_id: z.string(),
  maker_amount: z.number().meta({ description: 'USD or shares, by the asset.' }),
  taker_amount: z.number(),
  fee: z.number().meta({ description: 'USDC.' }),
  side: role,
  direction,
  counterparty: counterpartyField,
});
/** Identifiers of the outcome of a fill; the catalogue adds the names. */
export const outcomeFields = { condition_id: text, outcome_index: z.int().nullable(), ...tokenFields };
export const outcomeFieldsFrom = (row: FillRow | undefined, title: TokenTitle) => ({
  condition_id: title.conditionId,
  outcome_index: title.outcomeIndex,
  ...tokenFieldsFrom(row, title),
});
export const walletFillSchema = fillSchema.extend({ ...marketFields, ...outcomeFields });

export function fillFrom(row: FillRow): z.input<typeof fillSchema> {
  const legs = legsOf(row);
  return {
    tx_hash: row.tx_hash,
    order_hash: row.order_hash,
    timestamp: Number(row.timestamp),
    maker: row.maker,
    taker: row.taker,
    maker_asset_id: legs.makerAssetId,
    taker_asset_id: legs.takerAssetId,
    maker_amount: moneyToNumber(legs.makerAmount),
    taker_amount: moneyToNumber(legs.takerAmount),
    fee: moneyToNumber(BigInt(row.fee)),
    side: row.role,
    direction: directionOf(row),
    ...counterpartyFlag(row),
  };
}

export const walletFillFrom = (row: FillRow, title: TokenTitle): z.input<typeof walletFillSchema> => ({
  ...fillFrom(row),
  ...marketOf(title),
  ...outcomeFieldsFrom(row, title),
});

export interface TimedRow extends LogPositionRow {
  readonly timestamp: number | string;
}

/** `<timestamp>:<block>-<log index>` of a row. */
export const formatTimedCursor = (row: TimedRow): string => `${row.timestamp}:${formatCursor(logPositionOf(row))}`;

export const paginationSchema = z.object({
  limit: z.int(),
  has_more: z.boolean(),
  cursor: z.string().optional().meta({ description: 'Absent on the last page.' }),
});

export const redemptionSchema = z.object({
  id: z.string(),
  timestamp,
  condition: z.string(),
  index_sets: z.array(z.string()).meta({ description: 'Bit masks of outcomes, decimal.' }),
  payout: z.number().meta({ description: 'USDC; 0 for a losing outcome.' }),
  market: text,
  slug: text,
  image: text,
});

const conditionOf = ({ market }: Condition) => ({
  market: market?.question ?? null,
  slug: market?.slug ?? null,
  image: market?.image ?? null,
});

export const redemptionFrom = (row: WalletEventRow, condition: Condition): z.input<typeof redemptionSchema> => ({
  id: eventId(row),
  timestamp: Number(row.timestamp),
  condition: row.subject_id,
  index_sets: [...row.index_sets],
  payout: moneyToNumber(BigInt(row.amount)),
  ...conditionOf(condition),
});

export const activitySchema = z.object({
  type: z.enum(['split', 'merge', 'neg_risk_conversion']),
  id: z.string(),
  timestamp,
  condition: z.string().optional(),
  amount: z.number().meta({ description: 'USDC.' }),
  market: text.optional(),
  slug: text.optional(),
  image: text.optional(),
  neg_risk_market_id: z.string().optional().meta({ description: 'Present only for conversions, like the next two.' }),
  index_set: z.string().optional(),
  question_count: z.int().optional().meta({
    description:
      'Questions of the market at the time of the conversion; of the catalogue today if the chain does not tell.',
  }),
});

export function activityFrom(
  row: WalletEventRow,
  condition: Condition | undefined,
  questions: number,
): z.input<typeof activitySchema> {
  const common = { id: eventId(row), timestamp: Number(row.timestamp), amount: moneyToNumber(BigInt(row.amount)) };
  if (row.kind === 'conversion' || condition === undefined) {
    return {
      type: 'neg_risk_conversion',
      ...common,
      neg_risk_market_id: row.subject_id,
      index_set: row.index_sets[0] ?? '0',
      question_count: questions,
    };
  }
  const type = row.kind === 'merge' ? 'merge' : 'split';
  return { type, ...common, condition: row.subject_id, ...conditionOf(condition) };
}
