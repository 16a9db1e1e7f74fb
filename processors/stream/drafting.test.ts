import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyEvent } from '../../schemas/codec.js';
import { eventFrames, type StreamKind } from '../../schemas/socket/frames.js';
import type { Block, ComboLifecycle, Settlement, StatusUpdate, Trade } from '../../schemas/types.gen.js';
import { createDrafting } from './drafting.js';
import type { Draft } from './frames/frame.js';
import { known, market, nothingKnown } from './frames/market.fixture.js';

const V3 = '0xe3333700ca9d93003f00f0f71f8515005f6c00aa';
const TX = `0x${'7a'.repeat(32)}`;
const HASH = `0x${'b1'.repeat(32)}`;
/** Ids written out from the layout: module, base hash, arity, reserved, chain, condition index; then the outcome. */
const COMBO = `0x03${'0'.repeat(30)}4d${'0000'}${'0'.repeat(16)}${'0000'}${'0000'}`;
const LEG1 = `0x01${'0'.repeat(30)}0a${'0000'}${'0'.repeat(16)}${'0000'}${'0000'}`;
const EVENT2 = `0x02${'0'.repeat(30)}0b${'0003'}${'0'.repeat(16)}${'0000'}`;
const id = (condition: string, outcome: string) => BigInt(`${condition}${outcome}`).toString();
const YES = id(COMBO, '00');
const NO = id(COMBO, '01');
const leg1 = id(LEG1, '00');
const leg2 = id(`${EVENT2}0002`, '01');
const MIGRATED = `0x${'c0'.repeat(32)}`;

