import type { BookLevel, BookSide } from '../../schemas/order-book/book.js';
import { MAX_LEVELS_PER_SIDE } from '../../schemas/order-book/book.js';
import { isDecimal } from '../../schemas/order-book/decimal.js';
import type { BookMessage, ChangeMessage } from './token-book.js';

/** A message of the venue's market channel, checked: texts are of bounded length, times are near the present. */
export type VenueMessage =
  | {
      readonly type: 'book';
      readonly market: string;
      readonly assetId: string;
      readonly book: BookMessage;
      readonly tickSize: string | null;
      readonly lastTradePrice: string | null;
      readonly minOrderSize: string | null;
      readonly negRisk: boolean | null;
    }
  | { readonly type: 'change'; readonly market: string; readonly assetId: string; readonly change: ChangeMessage }
  | {
      readonly type: 'trade';
      readonly market: string;
      readonly assetId: string;
      readonly timestamp: string;
      readonly price: string;
      readonly size: string;
      readonly side: BookSide;
      readonly feeRateBps: string | null;
      readonly transactionHash: string | null;
    }
  | {
      readonly type: 'tick_size';
      readonly market: string;
      readonly assetId: string;
      readonly timestamp: string;
      readonly tickSize: string;
    };

export interface DecodedVenueFrame {
  readonly messages: readonly VenueMessage[];
  /** Parts that could not be decoded, with the reason. */
  readonly errors: readonly string[];
  /** Tokens of which a message about levels could not be decoded. */
  readonly missed: readonly string[];
}

const MAX_MESSAGES_PER_FRAME = 2_000;
const MAX_CHANGES_PER_MESSAGE = 20_000;
/** Age beyond which the time of a change or a trade is not believed. */
const MAX_AGE_MS = 24 * 3_600_000;
/** 2020-01-01 UTC, before the venue's first book. The book of a quiet market has the time of its last change, which may be months ago. */
const EARLIEST_BOOK_MS = 1_577_836_800_000;
/** Lead over the local clock beyond which it is not: all changes after a book of the future would count as older than the book. */
const MAX_FUTURE_MS = 60_000;
const CONDITION = /^0x[0-9a-f]{64}$/;
const TOKEN = /^\d{1,78}$/;
const HASH = /^[0-9a-f]{40}$/;

class Invalid extends Error {}
type Fields = Readonly<Record<string, unknown>>;

function textOf(fields: Fields, name: string, pattern: RegExp): string {
  const value = fields[name];
  if (typeof value !== 'string' || !pattern.test(value)) throw new Invalid(`${name} is missing or malformed`);
  return value;
}
function decimalOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || !isDecimal(value)) throw new Invalid(`${name} is no decimal`);
  return value;
}
const optional = (fields: Fields, name: string): string | null => {
  const value = fields[name];
  return value === undefined || value === null || value === '' ? null : decimalOf(fields, name);
};
function timeOf(fields: Fields, nowMs: number, earliestMs = nowMs - MAX_AGE_MS): string {
  const text = textOf(fields, 'timestamp', /^\d{1,16}$/);
  const timeMs = Number(text);
  if (timeMs < earliestMs || timeMs > nowMs + MAX_FUTURE_MS) throw new Invalid('timestamp is far from the present');
  return text;
}
const sideOf = (fields: Fields): BookSide => textOf(fields, 'side', /^(?:BUY|SELL)$/) as BookSide;
const hashOf = (fields: Fields): string | null =>
  fields.hash === undefined || fields.hash === null || fields.hash === '' ? null : textOf(fields, 'hash', HASH);
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function levelsOf(fields: Fields, name: string): readonly BookLevel[] {
  const list = fields[name];
  if (!Array.isArray(list)) throw new Invalid(`${name} is no list`);
  if (list.length > MAX_LEVELS_PER_SIDE) throw new Invalid(`${name} has more than ${MAX_LEVELS_PER_SIDE} levels`);
  return list.map((level: unknown) => {
    if (!isFields(level)) throw new Invalid(`${name} has a level that is no object`);
    return { price: decimalOf(level, 'price'), size: decimalOf(level, 'size') };
  });
}

