import { z } from 'zod';
import { parseComboPosition } from '../../../../schemas/primitives/combo-ids.js';
import { positionConditionId, positionOutcomeIndex } from '../../../../schemas/primitives/ids.js';
import { divide, formatMoney, moneyToNumber } from '../../../../schemas/primitives/money.js';
import { oppositeTokenOf } from '../../../catalog/metadata.js';
import { priceDocs } from '../../../http/field-docs.js';
import { completeField, ifKnown, knownAmountsOf } from '../../../positions/completeness.js';
import type { OutcomeMetadata } from '../../../positions/outcomes.js';
import type { Position } from '../../../positions/position.js';
import { priceSource, priceSourceOf } from '../../../positions/price-fields.js';

export const statuses = ['open', 'closed', 'redeemable', 'redeemed'] as const;
export type Status = (typeof statuses)[number];

const PRICE_PLACES = 6;
const AVERAGE_PLACES = 18;
const ONE_PRICE = 1_000_000n;

const isResolved = (position: Pick<Position, 'price'>): boolean => position.price.source === 'settlement';

/** open: shares in an open market; redeemable: shares in a settled market; redeemed: closed by a redemption; closed: closed otherwise. */
export function statusOf(position: Pick<Position, 'size' | 'price' | 'lastRedeemedAtS'>): Status {
  if (position.size > 0n) return isResolved(position) ? 'redeemable' : 'open';
  return position.lastRedeemedAtS === null ? 'closed' : 'redeemed';
}

/** Cost per share, 6 decimals, base units. */
const averageOf = (avgPrice: bigint): bigint =>
  divide(avgPrice, 10n ** BigInt(AVERAGE_PLACES - PRICE_PLACES), 'half_up');
const secondsText = (seconds: number | null): string | null => (seconds === null ? null : String(seconds));

const marketStatusField = z
  .enum(['live', 'closed', 'resolved-win', 'resolved-loss'])
  .meta({ description: 'Of a settled market for this outcome; `closed` if several outcomes pay.' });

/** Whether the settled outcome won; null before the settlement and for a partial payout. */
function hasWon(position: Position): boolean | null {
  if (!isResolved(position) || position.price.usd === null) return null;
  if (position.price.usd === 0n) return false;
  return position.price.usd === ONE_PRICE ? true : null;
}

const seconds = z.string().nullable().meta({ description: 'Unix seconds, as text.' });

export const positionSchema = z.object({
  token_id: z.string(),
  size: z.number().nullable(),
  avg_price: z.number().nullable().describe(priceDocs.average),
  realized_pnl: z.number().nullable().meta({ description: 'USD, before fees.' }),
  unrealized_pnl: z.number().nullable(),
  total_pnl: z.number().nullable(),
  current_price: z.number().describe(`${priceDocs.now} 0 without a price.`),
  total_bought: z.number().nullable().meta({ description: 'Shares.' }),
  initial_value: z.number().nullable(),
  redeemable_payout: z.number().nullable(),
  complete: completeField,
  resolved: z.boolean(),
  price_source: priceSource,
  price_updated_at: seconds,
  status: z.enum(statuses),
  market: z.string().nullable(),
  slug: z.string().nullable(),
  outcome: z.string().nullable(),
  outcome_index: z.int().nullable(),
  opposite_asset: z.string().nullable(),
  image: z.string().nullable(),
  condition_id: z.string().nullable(),
  event_slug: z.string().nullable(),
  neg_risk: z.boolean().nullable().meta({ description: 'null if neither chain nor catalogue states it.' }),
  market_status: marketStatusField,
  tag_slugs: z.array(z.string()).nullable(),
  last_trade_at: seconds,
  resolved_at: seconds,
  last_activity_at: z.string().meta({ description: 'Unix seconds, as text.' }),
  winning_outcome_index: z.int().nullable(),
  won: z.boolean().nullable().meta({ description: 'null before the settlement, and if several outcomes pay.' }),
});

function marketStatus(position: Position, isLive: boolean): z.input<typeof marketStatusField> {
  if (!isResolved(position)) return isLive ? 'live' : 'closed';
  const won = hasWon(position);
  return won === null ? 'closed' : won ? 'resolved-win' : 'resolved-loss';
}

export function positionFrom(position: Position, metadata: OutcomeMetadata): z.input<typeof positionSchema> {
  const known = knownAmountsOf(position);
  return {
    token_id: position.tokenId,
    size: ifKnown(known.size, moneyToNumber),
    avg_price: ifKnown(known.avgPrice, (average) => moneyToNumber(averageOf(average))),
    realized_pnl: ifKnown(known.realizedPnl, moneyToNumber),
    unrealized_pnl: ifKnown(known.unrealizedPnl, moneyToNumber),
    total_pnl: ifKnown(known.totalPnl, moneyToNumber),
    current_price: moneyToNumber(position.price.usd ?? 0n),
    total_bought: ifKnown(known.totalBought, moneyToNumber),
    initial_value: ifKnown(known.initialValue, moneyToNumber),
    redeemable_payout: isResolved(position) ? ifKnown(known.currentValue, moneyToNumber) : 0,
    complete: position.isComplete,
    resolved: isResolved(position),
    price_source: priceSourceOf(position.price),
    price_updated_at: secondsText(position.price.updatedAtS),
    status: statusOf(position),
    market: metadata.market,
    slug: metadata.slug,
    outcome: metadata.outcome,
    outcome_index: metadata.outcomeIndex,
    opposite_asset: oppositeTokenOf(metadata),
    image: metadata.image,
    condition_id: metadata.conditionId,
    event_slug: metadata.eventSlug,
    neg_risk: metadata.negRisk,
    market_status: marketStatus(position, metadata.status === 'live'),
    tag_slugs: metadata.tagSlugs === null ? null : [...metadata.tagSlugs],
    last_trade_at: secondsText(position.lastTradeAtS),
    resolved_at: secondsText(metadata.resolvedAtS),
    last_activity_at: String(position.lastAtS),
    winning_outcome_index: metadata.winner,
    won: hasWon(position),
  };
}

