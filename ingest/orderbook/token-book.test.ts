import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BookSide, createOrderBook } from '../../schemas/order-book/book.js';
import { createMarketFacts, recordTradePrice } from './market-facts.js';
import { createVenueBook, type VenueBook } from './testing/venue-book.js';
import {
  type BookMessage,
  type BookOutput,
  createTokenBook,
  type TokenBook,
  type UnverifiedReason,
} from './token-book.js';

const market = '0xaa';
const assetId = '1';
const START = 1_790_000_000_000;

function setUp() {
  const facts = createMarketFacts(market, {});
  const outputs: BookOutput[] = [];
  const requests: UnverifiedReason[] = [];
  const token = createTokenBook({
    assetId,
    facts,
    emit: (output) => outputs.push(output),
    requestBook: (reason) => requests.push(reason),
  });
  return { facts, outputs, requests, token, venue: createVenueBook({ market, assetId }) };
}

/** What a subscriber that applies the outputs has. */
function replay(outputs: readonly BookOutput[]) {
  const book = createOrderBook();
  for (const output of outputs) {
    if (output.type === 'book') book.replace(output.bids, output.asks);
    if (output.type === 'change')
      for (const { side, price, size } of output.changes) book.set(side, price, size ?? '0');
  }
  return { bids: book.bids(), asks: book.asks() };
}

