import { z } from 'zod';
import {
  enrichment,
  eventFrame,
  hex,
  logLocation,
  marketEnrichment,
  millis,
  shares,
  text,
  tokenId,
  unsigned,
  usdc,
  wallet,
} from './fields.js';

export const block = eventFrame('block', 'A block, after all of its events.', {
  block_number: z.number().int(),
  block_hash: hex('Hash.'),
  timestamp: millis('Time of the block.'),
  parent_hash: hex('Hash of the block before.'),
  tx_count: z
    .number()
    .int()
    .meta({ description: 'Known transactions: all of the block; on recorded input only those with a log.' }),
  polymarket_tx_count: z.number().int().meta({ description: 'Transactions with an event of the venue.' }),
  settlement_count: z.number().int().meta({ description: 'Transactions with a fill.' }),
  trade_volume_usd: usdc('Volume of the fills, each match once.'),
});

export const retract = eventFrame(
  'retract',
  'Blocks that are no longer part of the chain: discard the events sent for them.',
  {
    from_block: z.number().int(),
    to_block: z.number().int(),
    block_hashes: z.array(hex('Block.')),
  },
);

export const deposit = eventFrame('deposit', 'Collateral entered or left a wallet of the venue.', {
  ...logLocation,
  from: wallet('Sender.'),
  to: wallet('Receiver.'),
  amount: usdc('Amount.'),
  direction: z.enum(['deposit', 'withdrawal']),
});

export const positionChange = eventFrame(
  'position_change',
  'A transfer of outcome tokens that nothing else explains.',
  {
    ...logLocation,
    from: wallet('Sender.'),
    to: wallet('Receiver.'),
    token_id: tokenId,
    amount: shares('Amount.'),
    transfer_type: z.enum(['single', 'batch']),
    ...enrichment,
  },
);

const fullSet = {
  ...logLocation,
  stakeholder: wallet('The user; for calls through an adapter the wallet behind it.'),
  collateral_token: hex('Collateral.'),
  condition_id: hex('Condition.'),
  amount: usdc('Full sets.'),
  ...marketEnrichment,
};
export const positionSplit = eventFrame('position_split', 'Collateral became a full set of outcome tokens.', fullSet);
export const positionMerge = eventFrame('position_merge', 'A full set of outcome tokens became collateral.', fullSet);

export const positionsConverted = eventFrame(
  'positions_converted',
  'NO tokens of a neg-risk group became collateral and YES tokens.',
  {
    ...logLocation,
    stakeholder: wallet('The user; for calls through an adapter the wallet behind it.'),
    market_id: hex('Group.'),
    index_set: hex('Bit i: the NO of question i was converted.'),
    amount: usdc('Per outcome.'),
    converted_outcomes: z.array(z.string()).meta({ description: 'Names of those questions.' }).optional(),
    event_title: text('Title of the parent event.').optional(),
    neg_risk: z.literal(true),
    market_title: text('Only when a single question was converted.').optional(),
    market_slug: text('Only when a single question was converted.').optional(),
    market_image: text('Only when a single question was converted.').optional(),
    taker_base_fee: z.number().nullable().meta({ description: 'If all of them have the same.' }).optional(),
    tokens: z.record(z.string(), z.string()).meta({ description: 'Token id to label.' }).optional(),
  },
);

export const redemption = eventFrame('redemption', 'Outcome tokens of a resolved condition were paid out.', {
  ...logLocation,
  redeemer: wallet('The user; for calls through an adapter or the AutoRedeemer the wallet behind it.'),
  collateral_token: hex('Collateral.'),
  condition_id: hex('Condition.'),
  index_sets: z.array(z.number().int()),
  payout: usdc('0: the losing side.'),
  payout_e6: unsigned('The payout in base units.'),
  source: z
    .enum(['AutoRedeemer.BinaryRedemption', 'AutoRedeemer.NegRiskRedemption', 'AutoRedeemer.Redemption'])
    .meta({ description: 'Absent when the user redeemed.' })
    .optional(),
  ...marketEnrichment,
  token_ids: z
    .array(tokenId)
    .meta({ description: 'Only if the resolution is known; also applies to the next three.' })
    .optional(),
  outcomes: z.array(z.string()).optional(),
  payouts: z.array(z.number()).meta({ description: 'Payout numerators.' }).optional(),
  outcome_prices: z.array(z.number()).meta({ description: 'Payouts as fractions of 1.' }).optional(),
  winning_outcome_index: z
    .number()
    .int()
    .meta({ description: 'Only if exactly one outcome pays; also applies to the next two.' })
    .optional(),
  winning_outcome: text('Label.').optional(),
  winning_token_id: tokenId.optional(),
});

const { outcome: _, tick_size: __, taker_base_fee: ___, ...oracleEnrichment } = enrichment;
export const oracle = eventFrame('oracle', "A step of a question's resolution. Only the fields the step has.", {
  ...logLocation,
  oracle_type: z.enum([
    'initialization',
    'proposal',
    'dispute',
    'settled',
    'resolution',
    'condition_resolution',
    'reset',
    'flag',
    'unflag',
    'pause',
    'unpause',
    'manual_resolution',
  ]),
  question_id: text('Question, or oo_v2:<adapter>:<number> for a request of the optimistic oracle.'),
  adapter_address: hex('Adapter.'),
  creator: wallet('initialization.').optional(),
  proposer: wallet('proposal, dispute, settled.').optional(),
  disputer: wallet('dispute.').optional(),
  proposed_price: z.number().meta({ description: '1: first outcome, 0: second, 0.5: both.' }).optional(),
  expiration_timestamp: millis('proposal: end of the challenge period.').optional(),
  resolved_price: z.number().meta({ description: '1, 0 or 0.5.' }).optional(),
  resolved_outcome: text('Label, or Split.').optional(),
  payouts: z.array(z.number()).meta({ description: 'Payout numerators; not on settled.' }).optional(),
  ...oracleEnrichment,
});
