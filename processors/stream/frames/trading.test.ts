import { describe, expect, it } from 'vitest';
import type { Settlement, StatusUpdate, Trade } from '../../../schemas/types.gen.js';
import { emptyEnrichment, enriched, enrichmentWith, minedFields, minedFrameFields } from './market.fixture.js';
import { settlementDraft } from './settlement.js';
import { statusUpdateDraft } from './status-update.js';
import { tradeDraft } from './trade.js';

const EXCHANGE = '0xe111180000d2663c0091e4f400237545b87b996b';

const settlement: Settlement = {
  id: 'settlement-0xaa01',
  tx_hash: '0xaa01',
  detected_at_ms: 1_780_000_001_500,
  exchange: EXCHANGE,
  exchange_version: 2,
  neg_risk: false,
  condition_id: '0xc0',
  combo_legs: null,
  taker_wallet: '0xd1',
  taker_token: '9002',
  taker_side: 'BUY',
  taker_usdc: 30_000_000n,
  taker_shares: 50_000_000n,
  taker_fee: 0n,
  trades: [
    {
      order_hash: '0x0101',
      maker: '0xe1',
      signer: '0xe2',
      taker: '0xd1',
      token_id: '9001',
      side: 'BUY',
      usdc: 20_000_000n,
      shares: 50_000_000n,
      maker_amount: 20_000_000n,
      taker_amount: 50_000_000n,
      fee: 0n,
    },
    {
      order_hash: '0x0102',
      maker: '0xd1',
      signer: '0xd2',
      taker: '0xd1',
      token_id: '9002',
      side: 'BUY',
      usdc: 30_000_000n,
      shares: 50_000_000n,
      maker_amount: 30_000_000n,
      taker_amount: 50_000_000n,
      fee: 0n,
    },
  ],
};

describe('settlement', () => {
  it('is the pending frame with both legs and the complete enrichment', () => {
    const draft = settlementDraft(settlement, enrichmentWith());
    expect(draft.body).toEqual({
      timestamp: 1_780_000_001_500,
      data: {
        event_type: 'settlement',
        tx_hash: '0xaa01',
        status: 'pending',
        detected_at: 1_780_000_001_500,
        block_number: null,
        taker_wallet: '0xd1',
        taker_token: '9002',
        taker_side: 'BUY',
        taker_price: 0.6,
        taker_size: 50,
        ...enriched,
        event_slug: 'weather',
        trades: [
          {
            maker: '0xe1',
            signer: '0xe2',
            taker: '0xd1',
            token_id: '9001',
            side: 'BUY',
            price: 0.4,
            size: 50,
            maker_amount: '20000000',
            taker_amount: '50000000',
            outcome: 'Yes',
            order_hash: '0x0101',
            exchange_version: 'v2',
          },
          {
            maker: '0xd1',
            signer: '0xd2',
            taker: '0xd1',
            token_id: '9002',
            side: 'BUY',
            price: 0.6,
            size: 50,
            maker_amount: '30000000',
            taker_amount: '50000000',
            outcome: 'No',
            order_hash: '0x0102',
            exchange_version: 'v2',
          },
        ],
      },
    });
  });

  it('matches filters by wallet, token, market, side, size and pending status', () => {
    expect(settlementDraft(settlement, enrichmentWith())).toMatchObject({
      confirmed: false,
      wallets: ['0xd1', '0xe1'],
      tokens: ['9002', '9001'],
      conditionIds: ['0xc0'],
      slugs: ['will-it-rain', 'weather'],
      side: 'BUY',
      usd: 30_000_000n,
    });
  });

  it('omits unknown fields, and the version of the first exchange', () => {
    const draft = settlementDraft({ ...settlement, exchange_version: 1, condition_id: null }, emptyEnrichment);
    expect(Object.keys(draft.body.data)).toEqual([
      'event_type',
      'tx_hash',
      'status',
      'detected_at',
      'block_number',
      'taker_wallet',
      'taker_token',
      'taker_side',
      'taker_price',
      'taker_size',
      'neg_risk',
      'trades',
    ]);
    const [first] = draft.body.data.trades as Record<string, unknown>[];
    expect(first).not.toHaveProperty('exchange_version');
    expect(first).not.toHaveProperty('outcome');
    expect(draft.conditionIds).toEqual([]);
  });
});

describe('token filters of events', () => {
  it('match the tokens of the event, not the other outcome in the frame', () => {
    const both = ['9001', '9002'];
    const oneSided = { ...settlement, trades: settlement.trades.filter((trade) => trade.token_id === '9002') };
    for (const [draft, tokens] of [
      [settlementDraft(settlement, enrichmentWith()), ['9002', '9001']],
      [settlementDraft(oneSided, enrichmentWith()), ['9002']],
      [tradeDraft(trade, enrichmentWith()), ['9002']],
      [statusUpdateDraft(update, enrichmentWith()), ['9002']],
    ] as const) {
      expect(draft.tokens, draft.kind).toEqual(tokens);
      expect(draft.body.data.token_ids).toEqual(both);
    }
  });
});

