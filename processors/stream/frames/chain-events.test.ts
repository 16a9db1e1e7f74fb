import { describe, expect, it } from 'vitest';
import type { Oracle, PriceTick, Redemption } from '../../../schemas/types.gen.js';
import { blockDraft } from './block.js';
import { depositDraft } from './deposit.js';
import { emptyEnrichment, enriched, enrichmentWith, market, minedFields, minedFrameFields } from './market.fixture.js';
import { oracleDraft } from './oracle.js';
import { positionChangeDraft, positionsConvertedDraft, splitOrMergeDraft } from './positions.js';
import { priceFeedDraft } from './price-feed.js';
import { redemptionDraft } from './redemption.js';

const marketOnly = {
  market_title: 'Will it rain?',
  market_slug: 'will-it-rain',
  market_image: 'https://img.example/rain.png',
  event_title: 'Weather',
  tokens: { 9001: 'Yes', 9002: 'No' },
  neg_risk: false,
  tick_size: 0.01,
  taker_base_fee: null,
};

const redemption: Redemption = {
  ...minedFields,
  redeemer: '0xd1',
  collateral_token: '0x2791',
  condition_id: '0xc0',
  index_sets: [1, 2],
  amounts: null,
  payout: 12_500_000n,
  source: null,
};
const plainRedemption = {
  event_type: 'redemption',
  ...minedFrameFields,
  redeemer: '0xd1',
  collateral_token: '0x2791',
  condition_id: '0xc0',
  index_sets: [1, 2],
  payout: 12.5,
  payout_e6: '12500000',
};

describe('redemption', () => {
  it('names the winner when exactly one outcome pays', () => {
    const draft = redemptionDraft(
      { ...redemption, source: 'AutoRedeemer.BinaryRedemption' },
      enrichmentWith(['0', '1']),
    );
    expect(draft.body.data).toEqual({
      ...plainRedemption,
      source: 'AutoRedeemer.BinaryRedemption',
      ...marketOnly,
      token_ids: ['9001', '9002'],
      outcomes: ['Yes', 'No'],
      payouts: [0, 1],
      outcome_prices: [0, 1],
      winning_outcome_index: 1,
      winning_outcome: 'No',
      winning_token_id: '9002',
    });
    expect(draft).toMatchObject({ wallets: ['0xd1'], tokens: ['9001', '9002'], usd: 12_500_000n });
  });

  it('has fractional prices and no winner when several outcomes pay', () => {
    const { data } = redemptionDraft(redemption, enrichmentWith(['1', '3'])).body;
    expect(data).toMatchObject({ payouts: [1, 3], outcome_prices: [0.25, 0.75] });
    expect(Object.keys(data).filter((field) => field.startsWith('winning'))).toEqual([]);
  });

  it('has no resolution fields unless the market and all payouts are known', () => {
    for (const enrichment of [enrichmentWith(undefined), enrichmentWith(['1', '0', '0']), enrichmentWith(['0', '0'])])
      expect(redemptionDraft(redemption, enrichment).body.data).toEqual({ ...plainRedemption, ...marketOnly });
    expect(redemptionDraft(redemption, emptyEnrichment).body.data).toEqual(plainRedemption);
    expect(redemptionDraft(redemption, { ...emptyEnrichment, payouts: () => ['0', '1'] }).body.data).toEqual(
      plainRedemption,
    );
  });
});

const oracle: Oracle = {
  ...minedFields,
  oracle_type: 'proposal',
  question_id: '0x51',
  adapter_address: '0x65aa',
  condition_id: null,
  creator: null,
  proposer: '0xa9',
  disputer: null,
  proposed_price: '1',
  expiration_timestamp_ms: 1_780_007_300_000,
  resolved_price: null,
  payouts: null,
};

describe('oracle', () => {
  it('finds the market by its question', () => {
    const draft = oracleDraft(oracle, enrichmentWith());
    expect(draft.body.data).toEqual({
      event_type: 'oracle',
      ...minedFrameFields,
      oracle_type: 'proposal',
      question_id: '0x51',
      adapter_address: '0x65aa',
      proposer: '0xa9',
      proposed_price: 1,
      expiration_timestamp: 1_780_007_300_000,
      condition_id: '0xc0',
      market_title: 'Will it rain?',
      market_slug: 'will-it-rain',
      market_image: 'https://img.example/rain.png',
      event_title: 'Weather',
      outcomes: ['Yes', 'No'],
      token_ids: ['9001', '9002'],
      tokens: { 9001: 'Yes', 9002: 'No' },
      neg_risk: false,
    });
    expect(draft.conditionIds).toEqual(['0xc0']);
  });

  it('names the resolved outcome', () => {
    const resolved = (payouts: string[] | null, price: string | null) =>
      oracleDraft({ ...oracle, oracle_type: 'resolution', payouts, resolved_price: price }, enrichmentWith()).body.data
        .resolved_outcome;
    expect(resolved(['1', '0'], '1')).toBe('Yes');
    expect(resolved(['0', '1'], '0')).toBe('No');
    expect(resolved(['1', '1'], '0.5')).toBe('Split');
    expect(resolved(null, '0.5')).toBe('Split');
    expect(resolved(null, '0')).toBe('No');
    expect(resolved(['1', '3'], null)).toBeUndefined();
  });
});

