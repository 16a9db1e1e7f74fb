import type { VenueMessage } from './messages.js';
import type { FollowedToken } from './order-books.js';

/** What a feed reports. */
export interface FeedEvents {
  onMessages(messages: readonly VenueMessage[]): void;
  /** A frame that is unreadable or has unreadable parts; once per frame. */
  onRejected(reason: string, payload: string): void;
  /** Tokens of which a message about levels was unreadable; called after the readable messages of the frame. */
  onMissed(tokenIds: readonly string[]): void;
  /** A connection was opened or has ended; for people. */
  onChange(detail: string): void;
  /** Tokens that were just subscribed: their books follow. */
  onSubscribed(tokenIds: readonly string[]): void;
  /** Tokens whose connection was lost. */
  onLost(tokenIds: readonly string[]): void;
}

/** A source of order-book messages. */
export interface BookFeed {
  /** Human-readable. */
  readonly description: string;
  /** Books made around recorded trades, not of the venue. */
  readonly synthetic: boolean;
  /** Reads these tokens from now on, and no others. */
  follow(tokens: readonly FollowedToken[]): void;
  /** Subscribes a token again. */
  resubscribe(tokenId: string): void;
  /** Ends the connection of a token and opens another. */
  reconnect(tokenId: string, reason: string): void;
  /** The book of a token now; null if there is none. Rejects with RetryableError. */
  fetchBook(tokenId: string, reason: string, signal: AbortSignal): Promise<(VenueMessage & { type: 'book' }) | null>;
  /** Open connections, and all. */
  counts(): { readonly open: number; readonly all: number };
  /** Resolves when all connections have ended after the signal. */
  closed(): Promise<void>;
}