const fill = {
  order_hash: '0x0101',
  maker: '0xe1',
  taker: '0xd1',
  token_id: '9002',
  side: 'SELL' as const,
  usdc: 1_000_000n,
  shares: 3_000_000n,
  maker_amount: 3_000_000n,
  taker_amount: 1_000_000n,
  fee: 12_345n,
};
const update: StatusUpdate = {
  id: 'status-0xaa01',
  tx_hash: '0xaa01',
  block_number: 91_000_001,
  block_hash: minedFields.block_hash,
  confirmed_at_ms: 1_780_000_004_000,
  pending_detected_at_ms: 1_780_000_001_500,
  latency_ms: 2_500,
  taker_wallet: '0xd1',
  token_id: '9002',
  taker_usdc: null,
  maker_wallets: ['0xe1'],
  order_hashes: ['0x0101', '0x0102'],
  confirmed_fills: [fill, { ...fill, maker: '0xd1', taker: EXCHANGE, side: 'BUY', order_hash: '0x0102' }],
};

describe('status_update', () => {
  it('has the latency and the fills, prices rounded half up to 6 decimals', () => {
    const draft = statusUpdateDraft(update, enrichmentWith());
    const { event_slug, ...block } = { ...enriched, event_slug: undefined };
    expect(event_slug).toBeUndefined();
    const row = {
      order_hash: '0x0101',
      maker: '0xe1',
      taker: '0xd1',
      token_id: '9002',
      side: 'SELL',
      price: 0.333333,
      size: 3,
      maker_amount: '3000000',
      taker_amount: '1000000',
      fee: 0.012345,
    };
    expect(draft.body).toEqual({
      timestamp: 1_780_000_004_000,
      data: {
        event_type: 'status_update',
        tx_hash: '0xaa01',
        token_id: '9002',
        block_number: 91_000_001,
        confirmed_at: 1_780_000_004_000,
        pending_detected_at: 1_780_000_001_500,
        latency_ms: 2_500,
        taker_wallet: '0xd1',
        maker_wallets: ['0xe1'],
        order_hashes: ['0x0101', '0x0102'],
        confirmed_fills: [row, { ...row, maker: '0xd1', taker: EXCHANGE, side: 'BUY', order_hash: '0x0102' }],
        ...block,
      },
    });
    expect(draft).toMatchObject({ confirmed: true, wallets: ['0xd1', '0xe1'], usd: 1_000_000n });
    expect(draft.side).toBe('BUY');
  });

  it('has the size of its settlement, without what the taker was paid back', () => {
    expect(statusUpdateDraft({ ...update, taker_usdc: 900_000n }, enrichmentWith()).usd).toBe(900_000n);
    expect(statusUpdateDraft({ ...update, taker_usdc: 900_000n, confirmed_fills: [fill] }, enrichmentWith()).usd).toBe(
      900_000n,
    );
  });

  it("has no size when the taker's fill is not among the confirmed ones", () => {
    expect(statusUpdateDraft({ ...update, confirmed_fills: [fill] }, enrichmentWith()).usd).toBeUndefined();
  });
});

const trade: Trade = {
  ...minedFields,
  exchange: EXCHANGE,
  exchange_version: 2,
  neg_risk: false,
  order_hash: '0x0101',
  maker: '0xe1',
  taker: '0xd1',
  is_taker_order: false,
  side: 'BUY',
  token_id: '9002',
  usdc: 20_000_000n,
  shares: 30_000_000n,
  maker_asset_id: '0',
  taker_asset_id: '9002',
  maker_amount: 20_000_000n,
  taker_amount: 30_000_000n,
  fee: 50_000n,
  fee_shares: 0n,
  builder: null,
};

describe('trade', () => {
  it('is one OrderFilled log', () => {
    const draft = tradeDraft(trade, enrichmentWith());
    expect(draft.body).toEqual({
      timestamp: 1_780_000_004_000,
      data: {
        event_type: 'trade',
        ...minedFrameFields,
        exchange: 'ctf_exchange',
        maker: '0xe1',
        taker: '0xd1',
        token_id: '9002',
        side: 'BUY',
        price: 0.666667,
        size: 30,
        maker_amount: '20000000',
        taker_amount: '30000000',
        fee: 0.05,
        order_hash: '0x0101',
        exchange_version: 'v2',
        ...enriched,
        event_slug: 'weather',
      },
    });
    expect(draft).toMatchObject({ wallets: ['0xe1', '0xd1'], usd: 20_000_000n, side: 'BUY', blockNumber: 91_000_001 });
  });

  it('does not list the exchange as a wallet, and has price 0 for a fill of zero shares', () => {
    const takerTrade = { ...trade, is_taker_order: true, taker: EXCHANGE, neg_risk: true, shares: 0n };
    const draft = tradeDraft(takerTrade, emptyEnrichment);
    expect(draft.wallets).toEqual(['0xe1']);
    expect(draft.body.data).toMatchObject({
      taker: EXCHANGE,
      exchange: 'neg_risk_ctf_exchange',
      price: 0,
      neg_risk: true,
    });
  });

  it('has another id in another block', () => {
    const elsewhere = { ...trade, block_hash: `0x${'b2'.repeat(32)}` };
    expect(tradeDraft(elsewhere, emptyEnrichment).id).not.toBe(tradeDraft(trade, emptyEnrichment).id);
  });
});
