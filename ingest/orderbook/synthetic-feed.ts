import { createHash } from 'node:crypto';
import { type BookSide, createOrderBook, type OrderBook } from '../../schemas/order-book/book.js';
import { venueHash } from '../../schemas/order-book/venue-hash.js';
import type { BookFeed, FeedEvents } from './feed.js';
import type { VenueMessage } from './messages.js';
import type { FollowedToken } from './order-books.js';
import type { BookMessage, ChangeMessage } from './token-book.js';

/** Levels on each side, one cent apart. */
const DEPTH = 8;
const MIN_ORDER_SIZE = '5';
const TICK_SIZE = '0.01';
/** Orders that are placed or cancelled per second, over all books. */
const ORDERS_PER_S = 2;

/** A trade around which a book is made. */
export interface RecordedTrade {
  readonly tokenId: string;
  readonly side: BookSide;
  /** Base units. */
  readonly usdc: bigint;
  readonly shares: bigint;
}

interface SyntheticBook {
  readonly token: FollowedToken;
  readonly book: OrderBook;
}

/** Whole shares of a level, the same for the same token, price and turn. */
function sizeOf(tokenId: string, cents: number, turn: number): string {
  const digest = createHash('sha256').update(`${tokenId} ${cents} ${turn}`).digest();
  return String(10 + (digest.readUInt32LE(0) % 2_000));
}
const priceText = (cents: number): string => String(cents / 100);

/**
 * Order books around the trades of a recording, which has none of the venue: eight levels of each side, one cent apart, below and above the last trade
 * price. Levels move with the trades, and some change by themselves. The messages have the venue's form and hash, and are marked as synthetic.
 */
