import { RetryableError } from '../../infra/errors.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { Appender } from '../shared/appender.js';
import type { BookRecords } from './book-records.js';
import { createMarketFacts, type MarketFacts, recordTickSize, recordTradePrice } from './market-facts.js';
import type { VenueMessage } from './messages.js';
import { createTokenBook, type TokenBook, type UnverifiedReason } from './token-book.js';

/** An outcome token whose book is read, with what the catalogue knows of its market. */
export interface FollowedToken {
  readonly tokenId: string;
  /** Condition id. */
  readonly market: string;
  readonly minOrderSize: number | null;
  readonly tickSize: number | null;
  readonly negRisk: boolean;
}

/** A whole book of each token is written this often, so that a reader of the last minutes of the topic has it. */
const REPEAT_MS = 4 * 60_000;
const REPEAT_CHECK_MS = 1_000;
/** Records that wait for the log; beyond, the source is started again. */
const MAX_WAITING_RECORDS = 200_000;

export interface OrderBooks {
  follow(tokens: readonly FollowedToken[]): void;
  /** Forgets tokens, and writes that their books are not followed. */
  drop(tokenIds: readonly string[]): void;
  /** The venue has no book of the token. */
  markMissing(tokenId: string): void;
  receive(message: VenueMessage, nowMs: number): void;
  /** Closes groups and repeats books that are due. */
  tick(nowMs: number): void;
  /** Marks the book unverified until a fresh one arrives. */
  distrust(tokenId: string, reason: UnverifiedReason, nowMs: number): void;
  has(tokenId: string): boolean;
  /** A fresh book of the token was requested and has not come yet. */
  needsBook(tokenId: string): boolean;
  /** When the newest message of the token's subscription arrived; null before the first. Fetched books do not count. */
  receivedMs(tokenId: string): number | null;
  counts(): { readonly books: number; readonly verified: number };
}

/** Tokens of a market share what is known of it. */
interface Market {
  readonly facts: MarketFacts;
  readonly books: Set<TokenBook>;
}

interface Followed {
  readonly token: FollowedToken;
  readonly book: TokenBook;
  readonly market: Market;
  verified: boolean | null;
  reason: string | null;
  verifiedSinceMs: number;
  receivedMs: number | null;
  repeatMs: number;
}

