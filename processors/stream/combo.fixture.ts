import { expect } from 'vitest';
import type { AnyEvent } from '../../schemas/codec.js';
import { eventFrames, type StreamKind } from '../../schemas/socket/frames.js';
import type { Block, ComboLifecycle, Settlement, StatusUpdate, Trade } from '../../schemas/types.gen.js';
import type { Draft } from './frames/frame.js';

export const V3 = '0xe3333700ca9d93003f00f0f71f8515005f6c00aa';
export const TX = `0x${'7a'.repeat(32)}`;
export const HASH = `0x${'b1'.repeat(32)}`;
/** Ids composed by their layout: module, base hash, arity, reserved, chain, condition index; then the outcome. */
export const COMBO = `0x03${'0'.repeat(30)}4d${'0000'}${'0'.repeat(16)}${'0000'}${'0000'}`;
export const LEG1 = `0x01${'0'.repeat(30)}0a${'0000'}${'0'.repeat(16)}${'0000'}${'0000'}`;
export const EVENT2 = `0x02${'0'.repeat(30)}0b${'0003'}${'0'.repeat(16)}${'0000'}`;
const id = (condition: string, outcome: string) => BigInt(`${condition}${outcome}`).toString();
export const YES = id(COMBO, '00');
export const NO = id(COMBO, '01');
export const leg1 = id(LEG1, '00');
export const leg2 = id(`${EVENT2}0002`, '01');
export const MIGRATED = `0x${'c0'.repeat(32)}`;

export const minedFields = { block_number: 9, block_hash: HASH, timestamp_ms: 1_780_000_004_000, tx_hash: TX };
export const row = {
  order_hash: '0x09',
  maker: '0xe1',
  signer: '0xe2',
  taker: '0xd1',
  token_id: YES,
  side: 'SELL' as const,
  usdc: 10_000_000n,
  shares: 30_000_000n,
  maker_amount: 30_000_000n,
  taker_amount: 10_000_000n,
  fee: 0n,
};
export const execution: Settlement = {
  id: `settlement-${TX}`,
  tx_hash: TX,
  detected_at_ms: 1_780_000_001_000,
  exchange: V3,
  exchange_version: 3,
  neg_risk: false,
  condition_id: COMBO,
  combo_legs: [leg1, leg2],
  taker_wallet: '0xd1',
  taker_token: YES,
  taker_side: 'BUY',
  taker_usdc: 10_000_000n,
  taker_shares: 30_000_000n,
  taker_fee: 20_000n,
  trades: [
    row,
    {
      ...row,
      order_hash: '0x0a',
      maker: '0xd1',
      signer: '0xd2',
      side: 'BUY',
      maker_amount: 10_000_000n,
      taker_amount: 30_000_000n,
      fee: 20_000n,
    },
  ],
};
export const trade = (log_index: number, over: Partial<Trade> = {}): Trade => ({
  ...minedFields,
  id: `${over.tx_hash ?? TX}-${log_index}`,
  log_index,
  exchange: V3,
  exchange_version: 3,
  neg_risk: false,
  order_hash: '0x09',
  maker: '0xe1',
  taker: '0xd1',
  is_taker_order: false,
  side: 'SELL',
  token_id: YES,
  usdc: 10_000_000n,
  shares: 30_000_000n,
  maker_asset_id: YES,
  taker_asset_id: '0',
  maker_amount: 30_000_000n,
  taker_amount: 10_000_000n,
  fee: 0n,
  fee_shares: 0n,
  builder: null,
  ...over,
});
export const ownFill = (log_index: number, over: Partial<Trade> = {}) =>
  trade(log_index, {
    order_hash: '0x0a',
    maker: '0xd1',
    taker: V3,
    is_taker_order: true,
    side: 'BUY',
    fee: 20_000n,
    ...over,
  });
export const status: StatusUpdate = {
  id: `status-${TX}`,
  tx_hash: TX,
  block_number: 9,
  block_hash: HASH,
  confirmed_at_ms: 1_780_000_004_500,
  pending_detected_at_ms: 1_780_000_001_000,
  latency_ms: 3_500,
  taker_wallet: '0xd1',
  token_id: YES,
  taker_usdc: null,
  maker_wallets: ['0xe1'],
  order_hashes: ['0x09', '0x0a'],
  confirmed_fills: [],
};
export const block: Block = {
  id: 'block-9',
  block_number: 9,
  block_hash: HASH,
  parent_hash: '0xb0',
  timestamp_ms: 1_780_000_004_000,
  tx_count: 3,
  polymarket_tx_count: 1,
  settlement_count: 1,
  trade_volume: 0n,
  contracts: null,
};
export const lifecycle = (over: Partial<ComboLifecycle>): ComboLifecycle => ({
  ...minedFields,
  id: `${TX}-5-combo`,
  log_index: 5,
  action: 'Prepare',
  user: null,
  condition_ids: [COMBO],
  event_ids: [],
  source_position_ids: [],
  destination_position_ids: [],
  legs: [leg1, leg2],
  amount: null,
  payout: null,
  recipient: null,
  ...over,
});
export const definition = (subject_id: string, over: { legs?: string[]; legacy_id?: string }): AnyEvent => ({
  kind: 'combo_definition',
  value: {
    ...minedFields,
    id: 'x',
    log_index: 5,
    subject_id,
    legs: over.legs ?? null,
    legacy_id: over.legacy_id ?? null,
  },
});

/** The drafts' frames, each validated by its schema. */
export function frames(drafts: readonly Draft[]) {
  return drafts.map((draft) => {
    const frame = { type: draft.frameType ?? draft.kind, seq: 1, ...draft.body };
    expect(eventFrames[draft.kind as StreamKind].safeParse(frame).error?.issues ?? []).toEqual([]);
    return frame;
  });
}

export const plainLegs = [
  {
    position_id: leg1,
    module_id: 1,
    module_name: 'BinaryModule',
    condition_id: LEG1,
    event_id: LEG1.slice(0, 60),
    arity: 0,
    condition_index: 0,
    outcome_index: 0,
    leg_outcome_label: 'Yes',
  },
  {
    position_id: leg2,
    module_id: 2,
    module_name: 'NegRiskModule',
    condition_id: `${EVENT2}0002`,
    event_id: EVENT2,
    arity: 3,
    condition_index: 2,
    outcome_index: 1,
    leg_outcome_label: 'No',
  },
];