const place = { block_number: 9, block_hash: HASH, timestamp_ms: 1_780_000_004_000, tx_hash: TX };
const row = {
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
const execution: Settlement = {
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
const trade = (log_index: number, over: Partial<Trade> = {}): Trade => ({
  ...place,
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
const ownFill = (log_index: number, over: Partial<Trade> = {}) =>
  trade(log_index, {
    order_hash: '0x0a',
    maker: '0xd1',
    taker: V3,
    is_taker_order: true,
    side: 'BUY',
    fee: 20_000n,
    ...over,
  });
const status: StatusUpdate = {
  id: `status-${TX}`,
  tx_hash: TX,
  block_number: 9,
  block_hash: HASH,
  confirmed_at_ms: 1_780_000_004_500,
  pending_detected_at_ms: 1_780_000_001_000,
  latency_ms: 3_500,
  taker_wallet: '0xd1',
  token_id: YES,
  maker_wallets: ['0xe1'],
  order_hashes: ['0x09', '0x0a'],
  confirmed_fills: [],
};
const block: Block = {
  id: 'block-9',
  block_number: 9,
  block_hash: HASH,
  parent_hash: '0xb0',
  timestamp_ms: 1_780_000_004_000,
  tx_count: 3,
  polymarket_tx_count: 1,
  settlement_count: 1,
  trade_volume: 0n,
};
const lifecycle = (over: Partial<ComboLifecycle>): ComboLifecycle => ({
  ...place,
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
  ...over,
});
const definition = (subject_id: string, over: { legs?: string[]; legacy_id?: string }): AnyEvent => ({
  kind: 'combo_definition',
  value: { ...place, id: 'x', log_index: 5, subject_id, legs: over.legs ?? null, legacy_id: over.legacy_id ?? null },
});

/** The drafts' frames, each held to its schema. */
function frames(drafts: readonly Draft[]) {
  return drafts.map((draft) => {
    const frame = { type: draft.frameType ?? draft.kind, seq: 1, ...draft.body };
    expect(eventFrames[draft.kind as StreamKind].safeParse(frame).error?.issues ?? []).toEqual([]);
    return frame;
  });
}

const plainLegs = [
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

describe('combos', () => {
  it('is one execution frame while pending, and nothing of the market kinds', () => {
    const drafts = createDrafting(nothingKnown).drafts({ kind: 'settlement', value: execution });
    expect(frames(drafts)).toEqual([
      {
        type: 'combo_execution',
        seq: 1,
        timestamp: 1_780_000_001_000,
        data: {
          event_type: 'combo_execution',
          tx_hash: TX,
          status: 'pending',
          detected_at: 1_780_000_001_000,
          block_number: null,
          combo_condition_id: COMBO,
          legs: plainLegs,
          taker_wallet: '0xd1',
          taker_token: YES,
          taker_side: 'BUY',
          outcome: 'YES',
          taker_price: 0.3333,
          taker_size: 30,
          amount_usdc: 10,
          order_hashes: ['0x09', '0x0a'],
          trades: [
            {
              position_id: YES,
              order_hash: '0x09',
              maker: '0xe1',
              signer: '0xe2',
              taker: '0xd1',
              side: 'SELL',
              outcome: 'YES',
              price: 0.333333,
              size: 30,
              amount_usdc: 10,
              fee: 0,
            },
            {
              position_id: YES,
              order_hash: '0x0a',
              maker: '0xd1',
              signer: '0xd2',
              taker: V3,
              side: 'BUY',
              outcome: 'YES',
              price: 0.333333,
              size: 30,
              amount_usdc: 10,
              fee: 0.02,
            },
          ],
        },
      },
    ]);
    expect(drafts[0]).toMatchObject({
      confirmed: false,
      wallets: ['0xd1', '0xe1'],
      tokens: [YES, leg1, leg2],
      conditionIds: [COMBO, LEG1, `${EVENT2}0002`],
      side: 'YES',
      usd: 10_000_000n,
      combo: {
        condition_ids: [COMBO],
        leg_position_ids: [leg1, leg2],
        module_ids: [3, 1, 2],
        action: null,
        direction: 'BUY',
      },
    });
  });

  it('names the markets legs were migrated from', () => {
    const info = { ...market, conditionId: MIGRATED };
    const drafting = createDrafting({
      ...known(undefined, { conditionId: MIGRATED }),
      negRiskGroup: () => new Map([[2, info]]),
    });
    drafting.drafts(definition(LEG1, { legacy_id: MIGRATED }));
    drafting.drafts(definition(EVENT2, { legacy_id: '0x77' }));
    const drafts = drafting.drafts({ kind: 'settlement', value: execution });
    const [frame] = frames(drafts);
    const shown = {
      title: 'Will it rain?',
      slug: 'will-it-rain',
      image: 'https://img.example/rain.png',
      event_title: 'Weather',
      event_slug: 'weather',
      outcomes: ['Yes', 'No'],
      token_ids: ['9001', '9002'],
    };
    expect(frame?.data.legs).toEqual(plainLegs.map((leg) => ({ ...leg, market: shown })));
    expect(drafts[0]).toMatchObject({
      slugs: ['will-it-rain'],
      conditionIds: [COMBO, LEG1, `${EVENT2}0002`, MIGRATED],
    });
  });

  it('is confirmed by one frame: with its pending match, or at the end of its block without', () => {
    const drafting = createDrafting(nothingKnown);
    const other = `0x${'7b'.repeat(32)}`;
    expect(drafting.drafts(definition(COMBO, { legs: [leg1, leg2] }))).toEqual([]);
    for (const value of [trade(1), ownFill(2), trade(2, { tx_hash: other }), trade(1)])
      expect(drafting.drafts({ kind: 'trade', value })).toEqual([]);
    const [confirmed] = frames(drafting.drafts({ kind: 'status_update', value: status }));
    expect(confirmed).toEqual({
      type: 'combo_status_update',
      seq: 1,
      timestamp: 1_780_000_004_500,
      data: {
        event_type: 'combo_status_update',
        tx_hash: TX,
        block_number: 9,
        confirmed_at: 1_780_000_004_500,
        execution_status: 'CONFIRMED',
        pending_detected_at: 1_780_000_001_000,
        latency_ms: 3_500,
        combo_condition_id: COMBO,
        yes_position_id: YES,
        no_position_id: NO,
        leg_position_ids: [leg1, leg2],
        legs: plainLegs,
        order_hashes: ['0x09', '0x0a'],
        confirmed_fills: [
          {
            position_id: YES,
            order_hash: '0x09',
            maker: '0xe1',
            taker: '0xd1',
            side: 'SELL',
            outcome: 'YES',
            price: 0.333333,
            size: 30,
            amount_usdc: 10,
            fee: 0,
          },
          {
            position_id: YES,
            order_hash: '0x0a',
            maker: '0xd1',
            taker: V3,
            side: 'BUY',
            outcome: 'YES',
            price: 0.333333,
            size: 30,
            amount_usdc: 10,
            fee: 0.02,
          },
        ],
        fees: 0.02,
        maker_address: '0xe1',
        taker_address: '0xd1',
        amount_usdc: 10,
      },
    });
    expect(drafting.drafts({ kind: 'status_update', value: status })).toEqual([]);
    const rest = frames(drafting.drafts({ kind: 'block', value: block }));
    expect(rest.map((frame) => frame.type)).toEqual(['combo_status_update', 'block']);
    expect(rest[0]?.data).toMatchObject({ tx_hash: other, confirmed_at: 1_780_000_004_000 });
    expect(rest[0]?.data).not.toHaveProperty('latency_ms');
  });

  it('forgets the fills of a block that is retracted half read', () => {
    const drafting = createDrafting(nothingKnown);
    drafting.drafts({ kind: 'trade', value: trade(1) });
    drafting.drafts({
      kind: 'retract',
      value: { id: 'r', from_block: 9, to_block: 9, block_hashes: [HASH], detected_at_ms: 1 },
    });
    expect(drafting.drafts({ kind: 'block', value: block }).map((draft) => draft.kind)).toEqual(['block']);
  });

  it('confirms the same wherever a restart cuts the block', () => {
    const events: AnyEvent[] = [
      definition(COMBO, { legs: [leg1, leg2] }),
      { kind: 'trade', value: trade(1) },
      { kind: 'trade', value: ownFill(2) },
      { kind: 'trade', value: trade(3, { tx_hash: `0x${'7b'.repeat(32)}` }) },
      { kind: 'status_update', value: status },
      { kind: 'block', value: block },
    ];
    const whole = createDrafting(nothingKnown);
    const expected = events.flatMap((event) => whole.drafts(event));
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(events.length), { maxLength: 4 }), (cuts) => {
        let drafting = createDrafting(nothingKnown);
        const made: Draft[] = [];
        events.forEach((event, index) => {
          if (cuts.includes(index)) {
            drafting = createDrafting(nothingKnown);
            for (const before of events.slice(0, index)) drafting.recall(before);
          }
          made.push(...drafting.drafts(event));
        });
        expect(made).toEqual(expected);
      }),
    );
  });

  it('tells the steps of a position, with its size', () => {
    const drafting = createDrafting(nothingKnown);
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

  it('tells approvals', () => {
    const [draft] = createDrafting(nothingKnown).drafts({
      kind: 'combo_approval',
      value: {
        ...place,
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

describe('a settlement of markets', () => {
  it('is followed by one flat frame per row; the exchange is the taker of the taker itself', () => {
    const settlement: Settlement = {
      ...execution,
      exchange_version: 2,
      exchange: '0xe2',
      condition_id: '0xc0',
      combo_legs: null,
      taker_token: '9002',
      detected_at_ms: 1_780_000_001_999,
      trades: [
        { ...row, token_id: '9001' },
        { ...row, token_id: '9002', maker: '0xd1', side: 'BUY', order_hash: '0x0a', usdc: 20_000_000n },
      ],
    };
    const drafts = createDrafting(known()).drafts({ kind: 'settlement', value: settlement });
    const [, first, second] = frames(drafts);
    expect(first).toEqual({
      type: 'event',
      seq: 1,
      timestamp: 1_780_000_001_999,
      data: {
        order_hash: '0x09',
        user: '0xe1',
        taker: '0xd1',
        tx_hash: TX,
        side: 'SELL',
        price: 0.333333,
        shares: 30_000_000,
        shares_normalized: 30,
        token_id: '9001',
        token_label: 'Yes',
        condition_id: '0xc0',
        market_slug: 'will-it-rain',
        title: 'Will it rain?',
        timestamp: 1_780_000_001,
        block_number: null,
        log_index: null,
      },
    });
    expect(second?.data).toMatchObject({ user: '0xd1', taker: '0xe2', token_label: 'No', price: 0.666667 });
    expect(drafts.map((draft) => draft.kind)).toEqual(['settlement', 'fill', 'fill']);
    expect(drafts[1]).toMatchObject({
      wallets: ['0xe1', '0xd1'],
      tokens: ['9001'],
      side: 'SELL',
      usd: 10_000_000n,
      confirmed: false,
    });
    expect(drafts[2]).toMatchObject({ wallets: ['0xd1'], tokens: ['9002'], side: 'BUY', usd: 20_000_000n });
    const unknown = frames(
      createDrafting(nothingKnown).drafts({ kind: 'settlement', value: { ...settlement, condition_id: null } }),
    )[1];
    expect(unknown?.data).toMatchObject({ token_label: null, condition_id: null, market_slug: null, title: null });
    expect(Object.keys(unknown?.data ?? {})).toHaveLength(16);
  });
});