/** The books of all followed tokens: applies the venue's messages, verifies them, and writes every change to the log. */
export function createOrderBooks(deps: {
  records: BookRecords;
  appender: Pick<Appender, 'add' | 'waiting'>;
  metrics: Metrics;
  /** The book of the token is not the venue's: fetch a fresh one. */
  requestBook: (tokenId: string, reason: UnverifiedReason) => void;
  nowMs: () => number;
  /** An append was rejected: nothing more can be written. */
  onWriteFailed: (error: unknown) => void;
  /** Called for each comparison with a hash. */
  onVerification?: (result: 'verified' | UnverifiedReason) => void;
  /** Spreads repeated books over time, 0 <= x < 1. */
  random?: () => number;
}): OrderBooks {
  const { records, appender, metrics, random = Math.random } = deps;
  const tokens = new Map<string, Followed>();
  const markets = new Map<string, Market>();
  const open = new Set<TokenBook>();
  const verifications = metrics.counter('order_book_verifications_total', 'Books compared with the hash of the venue', [
    'result',
  ]);
  const messages = metrics.counter('order_book_messages_total', 'Messages of the venue about order books', ['type']);
  const written = metrics.counter('order_book_records_total', 'Records written to orderbook.updates', ['type']);
  const unknown = metrics.counter('order_book_unknown_tokens_total', 'Messages about tokens that are not followed');

  const write = (type: string, record: ReturnType<BookRecords['ofTrade']>) => {
    if (appender.waiting > MAX_WAITING_RECORDS)
      throw new RetryableError(`${MAX_WAITING_RECORDS} order book records wait for the log`);
    written.inc({ type });
    appender.add([record]).catch(deps.onWriteFailed);
  };

  const marketOf = (token: FollowedToken): Market => {
    const market = markets.get(token.market) ?? { facts: createMarketFacts(token.market, token), books: new Set() };
    markets.set(token.market, market);
    return market;
  };

  const repeat = (followed: Followed, nowMs: number) => {
    const { book, token, market } = followed;
    followed.repeatMs = nowMs + REPEAT_MS;
    const output = {
      type: 'book',
      timestampMs: book.timestampMs(),
      hash: book.lastHash(),
      verified: book.verified(),
      reason: book.verified() ? 'repeated' : followed.reason,
      bids: book.bids(),
      asks: book.asks(),
    } as const;
    write(
      'repeated',
      records.ofOutput(
        token,
        output,
        { verifiedSinceMs: followed.verifiedSinceMs, tickSize: market.facts.tickSize },
        nowMs,
      ),
    );
  };

  const follow = (token: FollowedToken) => {
    if (tokens.has(token.tokenId)) return;
    const market = marketOf(token);
    const book = createTokenBook({
      assetId: token.tokenId,
      facts: market.facts,
      requestBook: (reason) => deps.requestBook(token.tokenId, reason),
      onVerification(result) {
        verifications.inc({ result });
        deps.onVerification?.(result);
      },
      emit(output) {
        const nowMs = deps.nowMs();
        if (followed.verified !== output.verified) {
          followed.verified = output.verified;
          followed.verifiedSinceMs = nowMs;
        }
        followed.reason = output.reason;
        if (output.type === 'book') followed.repeatMs = nowMs + REPEAT_MS * (0.75 + random() / 4);
        write(
          output.type,
          records.ofOutput(
            token,
            output,
            { verifiedSinceMs: followed.verifiedSinceMs, tickSize: market.facts.tickSize },
            nowMs,
          ),
        );
        // A busy token has an open group whenever `tick` looks; here its group has just ended.
        if (output.type === 'change' && nowMs >= followed.repeatMs) repeat(followed, nowMs);
      },
    });
    const followed: Followed = {
      token,
      book,
      market,
      verified: null,
      verifiedSinceMs: 0,
      reason: null,
      receivedMs: null,
      repeatMs: Number.POSITIVE_INFINITY,
    };
    market.books.add(book);
    tokens.set(token.tokenId, followed);
  };

  let repeatCheckMs = 0;
  const repeatBooks = (nowMs: number) => {
    if (Math.abs(nowMs - repeatCheckMs) < REPEAT_CHECK_MS) return;
    repeatCheckMs = nowMs;
    for (const followed of tokens.values()) {
      // Planned before the clock was set back.
      if (Number.isFinite(followed.repeatMs) && followed.repeatMs > nowMs + REPEAT_MS)
        followed.repeatMs = nowMs + REPEAT_MS * random();
      if (nowMs >= followed.repeatMs && !followed.book.hasOpenGroup()) repeat(followed, nowMs);
    }
  };

  return {
    follow(list) {
      for (const token of list) follow(token);
    },
    drop(tokenIds) {
      for (const tokenId of tokenIds) {
        const followed = tokens.get(tokenId);
        if (followed === undefined) continue;
        const { token, book } = followed;
        if (followed.verified !== null) {
          const nowMs = deps.nowMs();
          const at = { timestampMs: book.timestampMs(), hash: book.lastHash() };
          const output = { ...at, type: 'status', verified: false, reason: 'not_followed' } as const;
          write('status', records.ofOutput(token, output, { verifiedSinceMs: nowMs, tickSize: null }, nowMs));
        }
        open.delete(book);
        followed.market.books.delete(book);
        if (followed.market.books.size === 0) markets.delete(token.market);
        tokens.delete(tokenId);
      }
    },
    receive(message, nowMs) {
      const followed = tokens.get(message.assetId);
      messages.inc({ type: message.type });
      if (followed === undefined || followed.token.market !== message.market) {
        unknown.inc();
        return;
      }
      const { token, book, market } = followed;
      const { facts } = market;
      const isFetched = message.type === 'book' && message.book.reason !== null;
      if (!isFetched) followed.receivedMs = nowMs;
      switch (message.type) {
        case 'book':
          if (message.tickSize !== null) recordTickSize(facts, message.tickSize, Number(message.book.timestamp));
          if (message.minOrderSize !== null) facts.minOrderSize = message.minOrderSize;
          if (message.negRisk !== null) facts.negRisk = message.negRisk;
          if (message.lastTradePrice !== null) recordTradePrice(facts, message.lastTradePrice);
          book.receive(message.book, nowMs);
          break;
        case 'change':
          book.receive(message.change, nowMs);
          break;
        case 'trade':
          recordTradePrice(facts, message.price);
          for (const one of market.books) one.tradePriceChanged(nowMs);
          write('trade', records.ofTrade(token, message, book.verified(), nowMs));
          break;
        case 'tick_size':
          recordTickSize(facts, message.tickSize, Number(message.timestamp));
          write('tick_size', records.ofTickSize(token, message, book.verified(), nowMs));
          break;
      }
      if (book.hasOpenGroup()) open.add(book);
    },
    tick(nowMs) {
      for (const book of open) {
        book.tick(nowMs);
        if (!book.hasOpenGroup()) open.delete(book);
      }
      repeatBooks(nowMs);
    },
    distrust: (tokenId, reason, nowMs) => tokens.get(tokenId)?.book.distrust(reason, nowMs),
    markMissing: (tokenId) => tokens.get(tokenId)?.book.markMissing(),
    has: (tokenId) => tokens.has(tokenId),
    needsBook: (tokenId) => tokens.get(tokenId)?.book.needsBook() ?? false,
    receivedMs: (tokenId) => tokens.get(tokenId)?.receivedMs ?? null,
    counts() {
      let verified = 0;
      for (const followed of tokens.values()) if (followed.book.verified()) verified++;
      return { books: tokens.size, verified };
    },
  };
}