describe('createTokenBook', () => {
  it('verifies the messages of a match at their end, when the price of its trade has arrived', () => {
    const { facts, outputs, requests, token, venue } = setUp();
    venue.change(START, 'BUY', 300, '10');
    venue.change(START, 'SELL', 310, '20');
    token.receive(venue.book(START), START);
    expect(outputs.at(-1)).toMatchObject({ type: 'book', verified: true });
    const match = venue.match(START + 10, 'BUY');
    for (const message of match?.messages ?? []) token.receive(message, START + 10);
    token.tick(START + 70);
    expect(outputs).toHaveLength(1);
    // A change of after the match waits behind it.
    token.receive(venue.change(START + 80, 'SELL', 320, '5'), START + 80);
    expect(outputs).toHaveLength(1);
    recordTradePrice(facts, match?.price ?? '');
    token.tradePriceChanged(START + 98);
    expect(outputs.at(-1)).toMatchObject({ type: 'change', verified: true, reason: null });
    token.tick(START + 200);
    expect(outputs).toHaveLength(3);
    expect(outputs.every(({ verified }) => verified)).toBe(true);
    expect(replay(outputs)).toEqual(venue.bestFirst());
    expect(requests).toEqual([]);
  });

  it('verifies a group by the price of its trade when later trades came before its end', () => {
    const { facts, outputs, requests, token, venue } = setUp();
    venue.change(START, 'BUY', 300, '10');
    venue.change(START, 'SELL', 310, '20');
    token.receive(venue.book(START), START);
    const match = venue.match(START + 10, 'BUY');
    for (const message of match?.messages ?? []) token.receive(message, START + 10);
    // Trades of the complementary token, within the 50 ms of silence that end the group.
    for (const price of [match?.price ?? '', '0.4', '0.41', '0.42', '0.43']) recordTradePrice(facts, price);
    token.tick(START + 70);
    expect(outputs.at(-1)).toMatchObject({ type: 'change', verified: true });
    expect(requests).toEqual([]);
  });

  it('declares a book unverified after a lost message, asks for a fresh one once, and verifies that', () => {
    const { outputs, requests, token, venue } = setUp();
    venue.change(START, 'BUY', 300, '10');
    token.receive(venue.book(START), START);
    venue.change(START + 1, 'BUY', 290, '4');
    token.receive(venue.change(START + 2, 'BUY', 280, '3'), START + 2);
    token.tick(START + 60);
    expect(outputs).toHaveLength(1);
    token.tick(START + 320);
    expect(outputs.at(-1)).toMatchObject({ type: 'change', verified: false, reason: 'hash_mismatch' });
    token.receive(venue.change(START + 400, 'BUY', 270, '2'), START + 400);
    token.tick(START + 460);
    expect(requests).toEqual(['hash_mismatch']);
    expect(token.verified()).toBe(false);
    token.receive(venue.book(START + 500, 'hash_mismatch'), START + 500);
    expect(outputs.at(-1)).toMatchObject({ type: 'book', verified: true, reason: 'hash_mismatch' });
    expect(replay(outputs)).toEqual(venue.bestFirst());
  });

  it('applies the changes that came while a book was fetched to that older book', () => {
    const { outputs, requests, token, venue } = setUp();
    token.receive(venue.book(START), START);
    venue.change(START + 1, 'BUY', 290, '4');
    token.receive(venue.change(START + 2, 'BUY', 280, '3'), START + 2);
    token.tick(START + 320);
    token.tick(START + 320);
    token.tick(START + 600);
    expect(requests).toEqual(['hash_mismatch']);
    const fetched = venue.book(START + 610, 'hash_mismatch');
    token.receive(venue.change(START + 620, 'BUY', 270, '2'), START + 620);
    token.tick(START + 700);
    token.receive(fetched, START + 710);
    token.tick(START + 800);
    token.tick(START + 1_100);
    expect(replay(outputs)).toEqual(venue.bestFirst());
    expect([token.verified(), requests]).toEqual([true, ['hash_mismatch']]);
  });

  it('fetches again when the fetched book is older than the messages before the request', () => {
    const { outputs, requests, token, venue } = setUp();
    token.receive(venue.book(START), START);
    const stale = venue.book(START + 1, 'hash_mismatch');
    venue.change(START + 2, 'BUY', 290, '4');
    token.receive(venue.change(START + 3, 'BUY', 280, '3'), START + 3);
    token.tick(START + 60);
    token.tick(START + 400);
    token.receive(stale, START + 500);
    expect([token.verified(), requests]).toEqual([false, ['hash_mismatch', 'hash_mismatch']]);
    token.receive(venue.book(START + 600, 'hash_mismatch'), START + 600);
    expect(token.verified()).toBe(true);
    expect(replay(outputs)).toEqual(venue.bestFirst());
  });

  it('ignores a fetched book once the subscription has brought one', () => {
    const { outputs, token, venue } = setUp();
    token.receive(venue.book(START), START);
    token.distrust('silent', START + 1);
    const fetched = venue.book(START + 2, 'silent');
    venue.change(START + 3, 'SELL', 310, '20');
    token.receive(venue.book(START + 3), START + 4);
    token.receive(fetched, START + 5);
    expect(token.verified()).toBe(true);
    expect(replay(outputs)).toEqual(venue.bestFirst());
  });

  it('stays unverified after silence until the subscription delivers again', () => {
    const { outputs, requests, token, venue } = setUp();
    token.receive(venue.book(START), START);
    token.distrust('silent', START + 1);
    venue.change(START + 2, 'BUY', 300, '10');
    token.receive(venue.book(START + 3, 'silent'), START + 3);
    expect(outputs.at(-1)).toMatchObject({ type: 'book', verified: false, reason: 'silent' });
    expect(replay(outputs)).toEqual(venue.bestFirst());
    expect(requests).toEqual(['silent']);
    token.receive(venue.change(START + 4, 'BUY', 290, '1'), START + 4);
    token.tick(START + 60);
    expect(outputs.at(-1)).toMatchObject({ type: 'change', verified: true, reason: null });
  });

  it('does not serve the book before an unusable one as verified', () => {
    const { outputs, requests, token, venue } = setUp();
    token.receive(venue.book(START), START);
    const twice = { price: '0.3', size: '1' };
    token.receive({ ...venue.book(START + 1), bids: [twice, twice] }, START + 1);
    expect(outputs.at(-1)).toMatchObject({ type: 'status', verified: false, reason: 'invalid_level' });
    // The fetched one is unusable too: another is fetched.
    token.receive({ ...venue.book(START + 2, 'invalid_level'), bids: [twice, twice] }, START + 2);
    expect([token.verified(), requests]).toEqual([false, ['invalid_level', 'invalid_level']]);
  });

  describe.each<[string, (token: TokenBook, venue: VenueBook, atMs: number) => void]>([
    [
      'an unreadable change',
      (token, venue, atMs) => {
        venue.change(atMs, 'BUY', 290, '4');
        token.distrust('invalid_level', atMs);
      },
    ],
    [
      'an unusable book',
      (token, venue, atMs) => {
        venue.change(atMs, 'BUY', 290, '4');
        token.receive({ ...venue.book(atMs), bids: [{ price: '1.5', size: '1' }] }, atMs);
      },
    ],
  ])('after %s', (_case, miss) => {
    it('does not verify the group that was open, and verifies the fetched book', () => {
      const { outputs, requests, token, venue } = setUp();
      token.receive(venue.book(START), START);
      token.receive(venue.change(START + 1, 'BUY', 300, '10'), START + 1);
      miss(token, venue, START + 20);
      token.tick(START + 60);
      expect(outputs.slice(1)).toMatchObject([
        { type: 'status', verified: false, reason: 'invalid_level' },
        { type: 'change', verified: false, reason: 'invalid_level' },
      ]);
      expect(requests).toEqual(['invalid_level']);
      token.receive(venue.book(START + 70, 'invalid_level'), START + 80);
      expect(token.verified()).toBe(true);
      expect(replay(outputs)).toEqual(venue.bestFirst());
    });

    it('does not verify changes that waited for a trade before it, nor a fetched book that is older than they', () => {
      const { facts, outputs, requests, token, venue } = setUp();
      venue.change(START, 'BUY', 300, '10');
      token.receive(venue.book(START), START);
      const match = venue.match(START + 10, 'SELL');
      for (const message of match?.messages ?? []) token.receive(message, START + 10);
      token.tick(START + 70);
      const fetched = venue.book(START + 80, 'invalid_level');
      token.receive(venue.change(START + 90, 'SELL', 320, '5'), START + 90);
      miss(token, venue, START + 95);
      recordTradePrice(facts, match?.price ?? '');
      token.tradePriceChanged(START + 100);
      token.tick(START + 160);
      expect(outputs.slice(1).map(({ verified }) => verified)).toEqual([false, false, false]);
      token.receive(fetched, START + 170);
      expect(outputs.slice(1).map(({ verified }) => verified)).toEqual([false, false, false]);
      expect(requests).toEqual(['invalid_level', 'hash_mismatch']);
      token.receive(venue.book(START + 240, 'invalid_level'), START + 240);
      expect(token.verified()).toBe(true);
      expect(replay(outputs)).toEqual(venue.bestFirst());
    });
  });

  it('asks for a book when changes come before it, and ignores changes that the book contains', () => {
    const { outputs, requests, token, venue } = setUp();
    const early = venue.change(START, 'BUY', 300, '10');
    token.receive(early, START);
    expect([outputs, requests]).toEqual([[], ['no_book']]);
    const old = venue.change(START + 1, 'BUY', 300, '11');
    venue.change(START + 2, 'BUY', 300, '12');
    token.receive(venue.book(START + 2), START + 3);
    token.receive(old, START + 4);
    token.tick(START + 100);
    expect(replay(outputs)).toEqual(venue.bestFirst());
    expect(token.verified()).toBe(true);
  });

  it('asks for a book again when a change comes after the venue had none', () => {
    const { outputs, requests, token, venue } = setUp();
    token.distrust('silent', START);
    token.markMissing();
    expect(requests).toEqual(['silent']);
    token.receive(venue.change(START + 1, 'BUY', 300, '10'), START + 1);
    expect(requests).toEqual(['silent', 'no_book']);
    token.receive(venue.book(START + 2, 'no_book'), START + 3);
    expect(replay(outputs)).toEqual(venue.bestFirst());
    expect(token.verified()).toBe(true);
  });

  it.each([
    ['a level that is none', { price: '1.5' }, 'invalid_level'],
    ['a hash of another book', { hash: 'f'.repeat(40) }, 'hash_mismatch'],
    ['no hash and other best prices', { hash: null, bestBid: '0.4' }, 'best_price_mismatch'],
    ['no hash', { hash: null }, 'no_hash'],
  ])('does not serve as verified what comes with %s', (_case, change, reason) => {
    const { outputs, requests, token, venue } = setUp();
    token.receive(venue.book(START), START);
    token.receive({ ...venue.change(START + 1, 'BUY', 300, '10'), ...change }, START + 1);
    token.tick(START + 60);
    token.tick(START + 400);
    expect(outputs.at(-1)).toMatchObject({ verified: false, reason });
    expect(requests).toEqual(reason === 'no_hash' ? [] : [reason]);
  });

  it('gives a subscriber the book of the venue over any orders, matches, late trades, lost and unreadable messages', () => {
    const step = fc.record({
      kind: fc.constantFrom('order', 'order', 'order', 'match', 'lost', 'unreadable', 'book'),
      side: fc.constantFrom<BookSide>('BUY', 'SELL'),
      offset: fc.integer({ min: 1, max: 40 }),
      size: fc.integer({ min: 0, max: 3 }),
      pauseMs: fc.constantFrom(0, 1, 20, 60, 400),
      tradeLateMs: fc.constantFrom(0, 88, 200),
      /** From the request to the venue's book, and from there to its arrival. */
      fetchMs: fc.constantFrom([0, 0], [0, 150], [40, 400]),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { facts, outputs, requests, token, venue } = setUp();
        const trades: { atMs: number; price: string }[] = [];
        let nowMs = START;
        let answered = 0;
        let fetchMs: readonly number[] = [0, 0];
        let fetched: { atMs: number; message: BookMessage } | null = null;
        let fetchAtMs = 0;
        const advance = (toMs: number) => {
          for (; nowMs < toMs; nowMs += 10) {
            for (const trade of trades.splice(0).flatMap((one) => {
              if (one.atMs <= nowMs) return [one];
              trades.push(one);
              return [];
            })) {
              recordTradePrice(facts, trade.price);
              token.tradePriceChanged(nowMs);
            }
            token.tick(nowMs);
            if (requests.length > answered) {
              answered = requests.length;
              fetchAtMs = nowMs + (fetchMs[0] ?? 0);
            }
            if (fetchAtMs > 0 && nowMs >= fetchAtMs) {
              fetchAtMs = 0;
              fetched = { atMs: nowMs + (fetchMs[1] ?? 0), message: venue.book(nowMs, requests.at(-1)) };
            }
            if (fetched !== null && nowMs >= fetched.atMs) {
              const { message } = fetched;
              fetched = null;
              token.receive(message, nowMs);
            }
          }
        };
        token.receive(venue.book(nowMs), nowMs);
        let matchedMs = 0;
        for (const { kind, side, offset, size, pauseMs, tradeLateMs, ...step } of steps) {
          fetchMs = step.fetchMs;
          // Every step has its own millisecond; matches are as far apart as trades are late.
          advance(nowMs + Math.max(pauseMs, 10));
          const ticks = side === 'BUY' ? 500 - offset : 500 + offset;
          if (kind === 'order') token.receive(venue.change(nowMs, side, ticks, String(size)), nowMs);
          if (kind === 'lost' || kind === 'unreadable') venue.change(nowMs, side, ticks, String(size));
          if (kind === 'unreadable') token.distrust('invalid_level', nowMs);
          if (kind === 'book') token.receive(venue.book(nowMs), nowMs);
          if (kind === 'match') {
            advance(Math.max(nowMs, matchedMs + 260));
            const match = venue.match(nowMs, side);
            if (match === null) continue;
            matchedMs = nowMs;
            for (const message of match.messages) token.receive(message, nowMs);
            trades.push({ atMs: nowMs + tradeLateMs, price: match.price });
          }
        }
        advance(nowMs + 2_000);
        // The last loss is found by the hash of the next message.
        token.receive(venue.change(nowMs, 'BUY', 100, String(nowMs)), nowMs);
        advance(nowMs + 1_000);
        expect(token.verified()).toBe(true);
        expect(replay(outputs)).toEqual(venue.bestFirst());
      }),
      { numRuns: 150 },
    );
  });
});
