import { z } from 'zod';
import {
  eventFrame,
  hex,
  logLocation,
  millis,
  outcomeSide,
  positionId,
  price,
  shares,
  side,
  text,
  tokenId,
  unsigned,
  usdc,
  wallet,
} from './fields.js';
import { comboActions } from './vocabulary.js';

const leg = z.strictObject({
  position_id: positionId,
  module_id: z.number().int(),
  module_name: text('BinaryModule, NegRiskModule or CombinatorialModule.'),
  condition_id: hex('31 bytes.'),
  event_id: hex('29 bytes.'),
  arity: z.number().int(),
  condition_index: z.number().int(),
  outcome_index: z.number().int(),
  leg_outcome_label: text("The market's label, or Yes and No.").optional(),
  market: z
    .strictObject({
      title: z.string(),
      slug: z.string(),
      image: z.string().optional(),
      event_title: z.string().optional(),
      event_slug: z.string().optional(),
      outcomes: z.array(z.string()),
      token_ids: z.array(tokenId),
    })
    .meta({ description: 'If the leg was migrated from a market of the catalogue.' })
    .optional(),
});
const legs = z.array(leg).meta({ description: 'Empty until the preparation of the combo was seen.' });

const row = {
  position_id: positionId,
  order_hash: hex('Order.'),
  maker: wallet('Owner of the order.'),
  taker: wallet("The taker; on the taker's row the exchange."),
  side,
  outcome: outcomeSide.optional(),
  price: price('Of this row.'),
  size: shares('Of this row.'),
  amount_usdc: usdc('Of this row.'),
  fee: usdc('Of this row.'),
};

export const comboExecution = eventFrame('combo_execution', 'A match on the combo exchange seen in the mempool.', {
  tx_hash: hex('Transaction.'),
  status: z.literal('pending'),
  detected_at: millis('When it was first seen.'),
  block_number: z.null(),
  combo_condition_id: hex('31 bytes.'),
  legs,
  taker_wallet: wallet('Taker.'),
  taker_token: positionId,
  taker_side: side,
  outcome: outcomeSide.optional(),
  taker_price: price('Four decimals.'),
  taker_size: shares('Executed size.'),
  amount_usdc: usdc('What the taker pays or gets.'),
  order_hashes: z.array(hex('Order.')),
  trades: z
    .array(z.strictObject({ ...row, signer: wallet('Key that signed it.') }))
    .meta({ description: "Maker orders in calldata order, the taker's order last." }),
});

export const comboStatusUpdate = eventFrame('combo_status_update', 'A match on the combo exchange is in a block.', {
  tx_hash: hex('Transaction.'),
  block_number: z.number().int(),
  confirmed_at: millis(
    'When this service received the block; the time of the block if the match was not seen pending.',
  ),
  execution_status: z.literal('CONFIRMED'),
  pending_detected_at: millis('When the match was first seen.').optional(),
  latency_ms: z.number().int().optional(),
  combo_condition_id: hex('31 bytes.'),
  yes_position_id: positionId,
  no_position_id: positionId,
  leg_position_ids: z.array(positionId),
  legs,
  order_hashes: z.array(hex('Order.')),
  confirmed_fills: z.array(z.strictObject(row)).meta({ description: 'In log order.' }),
  fees: usdc('Of all rows.'),
  maker_address: wallet('Only if there is exactly one maker.').optional(),
  taker_address: wallet('Taker.'),
  amount_usdc: usdc('What the taker paid or got.'),
});

export const comboLifecycle = eventFrame(
  'combo_lifecycle',
  'A combo position was created, changed, moved or redeemed.',
  {
    ...logLocation,
    status: z.literal('confirmed'),
    detected_at: millis('Time of the block.'),
    action: z.enum(comboActions),
    user: wallet('The user; null if no log contains it.').nullable(),
    recipient: wallet('Transfer: who receives the position.').optional(),
    combo_condition_id: hex('31 bytes.').optional(),
    condition_ids: z.array(hex('31 bytes.')),
    event_ids: z.array(hex('29 bytes.')),
    module_id: z.number().int().optional(),
    module_name: z.string().optional(),
    yes_position_id: positionId.optional(),
    no_position_id: positionId.optional(),
    position_ids: z.array(positionId),
    source_position_ids: z.array(positionId),
    destination_position_ids: z.array(positionId),
    leg_position_ids: z.array(positionId),
    legs,
    amount_e6: unsigned('Amount in base units.').optional(),
    amount_usdc: usdc('Amount.').optional(),
    payout_e6: unsigned('Payout in base units.').optional(),
    payout_usdc: usdc('Payout.').optional(),
    side: outcomeSide.optional(),
  },
);

export const comboApproval = eventFrame(
  'combo_approval',
  'A wallet approved the combo exchange or the AutoRedeemer as operator, or revoked the approval.',
  {
    ...logLocation,
    status: z.literal('confirmed'),
    detected_at: millis('Time of the block.'),
    approval_type: z.enum(['position_manager_approval_for_all', 'collateral_allowance']),
    owner: wallet('Owner.'),
    operator: wallet('Contract.'),
    approved: z.boolean(),
    amount_e6: unsigned('Allowance in base units.').optional(),
    target_role: z.enum(['ExchangeV3', 'AutoRedeemer']),
  },
);