describe('positions', () => {
  it('split and merge have the market fields without single outcomes', () => {
    const event = {
      ...minedFields,
      stakeholder: '0xd1',
      collateral_token: '0x2791',
      condition_id: '0xc0',
      amount: 40_000_000n,
    };
    for (const kind of ['position_split', 'position_merge'] as const) {
      const draft = splitOrMergeDraft(kind, event, enrichmentWith());
      expect(draft.body.data).toEqual({
        event_type: kind,
        ...minedFrameFields,
        stakeholder: '0xd1',
        collateral_token: '0x2791',
        condition_id: '0xc0',
        amount: 40,
        ...marketOnly,
      });
      expect(draft).toMatchObject({ kind, wallets: ['0xd1'], tokens: ['9001', '9002'] });
      expect(draft.usd).toBeUndefined();
    }
  });

  it('transfers match filters on sender and recipient', () => {
    const event = {
      ...minedFields,
      operator: '0x0p',
      from: '0xd1',
      to: '0xf1',
      token_id: '9002',
      amount: 3_250_000n,
      transfer_type: 'single' as const,
      batch_index: 0,
    };
    const draft = positionChangeDraft(event, enrichmentWith());
    expect(draft.body.data).toEqual({
      event_type: 'position_change',
      ...minedFrameFields,
      from: '0xd1',
      to: '0xf1',
      token_id: '9002',
      amount: 3.25,
      transfer_type: 'single',
      ...enriched,
    });
    expect(draft.wallets).toEqual(['0xd1', '0xf1']);
  });

  it('conversions name all outcomes whose NO was converted, or none if one is unknown', () => {
    const event = {
      ...minedFields,
      stakeholder: '0xd1',
      market_id: '0x7700',
      index_set: '0x05',
      amount: 10_000_000n,
      question_count: 3,
      fee: null,
    };
    const group = new Map([
      [0, { ...market, groupItemTitle: 'Reds', conditionId: '0xc0', tokenIds: ['1', '2'] }],
      [2, { ...market, groupItemTitle: 'Blues', conditionId: '0xc2', tokenIds: ['5', '6'] }],
    ]);
    const withGroup = { ...emptyEnrichment, negRiskGroup: () => group };
    const draft = positionsConvertedDraft(event, withGroup);
    expect(draft.body.data).toMatchObject({
      market_id: '0x7700',
      index_set: '0x05',
      amount: 10,
      converted_outcomes: ['Reds', 'Blues'],
      event_title: 'Weather',
      neg_risk: true,
    });
    expect(draft).toMatchObject({ conditionIds: ['0xc0', '0xc2'], tokens: ['1', '2', '5', '6'] });
    const partly = positionsConvertedDraft({ ...event, index_set: '0x07' }, withGroup).body.data;
    expect(partly).not.toHaveProperty('converted_outcomes');
    expect(partly).toMatchObject({ event_title: 'Weather' });
  });
});

describe('other kinds', () => {
  it('deposit', () => {
    const event = {
      ...minedFields,
      from: '0xd1',
      to: '0xe1',
      asset: '0x2791',
      amount: 120_500_000n,
      direction: 'deposit' as const,
    };
    const draft = depositDraft(event);
    expect(draft.body.data).toEqual({
      event_type: 'deposit',
      ...minedFrameFields,
      from: '0xd1',
      to: '0xe1',
      amount: 120.5,
      direction: 'deposit',
    });
    expect(draft.usd).toBeUndefined();
  });

  it('block', () => {
    const draft = blockDraft({
      id: 'block-7',
      block_number: 7,
      block_hash: minedFields.block_hash,
      parent_hash: '0xb0',
      timestamp_ms: 1_780_000_004_000,
      tx_count: 211,
      polymarket_tx_count: 42,
      settlement_count: 37,
      trade_volume: 10_250_750_000n,
      contracts: null,
    });
    expect(draft.body).toEqual({
      timestamp: 1_780_000_004_000,
      data: {
        event_type: 'block',
        block_number: 7,
        block_hash: minedFields.block_hash,
        timestamp: 1_780_000_004_000,
        parent_hash: '0xb0',
        tx_count: 211,
        polymarket_tx_count: 42,
        settlement_count: 37,
        trade_volume_usd: 10_250.75,
      },
    });
    expect(draft.wallets).toBeUndefined();
  });

  it('a block record without a transaction count uses the count of transactions with events', () => {
    const draft = blockDraft({
      id: 'block-8',
      block_number: 8,
      block_hash: minedFields.block_hash,
      parent_hash: '0xb0',
      timestamp_ms: 1_780_000_006_000,
      tx_count: null,
      polymarket_tx_count: 5,
      settlement_count: 2,
      trade_volume: 1_000_000n,
      contracts: null,
    });
    expect(draft.body).toMatchObject({ data: { tx_count: 5, polymarket_tx_count: 5 } });
  });

  it('price_feed has seconds in timestamp, and bid = ask = price without an order book', () => {
    const tick: PriceTick = {
      id: 'ETH/USD-1780000001000-0',
      feed: 'ETH/USD',
      source: 'test',
      timestamp_ms: 1_780_000_001_000,
      price: 4_100_250_000_000_000_000_000n,
      bid: 4_100_100_000_000_000_000_000n,
      ask: null,
      is_twap: false,
      twap_window_s: null,
      received_at_ms: 1_780_000_001_400,
    };
    const draft = priceFeedDraft(tick);
    expect(draft).toMatchObject({
      kind: 'price_feed',
      timestampMs: 1_780_000_001_000,
      feed: 'ETH/USD',
      twapWindowS: null,
    });
    expect(draft.body).toEqual({
      id: 'ETH/USD-1780000001000-0',
      feed: 'ETH/USD',
      timestamp: 1_780_000_001,
      timestamp_ms: 1_780_000_001_000,
      is_twap: false,
      twap_window_seconds: null,
      data: {
        feed: 'ETH/USD',
        price: 4100.25,
        bid: 4100.1,
        ask: 4100.25,
        timestamp: 1_780_000_001,
        is_twap: false,
        twap_window_seconds: null,
      },
    });
  });
});
