import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type BookSide, createOrderBook } from './book.js';
import { venueHash, verifyVenueHash } from './venue-hash.js';

type Change = [string, string, BookSide, string, string, string, string, string];
interface RecordedBook {
  asset_id: string;
  timestamp: string;
  hash: string;
  tick_size: string | null;
  last_trade_price: string | null;
  bids: [string, string][];
  asks: [string, string][];
}
const recorded = JSON.parse(
  readFileSync(new URL('../../tests/recorded/order-book/burst.json', import.meta.url), 'utf8'),
) as {
  market: string;
  minOrderSize: string;
  negRisk: boolean;
  snapshot: RecordedBook;
  changes: Change[];
  match: { lastTradePrice: string; tickSize: string; changes: Change[]; book: RecordedBook };
};
const levels = (pairs: readonly [string, string][]) => pairs.map(([price, size]) => ({ price, size }));
const bookOf = ({ bids, asks }: RecordedBook) => {
  const book = createOrderBook();
  expect(book.replace(levels(bids), levels(asks))).toBe(true);
  return book;
};
const { market, minOrderSize, negRisk, snapshot, changes, match } = recorded;

describe('venueHash', () => {
  it('equals the hashes of a recorded snapshot and of the 15 changes after it', () => {
    const book = bookOf(snapshot);
    const facts = {
      market,
      assetId: snapshot.asset_id,
      minOrderSize,
      negRisk,
      tickSize: snapshot.tick_size ?? '',
      lastTradePrice: snapshot.last_trade_price ?? '',
    };
    expect(venueHash(book, { ...facts, timestamp: snapshot.timestamp }, 'ten')).toBe(snapshot.hash);
    const own = changes.filter(([, asset]) => asset === snapshot.asset_id);
    expect(own).toHaveLength(15);
    for (const [timestamp, , side, price, size, hash, bestBid, bestAsk] of own) {
      book.set(side, price, size);
      expect(venueHash(book, { ...facts, timestamp }, 'ten')).toBe(hash);
      expect([book.bestBid()?.price, book.bestAsk()?.price]).toEqual([bestBid, bestAsk]);
    }
  });

  it('equals the hash that all messages of a match have, in the book at its end only', () => {
    const book = bookOf(match.book);
    const facts = {
      market,
      assetId: match.book.asset_id,
      minOrderSize,
      negRisk,
      tickSize: match.tickSize,
      lastTradePrice: match.lastTradePrice,
      timestamp: match.book.timestamp,
    };
    expect(venueHash(book, facts, 'ten')).toBe(match.book.hash);
    const own = match.changes.filter(([, asset]) => asset === match.book.asset_id);
    expect(new Set(own.map(([, , , , , hash]) => hash))).toEqual(new Set([match.book.hash]));
    // Before the last message removed the bid at 0.301, the book was crossed and had another hash.
    book.set('BUY', '0.301', '1000');
    expect(venueHash(book, facts, 'ten')).not.toBe(match.book.hash);
  });
});

describe('verifyVenueHash', () => {
  const of = { market, assetId: snapshot.asset_id, timestamp: snapshot.timestamp, hash: snapshot.hash };
  const facts = {
    minOrderSizes: ['1', '5'],
    tickSizes: ['0.01', '0.001'],
    negRisks: [true, false],
    lastTradePrices: ['', '0.255'],
  };
  const expected = { keySet: 'ten', minOrderSize: '5', tickSize: '0.001', negRisk: false, lastTradePrice: '0.255' };

  it('finds the facts under which the hash agrees, and remembers them for the next book', () => {
    const found = verifyVenueHash(bookOf(snapshot), of, facts, null);
    expect(found).toEqual(expected);
    const unknown = { minOrderSizes: [], tickSizes: [], negRisks: [], lastTradePrices: [] };
    expect(verifyVenueHash(bookOf(snapshot), of, unknown, found)).toEqual(expected);
  });

  it('finds books of earlier key sets', () => {
    const book = bookOf(snapshot);
    for (const keySet of ['nine', 'six'] as const) {
      const hash = venueHash(book, { ...of, ...expected, minOrderSize: '5' }, keySet);
      expect(verifyVenueHash(book, { ...of, hash }, facts, null)?.keySet).toBe(keySet);
    }
  });

  it('finds nothing for a book that differs in one level, one size text or one timestamp', () => {
    const book = bookOf(snapshot);
    book.set('BUY', '0.001', '220045.0');
    expect(verifyVenueHash(book, of, facts, null)).toBeNull();
    const other = bookOf(snapshot);
    other.set('SELL', snapshot.asks[0]?.[0] ?? '', '0');
    expect(verifyVenueHash(other, of, facts, null)).toBeNull();
    expect(verifyVenueHash(bookOf(snapshot), { ...of, timestamp: '1790658661235' }, facts, null)).toBeNull();
  });
});
