import { z } from 'zod';
import { comboModuleName, parseComboPosition } from '../../../../schemas/primitives/combo-ids.js';
import { formatMoney } from '../../../../schemas/primitives/money.js';
import { priceDocs } from '../../../http/field-docs.js';
import type { ComboMarket } from '../../../positions/combos.js';
import type { PnlEventRow } from '../../../positions/pnl-events.sql.js';
import { unpriced } from '../../../positions/position.js';
import { priceSource, priceSourceOf } from '../../../positions/price-fields.js';
import {
  comboEventFrom,
  comboEventSchema,
  comboRedemptionFrom,
  comboRedemptionSchema,
  exampleComboEvent,
} from '../positions/combos.serialize.js';

export const comboMarketSchema = z.object({
  position_type: z.literal('combo'),
  combo_condition_id: z.string().meta({ description: '0x and 62 hex digits.' }),
  condition_id: z.string(),
  module: z
    .string()
    .nullable()
    .meta({ description: 'Module of the combo protocol; combos with legs are of CombinatorialModule.' }),
  leg_count: z.int(),
  position_ids: z.array(z.string()).meta({ description: 'Decimal, in the order of outcomes.' }),
  outcomes: z.array(z.enum(['Yes', 'No'])),
  outcome_prices: z
    .array(z.string().nullable())
    .meta({ description: `${priceDocs.now} Decimal text; null where there is none yet.` }),
  price_sources: z.array(priceSource).meta({ description: 'Of each of outcome_prices.' }),
  prices_updated_at: z.array(z.int().nullable()).meta({ description: 'Of each of outcome_prices, Unix seconds.' }),
  trades: z.int().meta({ description: 'Each match once.' }),
  volume: z.string().meta({ description: 'USD, decimal text; each match once.' }),
  event_count: z.int().meta({ description: 'Position changes; a fill counts once per wallet.' }),
  redemption_count: z.int(),
  first_activity_at: z.int().meta({ description: 'Unix seconds.' }),
  last_activity_at: z.int().meta({ description: 'Unix seconds.' }),
});

export function comboMarketFrom(market: ComboMarket): z.input<typeof comboMarketSchema> {
  const { moduleId, arity } = parseComboPosition(market.positionIds[0]);
  return {
    position_type: 'combo',
    combo_condition_id: market.conditionId,
    condition_id: market.conditionId,
    module: comboModuleName(moduleId) ?? null,
    leg_count: arity,
    position_ids: [...market.positionIds],
    outcomes: ['Yes', 'No'],
    outcome_prices: market.prices.map((price) => {
      const usd = price?.usd ?? null;
      return usd === null ? null : formatMoney(usd);
    }),
    price_sources: market.prices.map((price) => priceSourceOf(price ?? unpriced)),
    prices_updated_at: market.prices.map((price) => price?.updatedAtS ?? null),
    trades: market.trades,
    volume: formatMoney(market.usdc),
    event_count: market.events,
    redemption_count: market.redemptions,
    first_activity_at: market.firstAtS,
    last_activity_at: market.lastAtS,
  };
}

export const globalEventSchema = comboEventSchema.extend({ wallet: z.string() });
export const globalEventFrom = (row: PnlEventRow) => ({ wallet: row.wallet, ...comboEventFrom(row) });
export const globalRedemptionSchema = comboRedemptionSchema.extend({ wallet: z.string() });
export const globalRedemptionFrom = (row: PnlEventRow, payout: bigint) => ({
  wallet: row.wallet,
  ...comboRedemptionFrom(row, payout),
});

/** Example combo of the OpenAPI document. */
export const exampleComboMarket: ComboMarket = {
  conditionId: comboEventFrom(exampleComboEvent).condition_id,
  positionIds: [exampleComboEvent.token, (BigInt(exampleComboEvent.token) + 1n).toString()],
  prices: [{ usd: 125_000n, source: 'last_fill', updatedAtS: 1790000200 }, undefined],
  trades: 3,
  usdc: 66_275_000n,
  events: 7,
  redemptions: 1,
  firstAtS: 1789000000,
  lastAtS: 1790300000,
};
