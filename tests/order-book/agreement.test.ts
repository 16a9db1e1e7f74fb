import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createBookStates } from '../../processors/order-books/book-state.js';
import type { OrderBookUpdate } from '../../schemas/types.gen.js';
import { bookRecord } from '../../stream-gateway/order-book/testing.js';
import { createTokenBook } from '../../stream-gateway/order-book/token-book.js';

const TOKEN = '111111111111';
const level = fc.record({
  price: fc.constantFrom('0.1', '0.2', '.30', '0.3', '0.4'),
  size: fc.constantFrom('0', '1', '2', '2.0'),
});
const levels = fc.array(level, { maxLength: 3 });
const step = fc.record({
  type: fc.constantFrom<OrderBookUpdate['update_type']>(
    'book',
    'price_change',
    'price_change',
    'status',
    'last_trade_price',
    'tick_size_change',
  ),
  how: fc.constantFrom('next', 'next', 'next', 'next', 'lost', 'restart'),
  verified: fc.boolean(),
  reason: fc.constantFrom('repeated', 'hash_mismatch', null),
  bids: levels,
  asks: levels,
});

it('the table and the socket have the same book, trust and reason of a token after any records', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const states = createBookStates();
      const book = createTokenBook(TOKEN);
      let [epoch, seq, nowMs] = [1, 0, 1_790_000_000_000];
      for (const [offset, { type, how, verified, reason, bids, asks }] of steps.entries()) {
        if (how === 'restart') [epoch, seq] = [epoch + 1, 0];
        seq += how === 'lost' ? 2 : 1;
        nowMs += 10;
        const hasLevels = type === 'book' || type === 'price_change';
        const record = bookRecord(TOKEN, seq, {
          update_type: type,
          epoch: `e${epoch}`,
          ...(hasLevels ? { bids, asks } : {}),
          verified,
          reason: verified ? reason : 'silent',
          verified_since_ms: nowMs,
          received_ms: nowMs,
          price: '0.3',
          size: '1',
          side: 'BUY',
        });
        states.apply(record, { partition: 0, offset });
        book.apply(record, nowMs);
        const state = states.get(TOKEN);
        if (state === undefined) {
          expect(book.hasBook).toBe(false);
          continue;
        }
        const { status } = book;
        expect([state.book.bids(), state.book.asks()]).toEqual([book.bids(), book.asks()]);
        expect(state.verified).toBe(status.verified);
        // Of several faults each may name another one.
        if (!state.verified) expect(state.reason).not.toBe('');
        if (!state.verified && record.reason === status.reason) expect(state.reason).toBe(status.reason);
        if (state.verified) expect(['', 'hash_mismatch']).toContain(state.reason);
      }
    }),
    { numRuns: 2_000 },
  );
});
