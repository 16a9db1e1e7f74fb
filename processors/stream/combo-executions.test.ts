import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AnyEvent } from '../../schemas/codec.js';
import {
  block,
  COMBO,
  definition,
  EVENT2,
  execution,
  frames,
  HASH,
  LEG1,
  leg1,
  leg2,
  MIGRATED,
  NO,
  ownFill,
  plainLegs,
  status,
  TX,
  trade,
  V3,
  YES,
} from './combo.fixture.js';
import { createDraftBuilder } from './draft-builder.js';
import type { Draft } from './frames/frame.js';
import { emptyEnrichment, enrichmentWith, market } from './frames/market.fixture.js';

describe('combo execution frames', () => {
  it('a pending combo settlement becomes one combo_execution frame and no settlement or fill frames', () => {
    const drafts = createDraftBuilder(emptyEnrichment).drafts({ kind: 'settlement', value: execution });
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

  it('have the legacy markets of migrated legs', () => {
    const info = { ...market, conditionId: MIGRATED };
    const drafting = createDraftBuilder({
      ...enrichmentWith(undefined, { conditionId: MIGRATED }),
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
      slugs: ['will-it-rain', 'weather'],
      conditionIds: [COMBO, LEG1, `${EVENT2}0002`, MIGRATED],
    });
  });

  it('a transaction becomes one combo_status_update, with its pending match or at the end of its block', () => {
    const drafting = createDraftBuilder(emptyEnrichment);
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

  it('a retraction discards the buffered fills of an incomplete block', () => {
    const drafting = createDraftBuilder(emptyEnrichment);
    drafting.drafts({ kind: 'trade', value: trade(1) });
    drafting.drafts({
      kind: 'retract',
      value: { id: 'r', from_block: 9, to_block: 9, block_hashes: [HASH], detected_at_ms: 1 },
    });
    expect(drafting.drafts({ kind: 'block', value: block }).map((draft) => draft.kind)).toEqual(['block']);
  });

  it('a restart at any record of a block creates the same frames', () => {
    const events: AnyEvent[] = [
      definition(COMBO, { legs: [leg1, leg2] }),
      { kind: 'trade', value: trade(1) },
      { kind: 'trade', value: ownFill(2) },
      { kind: 'trade', value: trade(3, { tx_hash: `0x${'7b'.repeat(32)}` }) },
      { kind: 'status_update', value: status },
      { kind: 'block', value: block },
    ];
    const whole = createDraftBuilder(emptyEnrichment);
    const expected = events.flatMap((event) => whole.drafts(event));
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(events.length), { maxLength: 4 }), (cuts) => {
        let drafting = createDraftBuilder(emptyEnrichment);
        const created: Draft[] = [];
        events.forEach((event, index) => {
          if (cuts.includes(index)) {
            drafting = createDraftBuilder(emptyEnrichment);
            for (const before of events.slice(0, index)) drafting.restore(before);
          }
          created.push(...drafting.drafts(event));
        });
        expect(created).toEqual(expected);
      }),
    );
  });
});
