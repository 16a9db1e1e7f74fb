import { createHash } from 'node:crypto';
import type { BookLevel, BookSide } from '../../../schemas/order-book/book.js';
import type { BookMessage, ChangeMessage } from '../token-book.js';

/** A book as the venue has it, with its own hash over its own texts: independent of the code under test. */
export function createVenueBook(of: {
  market: string;
  assetId: string;
  minOrderSize?: string;
  tickSize?: string;
  negRisk?: boolean;
}) {
  const levels = { BUY: new Map<number, string>(), SELL: new Map<number, string>() };
  let lastTradePrice = '';
  const text = (ticks: number) => String(ticks / 1000);
  const list = (side: BookSide): readonly BookLevel[] => {
    const ascending = [...levels[side]].sort(([a], [b]) => a - b);
    if (side === 'SELL') ascending.reverse();
    return ascending.map(([ticks, size]) => ({ price: text(ticks), size }));
  };
  const hashAt = (timestamp: number): string =>
    createHash('sha1')
      .update(
        JSON.stringify({
          market: of.market,
          asset_id: of.assetId,
          timestamp: String(timestamp),
          hash: '',
          bids: list('BUY'),
          asks: list('SELL'),
          min_order_size: of.minOrderSize ?? '5',
          tick_size: of.tickSize ?? '0.001',
          neg_risk: of.negRisk ?? false,
          last_trade_price: lastTradePrice,
        }),
      )
      .digest('hex');
  const best = (side: BookSide): string => list(side).at(-1)?.price ?? '0';
  const setLevel = (side: BookSide, ticks: number, size: string) => {
    if (size === '0') levels[side].delete(ticks);
    else levels[side].set(ticks, size);
  };
  const describe = (timestamp: number, changes: readonly (readonly [BookSide, number, string])[]): ChangeMessage[] =>
    changes.map(([side, ticks, size]) => ({
      type: 'change',
      timestamp: String(timestamp),
      side,
      price: text(ticks),
      size,
      hash: hashAt(timestamp),
      bestBid: best('BUY'),
      bestAsk: best('SELL'),
    }));
  return {
    /** One order, placed or cancelled: a message with the hash of the book after it. */
    change(timestamp: number, side: BookSide, ticks: number, size: string): ChangeMessage {
      setLevel(side, ticks, size);
      return describe(timestamp, [[side, ticks, size]])[0] as ChangeMessage;
    },
    /**
     * A match: an order that crosses the book takes the best level of the other side. Its messages have one timestamp, the hash and best prices of the
     * end, and between them the book is crossed. Null if the other side is empty.
     */
    match(timestamp: number, side: BookSide): { messages: ChangeMessage[]; price: string } | null {
      const other: BookSide = side === 'BUY' ? 'SELL' : 'BUY';
      const ticks = [...levels[other].keys()].sort((a, b) => (side === 'BUY' ? a - b : b - a))[0];
      if (ticks === undefined) return null;
      const price = text(ticks);
      setLevel(other, ticks, '0');
      lastTradePrice = price;
      const messages = describe(timestamp, [
        [side, ticks, '7'],
        [other, ticks, '0'],
        [side, ticks, '0'],
      ]);
      return { messages, price };
    },
    book(timestamp: number, reason: string | null = null): BookMessage {
      return {
        type: 'book',
        timestamp: String(timestamp),
        hash: hashAt(timestamp),
        bids: list('BUY'),
        asks: list('SELL'),
        reason,
      };
    },
    lastTradePrice: () => lastTradePrice,
    hashAt,
    bestFirst: () => ({ bids: [...list('BUY')].reverse(), asks: [...list('SELL')].reverse() }),
  };
}
export type VenueBook = ReturnType<typeof createVenueBook>;