const amount = z.string().meta({ description: 'Decimal text.' });

export const comboPositionSchema = z.object({
  position_type: z.literal('combo'),
  combo_condition_id: z.string().meta({ description: '0x and 62 hex digits.' }),
  condition_id: z.string(),
  position_id: z.string().meta({ description: 'Decimal.' }),
  combo_position_id: z.string().meta({ description: 'The same.' }),
  token_id: z.string(),
  leg_count: z.int(),
  outcome: z.enum(['Yes', 'No']),
  outcome_label: z.enum(['Yes', 'No']),
  outcome_index: z.int(),
  opposite_asset: z.string().meta({ description: 'Position of the other outcome, decimal.' }),
  size: amount.nullable(),
  avg_price: amount.nullable().describe(`${priceDocs.average} Decimal text.`),
  realized_pnl: amount.nullable(),
  unrealized_pnl: amount.nullable(),
  total_pnl: amount.nullable(),
  current_price: amount.describe(`${priceDocs.now} Decimal text.`),
  total_bought: amount.nullable(),
  initial_value: amount.nullable(),
  redeemable_payout: amount.nullable(),
  complete: completeField,
  resolved: z.boolean(),
  price_source: priceSource,
  price_updated_at: seconds,
  status: z.enum(statuses),
  market_status: marketStatusField,
  winning_outcome_index: z
    .int()
    .nullable()
    .meta({ description: 'null before the settlement, and if both outcomes pay.' }),
  won: z.boolean().nullable(),
  last_trade_at: seconds,
  last_activity_at: z.string(),
});

export function comboPositionFrom(position: Position): z.input<typeof comboPositionSchema> {
  const id = BigInt(position.tokenId);
  const condition = positionConditionId(id);
  const index = positionOutcomeIndex(id);
  const outcome = index === 0 ? 'Yes' : 'No';
  const known = knownAmountsOf(position);
  const won = hasWon(position);
  return {
    position_type: 'combo',
    combo_condition_id: condition,
    condition_id: condition,
    position_id: position.tokenId,
    combo_position_id: position.tokenId,
    token_id: position.tokenId,
    leg_count: parseComboPosition(position.tokenId).arity,
    outcome,
    outcome_label: outcome,
    outcome_index: index,
    opposite_asset: (id ^ 1n).toString(),
    size: ifKnown(known.size, formatMoney),
    avg_price: ifKnown(known.avgPrice, (average) => formatMoney(averageOf(average))),
    realized_pnl: ifKnown(known.realizedPnl, formatMoney),
    unrealized_pnl: ifKnown(known.unrealizedPnl, formatMoney),
    total_pnl: ifKnown(known.totalPnl, formatMoney),
    current_price: formatMoney(position.price.usd ?? 0n),
    total_bought: ifKnown(known.totalBought, formatMoney),
    initial_value: ifKnown(known.initialValue, formatMoney),
    redeemable_payout: ifKnown(isResolved(position) ? known.currentValue : 0n, formatMoney),
    complete: position.isComplete,
    resolved: isResolved(position),
    price_source: priceSourceOf(position.price),
    price_updated_at: secondsText(position.price.updatedAtS),
    status: statusOf(position),
    market_status: marketStatus(position, true),
    winning_outcome_index: won === null ? null : won ? index : 1 - index,
    won,
    last_trade_at: secondsText(position.lastTradeAtS),
    last_activity_at: String(position.lastAtS),
  };
}

const units = z.string().meta({ description: 'Base units (6 decimals).' });

export const holderSchema = z.object({
  user: z.string(),
  token_id: z.string(),
  amount: units.nullable(),
  avg_price: units
    .nullable()
    .meta({ description: `${priceDocs.average} Base units (6 decimals); null for shares without a cost.` }),
  realized_pnl: units
    .nullable()
    .meta({ description: 'Realized profit before fees, USD in base units (6 decimals), as text; null if unknown.' }),
  total_bought: units
    .nullable()
    .meta({ description: 'Shares that were bought in total, base units (6 decimals), as text; null if unknown.' }),
  complete: completeField,
});

/** A current or former holder of an outcome. */
export function holderFrom(position: Position): z.input<typeof holderSchema> {
  const known = knownAmountsOf(position);
  return {
    user: position.wallet,
    token_id: position.tokenId,
    amount: ifKnown(known.size, String),
    avg_price: position.avgPrice === 0n ? null : averageOf(position.avgPrice).toString(),
    realized_pnl: ifKnown(known.realizedPnl, String),
    total_bought: ifKnown(known.totalBought, String),
    complete: position.isComplete,
  };
}