export function createSyntheticFeed(deps: {
  events: FeedEvents;
  /** Trades of the chain as they are seen, until the signal. */
  trades: (signal: AbortSignal) => AsyncIterable<RecordedTrade>;
  signal: AbortSignal;
  nowMs?: () => number;
}): BookFeed {
  const { events, signal, nowMs = Date.now } = deps;
  const books = new Map<string, SyntheticBook>();
  /** By market: as at the venue, the complementary tokens share it. */
  const lastTradePrices = new Map<string, string>();
  const lastTradePriceOf = ({ token }: SyntheticBook): string => lastTradePrices.get(token.market) ?? '';
  let turn = 0;
  let newestMs = 0;
  /** Never the same twice, so that groups of messages can be distinguished. */
  const time = (): string => {
    newestMs = Math.max(nowMs(), newestMs + 1);
    return String(newestMs);
  };
  const hashOf = (one: SyntheticBook, timestamp: string): string => {
    const { token, book } = one;
    return venueHash(
      book,
      {
        market: token.market,
        assetId: token.tokenId,
        timestamp,
        minOrderSize: MIN_ORDER_SIZE,
        tickSize: TICK_SIZE,
        negRisk: token.negRisk,
        lastTradePrice: lastTradePriceOf(one),
      },
      'ten',
    );
  };
  const messageOf = (one: SyntheticBook, reason: string | null): VenueMessage & { type: 'book' } => {
    const timestamp = time();
    const book: BookMessage = {
      type: 'book',
      timestamp,
      hash: hashOf(one, timestamp),
      bids: one.book.bids(),
      asks: one.book.asks(),
      reason,
    };
    return {
      type: 'book',
      market: one.token.market,
      assetId: one.token.tokenId,
      book,
      tickSize: TICK_SIZE,
      lastTradePrice: lastTradePriceOf(one),
      minOrderSize: MIN_ORDER_SIZE,
      negRisk: one.token.negRisk,
    };
  };
  /** Messages of changes that happen at once: all have the hash and best prices of the end. */
  const changesOf = (
    one: SyntheticBook,
    changes: readonly (readonly [BookSide, string, string])[],
  ): readonly VenueMessage[] => {
    for (const [side, price, size] of changes) one.book.set(side, price, size);
    const timestamp = time();
    const hash = hashOf(one, timestamp);
    const [bestBid, bestAsk] = [one.book.bestBid()?.price ?? '0', one.book.bestAsk()?.price ?? '1'];
    return changes.map(([side, price, size]) => {
      const change: ChangeMessage = { type: 'change', timestamp, side, price, size, hash, bestBid, bestAsk };
      return { type: 'change', market: one.token.market, assetId: one.token.tokenId, change };
    });
  };

  const onTrade = ({ tokenId, side, usdc, shares }: RecordedTrade): void => {
    const one = books.get(tokenId);
    if (one === undefined || shares === 0n) return;
    const cents = Math.min(98, Math.max(2, Math.round((Number(usdc) / Number(shares)) * 100)));
    const price = priceText(cents);
    lastTradePrices.set(one.token.market, price);
    const wanted = { BUY: new Map<string, string>(), SELL: new Map<string, string>() };
    for (let n = 1; n <= DEPTH; n++) {
      if (cents - n > 0) wanted.BUY.set(priceText(cents - n), sizeOf(tokenId, cents - n, 0));
      if (cents + n < 100) wanted.SELL.set(priceText(cents + n), sizeOf(tokenId, cents + n, 0));
    }
    const isFirst = one.book.isEmpty();
    const changes: (readonly [BookSide, string, string])[] = [];
    for (const orderSide of ['BUY', 'SELL'] as const) {
      const present = orderSide === 'BUY' ? one.book.bids() : one.book.asks();
      for (const { price } of present) if (!wanted[orderSide].has(price)) changes.push([orderSide, price, '0']);
      for (const [level, size] of wanted[orderSide])
        if (!present.some((one) => one.price === level)) changes.push([orderSide, level, size]);
    }
    const trade: VenueMessage = {
      type: 'trade',
      market: one.token.market,
      assetId: tokenId,
      timestamp: String(nowMs()),
      price,
      size: String(Number(shares) / 1e6),
      side,
      feeRateBps: null,
      transactionHash: null,
    };
    if (isFirst) {
      for (const [orderSide, price, size] of changes) one.book.set(orderSide, price, size);
      events.onMessages([messageOf(one, null), trade]);
    } else events.onMessages([...changesOf(one, changes), trade]);
  };

  /** An order is placed or cancelled at a level of one book. */
  const onOrder = () => {
    turn++;
    const active = [...books.values()].filter(({ book }) => !book.isEmpty());
    const one = active[turn % Math.max(1, active.length)];
    if (one === undefined) return;
    const levels = turn % 2 === 0 ? one.book.bids() : one.book.asks();
    const level = levels[(turn >> 1) % Math.max(1, levels.length)];
    if (level === undefined) return;
    const cents = Math.round(Number(level.price) * 100);
    events.onMessages(
      changesOf(one, [[turn % 2 === 0 ? 'BUY' : 'SELL', level.price, sizeOf(one.token.tokenId, cents, turn)]]),
    );
  };

  const timer = setInterval(onOrder, 1_000 / ORDERS_PER_S);
  const running = (async () => {
    try {
      for await (const trade of deps.trades(signal)) onTrade(trade);
    } finally {
      clearInterval(timer);
    }
  })();

  return {
    description: 'synthetic books around the recorded trades',
    synthetic: true,
    follow(tokens) {
      const wanted = new Map(tokens.map((token) => [token.tokenId, token]));
      for (const tokenId of books.keys()) if (!wanted.has(tokenId)) books.delete(tokenId);
      for (const [tokenId, token] of wanted)
        if (!books.has(tokenId)) books.set(tokenId, { token, book: createOrderBook() });
      events.onChange(`${wanted.size} tokens`);
    },
    resubscribe: () => undefined,
    reconnect: () => undefined,
    async fetchBook(tokenId, reason) {
      const one = books.get(tokenId);
      return one === undefined || one.book.isEmpty() ? null : messageOf(one, reason);
    },
    counts: () => ({ open: 1, all: 1 }),
    async closed() {
      clearInterval(timer);
      await running;
    },
  };
}