/** A whole book, from the socket or from `GET /book`. Throws on malformed fields. `reason`: why it was requested. */
export function decodeBook(fields: Fields, nowMs: number, reason: string | null): VenueMessage & { type: 'book' } {
  const { neg_risk: negRisk } = fields;
  return {
    type: 'book',
    market: textOf(fields, 'market', CONDITION),
    assetId: textOf(fields, 'asset_id', TOKEN),
    book: {
      type: 'book',
      timestamp: timeOf(fields, nowMs, EARLIEST_BOOK_MS),
      hash: hashOf(fields),
      bids: levelsOf(fields, 'bids'),
      asks: levelsOf(fields, 'asks'),
      reason,
    },
    tickSize: optional(fields, 'tick_size'),
    lastTradePrice: optional(fields, 'last_trade_price'),
    minOrderSize: optional(fields, 'min_order_size'),
    negRisk: typeof negRisk === 'boolean' ? negRisk : null,
  };
}

function decodeMessage(fields: Fields, nowMs: number): readonly VenueMessage[] {
  switch (fields.event_type) {
    case 'book':
      return [decodeBook(fields, nowMs, null)];
    case 'price_change': {
      const market = textOf(fields, 'market', CONDITION);
      const timestamp = timeOf(fields, nowMs);
      const changes = fields.price_changes;
      if (!Array.isArray(changes) || changes.length > MAX_CHANGES_PER_MESSAGE)
        throw new Invalid('price_changes is no list, or too long');
      return changes.map((change: unknown) => {
        if (!isFields(change)) throw new Invalid('price_changes has an entry that is no object');
        return {
          type: 'change',
          market,
          assetId: textOf(change, 'asset_id', TOKEN),
          change: {
            type: 'change',
            timestamp,
            side: sideOf(change),
            price: decimalOf(change, 'price'),
            size: decimalOf(change, 'size'),
            hash: hashOf(change),
            bestBid: optional(change, 'best_bid'),
            bestAsk: optional(change, 'best_ask'),
          },
        };
      });
    }
    case 'last_trade_price':
      return [
        {
          type: 'trade',
          market: textOf(fields, 'market', CONDITION),
          assetId: textOf(fields, 'asset_id', TOKEN),
          timestamp: timeOf(fields, nowMs),
          price: decimalOf(fields, 'price'),
          size: decimalOf(fields, 'size'),
          side: sideOf(fields),
          feeRateBps: optional(fields, 'fee_rate_bps'),
          transactionHash:
            fields.transaction_hash === undefined || fields.transaction_hash === null || fields.transaction_hash === ''
              ? null
              : textOf(fields, 'transaction_hash', CONDITION),
        },
      ];
    case 'tick_size_change':
      return [
        {
          type: 'tick_size',
          market: textOf(fields, 'market', CONDITION),
          assetId: textOf(fields, 'asset_id', TOKEN),
          timestamp: timeOf(fields, nowMs),
          tickSize: decimalOf(fields, 'new_tick_size'),
        },
      ];
    default:
      // best_bid_ask, new_market and market_resolved say nothing about levels.
      return [];
  }
}

/** Tokens that a malformed message about levels names. */
function tokensOf(fields: unknown): readonly string[] {
  if (!isFields(fields) || (fields.event_type !== 'book' && fields.event_type !== 'price_change')) return [];
  const changes: readonly unknown[] = Array.isArray(fields.price_changes) ? fields.price_changes : [];
  const named = [fields, ...changes.slice(0, MAX_CHANGES_PER_MESSAGE).filter(isFields)].map((one) => one.asset_id);
  return named.filter((tokenId): tokenId is string => typeof tokenId === 'string' && TOKEN.test(tokenId));
}

/** Decodes a frame: one message or a list of them. Malformed messages are left out and reported; never throws. */
export function decodeVenueFrame(text: string, nowMs: number): DecodedVenueFrame {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return { messages: [], errors: ['The frame is no JSON'], missed: [] };
  }
  const list = Array.isArray(parsed) ? parsed : [parsed];
  const messages: VenueMessage[] = [];
  const errors: string[] = [];
  const missed = new Set<string>();
  if (list.length > MAX_MESSAGES_PER_FRAME) errors.push(`The frame has ${list.length} messages`);
  for (const fields of list.slice(0, MAX_MESSAGES_PER_FRAME)) {
    try {
      if (!isFields(fields)) throw new Invalid('The message is no object');
      messages.push(...decodeMessage(fields, nowMs));
    } catch (error) {
      for (const tokenId of tokensOf(fields)) missed.add(tokenId);
      // An error in the handler of the socket would end the process.
      errors.push(error instanceof Invalid ? error.message : `Cannot be read: ${(error as Error).message}`);
    }
  }
  return { messages, errors, missed: [...missed] };
}
