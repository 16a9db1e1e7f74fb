import { z } from 'zod';
import { divide, moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import { priceDocs } from '../../http/field-docs.js';
import { completeField, ifKnown, type KnownAmounts, knownAmountsOf } from '../../positions/completeness.js';
import type { PositionWithMetadata } from '../../positions/position.js';
import { priceSource, priceSourceOf } from '../../positions/price-fields.js';
import { marketStatuses, marketStatusOf } from '../../positions/status.js';

const text = z.string().nullable();
const nullableTimestamp = z.int().nullable().meta({ description: 'Unix seconds.' });
const CENT = 10_000n;
/** Rounds base units to the nearest cent, half up. */
export const toCent = (units: bigint): bigint => divide(units, CENT, 'half_up') * CENT;
/** USD per share, 6 decimals; null if unknown. */
export const averageOf = (avgPrice: bigint | null): number | null =>
  ifKnown(avgPrice, (average) => priceNumber(average, 10n ** 18n, 6) ?? 0);
/** The other outcome of a two-outcome market. */
export function oppositeOutcomeOf({
  metadata,
}: PositionWithMetadata): { readonly outcome: string; readonly asset: string } | null {
  if (metadata.outcomeIndex === null || metadata.tokenIds.length !== 2) return null;
  const other = 1 - metadata.outcomeIndex;
  return { outcome: metadata.outcomes[other] ?? '', asset: metadata.tokenIds[other] ?? '' };
}

/** Fields that all /v2 position lists share. */
export const positionFields = {
  token_id: z.string(),
  size: z.number().nullable().meta({ description: 'Number of shares.' }),
  avg_price: z.number().nullable().describe(priceDocs.average),
  realized_pnl: z.number().nullable().meta({ description: 'Before fees.' }),
  unrealized_pnl: z
    .number()
    .nullable()
    .meta({ description: 'At the current price, or at the settlement price of a resolved market.' }),
  current_price: z.number().nullable().describe(`${priceDocs.now} null without shares or without a price.`),
  price_source: priceSource,
  price_updated_at: nullableTimestamp,
  market_status: z.enum(marketStatuses),
  total_bought: z.number().nullable().meta({ description: 'Shares.' }),
  complete: completeField,
  market: text,
  event_slug: text,
  outcome: text,
  image: text,
  condition_id: text,
  last_trade_at: nullableTimestamp,
  closed_at: z.int().nullable().meta({ description: 'Last redemption of the condition, Unix seconds.' }),
  resolved_at: nullableTimestamp,
};

const amountFieldsOf = (known: KnownAmounts) => ({
  size: ifKnown(known.size, moneyToNumber),
  avg_price: averageOf(known.avgPrice),
  realized_pnl: ifKnown(known.realizedPnl, moneyToNumber),
  unrealized_pnl: ifKnown(known.unrealizedPnl, moneyToNumber),
  total_bought: ifKnown(known.totalBought, moneyToNumber),
});

export const positionFieldsOf = (position: PositionWithMetadata) => ({
  token_id: position.tokenId,
  ...amountFieldsOf(knownAmountsOf(position)),
  complete: position.isComplete,
  current_price: position.size === 0n || position.price.usd === null ? null : moneyToNumber(position.price.usd),
  price_source: position.size === 0n ? null : priceSourceOf(position.price),
  price_updated_at: position.size === 0n ? null : position.price.updatedAtS,
  market_status: marketStatusOf(position),
  market: position.metadata.market,
  event_slug: position.metadata.eventSlug,
  outcome: position.metadata.outcome,
  image: position.metadata.image,
  condition_id: position.metadata.conditionId,
  last_trade_at: position.lastTradeAtS,
  closed_at: position.closedAtS ?? position.lastRedeemedAtS,
  resolved_at: position.metadata.resolvedAtS,
});
