import { describe, expect, it } from 'vitest';
import {
  COMBO,
  definition,
  frames,
  leg1,
  leg2,
  lifecycle,
  minedFields,
  NO,
  plainLegs,
  TX,
  V3,
  YES,
} from './combo.fixture.js';
import { createDraftBuilder } from './draft-builder.js';
import type { Draft } from './frames/frame.js';
import { emptyEnrichment } from './frames/market.fixture.js';

describe('combo lifecycle frames', () => {
  it('contain the action and size of each lifecycle event', () => {
    const drafting = createDraftBuilder(emptyEnrichment);
    drafting.drafts(definition(COMBO, { legs: [leg1, leg2] }));
    const redeem = lifecycle({
      action: 'Redeem',
      user: '0xd1',
      condition_ids: [],
      source_position_ids: [NO],
      legs: null,
      amount: 5_000_000n,
      payout: 2_500_000n,
    });
    const drafts = drafting.drafts({ kind: 'combo_lifecycle', value: redeem });
    const [frame] = frames(drafts);
    expect(frame?.data).toEqual({
      event_type: 'combo_lifecycle',
      tx_hash: TX,
      block_number: 9,
      log_index: 5,
      timestamp: 1_780_000_004_000,
      status: 'confirmed',
      detected_at: 1_780_000_004_000,
      action: 'Redeem',
      user: '0xd1',
      combo_condition_id: COMBO,
      condition_ids: [COMBO],
      event_ids: [],
      module_id: 3,
      module_name: 'CombinatorialModule',
      yes_position_id: YES,
      no_position_id: NO,
      position_ids: [NO],
      source_position_ids: [NO],
      destination_position_ids: [],
      leg_position_ids: [leg1, leg2],
      legs: plainLegs,
      amount_e6: '5000000',
      amount_usdc: 5,
      payout_e6: '2500000',
      payout_usdc: 2.5,
      side: 'NO',
    });
    expect(drafts[0]).toMatchObject({ usd: 2_500_000n, side: 'NO', wallets: ['0xd1'], combo: { action: 'Redeem' } });
    const prepared = drafting.drafts({ kind: 'combo_lifecycle', value: lifecycle({}) });
    expect(frames(prepared)[0]?.data).toMatchObject({ action: 'Prepare', user: null, leg_position_ids: [leg1, leg2] });
    expect(prepared[0]).toMatchObject({ wallets: [] });
  });

  it('of a transfer name the recipient and are delivered to both wallets', () => {
    const transfer = lifecycle({
      action: 'Transfer',
      user: '0xd1',
      recipient: '0xd2',
      condition_ids: [],
      source_position_ids: [YES],
      destination_position_ids: [YES],
      legs: null,
      amount: 5_000_000n,
    });
    const drafts = createDraftBuilder(emptyEnrichment).drafts({ kind: 'combo_lifecycle', value: transfer });
    expect(frames(drafts)[0]?.data).toMatchObject({
      user: '0xd1',
      recipient: '0xd2',
      position_ids: [YES],
      side: 'YES',
    });
    expect(drafts[0]).toMatchObject({ wallets: ['0xd1', '0xd2'] });
  });

  it('combo_approval contains the approval', () => {
    const [draft] = createDraftBuilder(emptyEnrichment).drafts({
      kind: 'combo_approval',
      value: {
        ...minedFields,
        id: `${TX}-6`,
        log_index: 6,
        approval_type: 'collateral_allowance',
        owner: '0xd1',
        operator: V3,
        approved: true,
        amount: '12000000',
        target_role: 'ExchangeV3',
      },
    });
    expect(frames([draft as Draft])[0]?.data).toMatchObject({ owner: '0xd1', amount_e6: '12000000', approved: true });
  });
});
