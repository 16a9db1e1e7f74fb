import { z } from 'zod';
import { positionConditionId, positionOutcomeIndex } from '../../../../schemas/primitives/ids.js';
import { formatMoney } from '../../../../schemas/primitives/money.js';
import { EXAMPLE_WALLET } from '../../../http/chain-params.js';
import type { PositionsSummary } from '../../../pnl/reader.js';
import { allCompleteField } from '../../../positions/completeness.js';
import type { PnlAction, PnlEventRow } from '../../../positions/pnl-events.sql.js';

export const eventKinds = ['buy', 'sell', 'split', 'merge', 'redeem', 'convert', 'send', 'receive'] as const;
type EventKind = (typeof eventKinds)[number];

/** Stored action of each event kind. */
export const actions: Readonly<Record<EventKind, PnlAction>> = {
  buy: 'BUY',
  sell: 'SELL',
  split: 'SPLIT',
  merge: 'MERGE',
  redeem: 'REDEEM',
  convert: 'CONVERT',
  send: 'SEND',
  receive: 'RECEIVE',
};

const shares = z.string().meta({ description: 'Shares, decimal text.' });
const usd = z.string().meta({ description: 'USD, decimal text.' });

const commonFields = {
  id: z.string(),
  position_type: z.literal('combo'),
  combo_condition_id: z.string().meta({ description: '0x and 62 hex digits.' }),
  condition_id: z.string(),
  position_id: z.string().meta({ description: 'Decimal.' }),
  outcome: z.enum(['Yes', 'No']),
  outcome_index: z.int(),
};
const chainFields = {
  tx_hash: z.string(),
  log_index: z.int(),
  block_number: z.int(),
  timestamp: z.int().meta({ description: 'Unix seconds.' }),
};

function commonFieldsFrom(row: PnlEventRow) {
  const id = BigInt(row.token);
  const condition = positionConditionId(id);
  const index = positionOutcomeIndex(id);
  return {
    id: `${row.id}-${row.leg}`,
    position_type: 'combo' as const,
    combo_condition_id: condition,
    condition_id: condition,
    position_id: row.token,
    outcome: index === 0 ? ('Yes' as const) : ('No' as const),
    outcome_index: index,
  };
}

const chainFrom = (row: PnlEventRow) => ({
  tx_hash: row.tx_hash,
  log_index: row.log_index,
  block_number: Number(row.block_number),
  timestamp: Number(row.timestamp),
});

/** Shares that left the position, untracked ones included; 0 where shares came in. */
function sharesOut(row: PnlEventRow): bigint {
  const change = BigInt(row.shares);
  return (change < 0n ? -change : 0n) + BigInt(row.untracked);
}

export const comboEventSchema = z.object({
  ...commonFields,
  event_kind: z.enum(eventKinds),
  size: shares.meta({ description: 'Shares that entered or left the position.' }),
  amount: usd.meta({ description: 'USD for shares with a known cost; negative: paid.' }),
  fee: usd,
  realized_pnl: usd.meta({ description: 'USD, before fees.' }),
  size_after: shares,
  ...chainFields,
});

export function comboEventFrom(row: PnlEventRow): z.input<typeof comboEventSchema> {
  const change = BigInt(row.shares);
  return {
    ...commonFieldsFrom(row),
    event_kind: row.action.toLowerCase() as EventKind,
    size: formatMoney(change > 0n ? change : sharesOut(row)),
    amount: formatMoney(BigInt(row.cash)),
    fee: formatMoney(BigInt(row.fee)),
    realized_pnl: formatMoney(BigInt(row.realized_pnl)),
    size_after: formatMoney(BigInt(row.size_after)),
    ...chainFrom(row),
  };
}

export const comboRedemptionSchema = z.object({
  ...commonFields,
  redemption_scope: z.enum(['full', 'partial']).meta({ description: 'full: the position is empty afterwards.' }),
  size: shares,
  payout: usd.meta({
    description: 'USD that the redemption paid. If it redeemed both positions at once: for shares with a known cost.',
  }),
  realized_pnl: usd.meta({ description: 'USD, before fees.' }),
  ...chainFields,
});

/** `payout`: base units. */
export const comboRedemptionFrom = (row: PnlEventRow, payout: bigint): z.input<typeof comboRedemptionSchema> => ({
  ...commonFieldsFrom(row),
  redemption_scope: BigInt(row.size_after) === 0n ? 'full' : 'partial',
  size: formatMoney(sharesOut(row)),
  payout: formatMoney(payout),
  realized_pnl: formatMoney(BigInt(row.realized_pnl)),
  ...chainFrom(row),
});

/** Example redemption of the OpenAPI document. */
export const exampleComboEvent: PnlEventRow = {
  wallet: EXAMPLE_WALLET,
  token: '1741334187009265192213210063949860811096650382021683265628000000000000000256',
  id: `0x${'7e'.repeat(32)}-41`,
  leg: 0,
  block_number: 91000001,
  log_index: 41,
  timestamp: 1790300000,
  tx_hash: `0x${'7e'.repeat(32)}`,
  action: 'REDEEM',
  shares: '-80000000',
  untracked: '0',
  cash: '80000000',
  realized_pnl: '70000000',
  fee: '0',
  size_after: '0',
};

const beforeFees = z.string().meta({ description: 'USD, decimal text, before fees.' });

export const comboSummarySchema = z.object({
  address: z.string(),
  position_type: z.literal('combo'),
  realized_pnl: beforeFees,
  gross_profit: beforeFees,
  gross_loss: beforeFees,
  unrealized_pnl: beforeFees,
  total_pnl: beforeFees,
  total_volume: z.string(),
  wins: z.int(),
  losses: z.int(),
  position_count: z.int(),
  open_positions: z.int(),
  complete: allCompleteField,
  source: z.literal('v3.wallet_combos.summary'),
  elapsed_ms: z.int(),
});

/** PnL summary of a wallet in combos. */
export const comboSummaryFrom = (
  address: string,
  pnl: PositionsSummary,
  elapsedMs: number,
): z.input<typeof comboSummarySchema> => ({
  address,
  position_type: 'combo',
  realized_pnl: formatMoney(pnl.realized),
  gross_profit: formatMoney(pnl.grossProfit),
  gross_loss: formatMoney(pnl.grossLoss),
  unrealized_pnl: formatMoney(pnl.unrealized),
  total_pnl: formatMoney(pnl.realized + pnl.unrealized),
  total_volume: formatMoney(pnl.volume),
  wins: pnl.wins,
  losses: pnl.losses,
  position_count: pnl.positions,
  open_positions: pnl.openPositions,
  complete: pnl.isComplete,
  source: 'v3.wallet_combos.summary',
  elapsed_ms: elapsedMs,
});
