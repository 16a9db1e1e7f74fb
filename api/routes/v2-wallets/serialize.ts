import { z } from 'zod';
import { divide, moneyToNumber, priceNumber } from '../../../schemas/primitives/money.js';
import { priceDocs } from '../../http/field-docs.js';
import type { HeldPosition } from '../../positions/position.js';
import { priceSource, sourceOf } from '../../positions/price-fields.js';
import { marketStatuses, marketStatusOf } from '../../positions/status.js';

const text = z.string().nullable();
const moment = z.int().nullable().meta({ description: 'Unix seconds.' });
const CENT = 10_000n;
/** To the nearest cent, in base units. */
export const toCent = (units: bigint): bigint => divide(units, CENT, 'half_up') * CENT;
export const averageOf = (position: HeldPosition): number => priceNumber(position.avgPrice, 10n ** 18n, 6) ?? 0;
/** The other outcome of a market of two. */
export function oppositeOf({ about }: HeldPosition): { readonly outcome: string; readonly asset: string } | null {
  if (about.outcomeIndex === null || about.tokenIds.length !== 2) return null;
  const other = 1 - about.outcomeIndex;
  return { outcome: about.outcomes[other] ?? '', asset: about.tokenIds[other] ?? '' };
}

/** Fields of a position that the /v2 lists of positions have in common. */
export const positionFields = {
  token_id: z.string(),
  size: z.number().meta({ description: 'Shares held; 0: none any more.' }),
  avg_price: z.number().describe(priceDocs.average),
  realized_pnl: z.number().meta({ description: 'Before fees.' }),
  unrealized_pnl: z.number().meta({ description: 'At the price of now, or at what a resolved market pays.' }),
  current_price: z.number().nullable().describe(`${priceDocs.now} null where nothing is held, or there is none.`),
  price_source: priceSource,
  price_updated_at: moment,
  market_status: z.enum(marketStatuses),
  total_bought: z.number().meta({ description: 'Shares.' }),
  market: text,
  event_slug: text,
  outcome: text,
  image: text,
  condition_id: text,
  last_trade_at: moment,
  closed_at: z.int().nullable().meta({ description: 'Last redemption of the condition, Unix seconds.' }),
  resolved_at: moment,
};

export const positionFieldsOf = (position: HeldPosition) => ({
  token_id: position.tokenId,
  size: moneyToNumber(position.size),
  avg_price: averageOf(position),
  realized_pnl: moneyToNumber(position.realizedPnl),
  unrealized_pnl: moneyToNumber(position.unrealizedPnl),
  current_price: position.size === 0n || position.price.usd === null ? null : moneyToNumber(position.price.usd),
  price_source: position.size === 0n ? null : sourceOf(position.price),
  price_updated_at: position.size === 0n ? null : position.price.updatedAtS,
  market_status: marketStatusOf(position),
  total_bought: moneyToNumber(position.totalBought),
  market: position.about.market,
  event_slug: position.about.eventSlug,
  outcome: position.about.outcome,
  image: position.about.image,
  condition_id: position.about.conditionId,
  last_trade_at: position.lastTradeAtS,
  closed_at: position.lastRedeemedAtS,
  resolved_at: position.about.resolvedAtS,
});
