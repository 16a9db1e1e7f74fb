import { describe, expect, it } from 'vitest';
import type { Settlement } from '../../schemas/types.gen.js';
import { execution, frames, row, TX } from './combo.fixture.js';
import { createDraftBuilder } from './draft-builder.js';
import { emptyEnrichment, enrichmentWith } from './frames/market.fixture.js';

describe('a settlement of markets', () => {
  it('is followed by one flat frame per row; the row of the taker order has the exchange as taker', () => {
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
    const drafts = createDraftBuilder(enrichmentWith()).drafts({ kind: 'settlement', value: settlement });
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
      createDraftBuilder(emptyEnrichment).drafts({ kind: 'settlement', value: { ...settlement, condition_id: null } }),
    )[1];
    expect(unknown?.data).toMatchObject({ token_label: null, condition_id: null, market_slug: null, title: null });
    expect(Object.keys(unknown?.data ?? {})).toHaveLength(16);
  });
});
