import { createRequestQueue } from '../hub/request-queue.js';
import type { BookPeer } from './book-peer.js';
import { createMessageRate } from './message-rate.js';
import {
  type BookError,
  bookError,
  isBookError,
  MAX_INTEGRITY_TOKENS,
  MAX_MESSAGE_BYTES,
  MAX_TOKENS,
  parseBookMessage,
} from './messages.js';
import { type ResolvedMarkets, unresolvedError } from './resolve-markets.js';
import type { Subscription } from './subscription.js';

/** Messages of a client that wait to be handled. */
const PENDING = { frames: 200, bytes: 8 * 1024 * 1024 };
const WARMING_UP_RETRY_MS = 1_000;
const UNAVAILABLE_RETRY_MS = 5_000;
const BUFFER_CHECK_MS = 50;

export interface BookConnection {
  /** Queues one message of the client. */
  receive(message: ArrayBuffer, isBinary: boolean): void;
  sessionUsedUp(resetsAtMs: number): void;
  /** Ends the connection if the allowance of the meter is used up. */
  checkAllowance(): void;
  close(): void;
}

/** The protocol of one connection to the order-book socket. Messages are handled one after the other, in order of arrival. */
export function createBookConnection(deps: {
  peer: BookPeer;
  integrity: boolean;
  subscription: Subscription;
  resolve: (entries: readonly string[]) => Promise<ResolvedMarkets>;
  /** False until the retained books are read. */
  ready: () => boolean;
  /** Number of all books. */
  countBooks: () => number;
  /** Unix ms at which the meter has an allowance again; null: it is not used up. */
  usedUpUntil: () => number | null;
  /** Resolves when this connection may handle its next message. */
  nextTurn: () => Promise<void>;
  nowMs: () => number;
  onUnavailable: (error: unknown) => void;
  onError: (error: unknown) => void;
}): BookConnection {
  const { peer, integrity, subscription, nowMs } = deps;
  const rate = createMessageRate(nowMs);
  const sendError = (error: BookError) => peer.sendControl(error);
  /** A subscription of all books may have none yet. */
  const isSubscribed = () => subscription.firehose || subscription.size > 0;

  const endIfUsedUp = (): boolean => {
    const resetsAtMs = deps.usedUpUntil();
    if (resetsAtMs === null) return false;
    const message = 'The allowance of your plan and all packages of this meter are used up.';
    sendError(bookError('monthly_allowance_used_up', message, { resets_at: new Date(resetsAtMs).toISOString() }));
    peer.end('allowanceUsedUp');
    return true;
  };

  /** Null after an error frame. */
  const resolve = async (entries: readonly string[]): Promise<ResolvedMarkets | null> => {
    try {
      const resolved = await deps.resolve(entries);
      return peer.closed ? null : resolved;
    } catch (error) {
      deps.onUnavailable(error);
      const message = 'The catalogue cannot be read right now; try again in a few seconds.';
      sendError(bookError('unavailable', message, { retry_after_ms: UNAVAILABLE_RETRY_MS }));
      return null;
    }
  };

  const limitError = ({ firehose, tokenIds }: ResolvedMarkets): BookError | null => {
    if (firehose)
      return integrity ? bookError('integrity_firehose_unsupported', 'integrity=1 needs a list of markets.') : null;
    const max = integrity ? MAX_INTEGRITY_TOKENS : MAX_TOKENS;
    if (tokenIds.length <= max) return null;
    return bookError(
      'token_limit',
      `${tokenIds.length} tokens; a connection${integrity ? ' with integrity=1' : ''} may have ${max}.`,
    );
  };

  const subscribe = async (entries: readonly string[]) => {
    if (endIfUsedUp()) return;
    if (!deps.ready()) {
      const message = 'The books are being loaded; try again in a moment.';
      return sendError(bookError('service_warming_up', message, { retry_after_ms: WARMING_UP_RETRY_MS }));
    }
    const resolved = await resolve(entries);
    if (resolved === null) return;
    const { firehose, tokenIds, from, unresolved, withoutBook } = resolved;
    if (!firehose && tokenIds.length === 0) return sendError(unresolvedError(entries));
    const overLimit = limitError(resolved);
    if (overLimit !== null) return sendError(overLimit);
    if (!subscription.reserve(tokenIds)) {
      const message = 'The server has no capacity for more tokens with integrity=1.';
      return sendError(bookError('integrity_capacity', message, { retry_after_ms: UNAVAILABLE_RETRY_MS }));
    }
    peer.sendControl({
      type: 'subscribed',
      markets: firehose ? deps.countBooks() : tokenIds.length,
      ...(firehose ? { firehose: true } : { resolved_from: from }),
      ...(unresolved.length > 0 ? { unresolved } : {}),
      ...(withoutBook.length > 0 ? { without_book: withoutBook } : {}),
      ...(integrity ? { integrity: { enabled: true, protocol: 'pn1' } } : {}),
    });
    subscription.replace(firehose ? 'firehose' : tokenIds);
  };

  const unsubscribe = async (entries: readonly string[] | null) => {
    let tokenIds: readonly string[] | null = null;
    if (entries !== null) {
      const resolved = await resolve(entries);
      if (resolved === null) return;
      if (!resolved.firehose && subscription.firehose)
        return sendError(bookError('invalid_message', 'The subscription is "*": unsubscribe it without markets.'));
      if (!resolved.firehose) tokenIds = resolved.tokenIds;
    }
    const markets = subscription.remove(tokenIds);
    peer.sendControl({ type: 'unsubscribed', markets, remaining: subscription.size });
  };

  const resync = async (entries: readonly string[] | null) => {
    if (!isSubscribed())
      return sendError(bookError('resync_not_subscribed', 'Nothing is subscribed: subscribe instead.'));
    if (subscription.sending)
      return sendError(
        bookError('resync_in_progress', 'Books are being sent; wait for snapshots_done.', { retry_after_ms: 1_000 }),
      );
    let tokenIds: readonly string[] | null = null;
    if (entries !== null) {
      const resolved = await resolve(entries);
      if (resolved === null) return;
      if (!resolved.firehose) {
        if (resolved.tokenIds.length === 0)
          return sendError(bookError('resync_resolved_empty', 'None of the markets is known.'));
        tokenIds = resolved.tokenIds.filter((tokenId) => subscription.has(tokenId));
        if (tokenIds.length === 0)
          return sendError(bookError('resync_not_subscribed', 'None of the markets is subscribed.'));
      }
    }
    peer.sendControl({ type: 'resyncing', markets: tokenIds?.length ?? subscription.size });
    subscription.resync(tokenIds);
  };

  const respond = async (text: string) => {
    const message = parseBookMessage(text);
    if (isBookError(message)) sendError(message);
    else if (message.action === 'ping') peer.sendControl({ type: 'pong' });
    else if (message.action === 'subscribe') await subscribe(message.markets);
    else if (message.action === 'unsubscribe') await unsubscribe(message.markets);
    else await resync(message.markets);
  };

  const queue = createRequestQueue({ limits: PENDING, onError: deps.onError });
  const handlerOf = (message: ArrayBuffer, isBinary: boolean): (() => Promise<void> | void) => {
    if (isBinary) return () => sendError(bookError('invalid_json', 'Message is not valid JSON.'));
    if (message.byteLength > MAX_MESSAGE_BYTES) {
      const { byteLength } = message;
      return () =>
        sendError(
          bookError('input_too_large', `Message of ${byteLength} bytes; the largest allowed has ${MAX_MESSAGE_BYTES}.`),
        );
    }
    // The message's memory belongs to the library and is invalid after this call.
    const text = Buffer.from(message).toString('utf8');
    return () => respond(text);
  };

  return {
    receive(message, isBinary) {
      const handle = handlerOf(message, isBinary);
      const queued = queue.push(async () => {
        // A client that does not read its responses gets no further ones.
        while (peer.backpressured) await new Promise((resolve) => setTimeout(resolve, BUFFER_CHECK_MS));
        await deps.nextTurn();
        if (peer.closed) return;
        const retryAfterMs = rate.take();
        if (retryAfterMs > 0)
          sendError(bookError('rate_limited', 'Too many messages.', { retry_after_ms: retryAfterMs }));
        else await handle();
      }, message.byteLength);
      if (!queued) peer.end('tooManyPending');
    },
    sessionUsedUp(resetsAtMs) {
      sendError(
        bookError('session_limit', 'Free tier 1-hour daily limit reached.', {
          retry_after_ms: Math.max(0, resetsAtMs - nowMs()),
          resets_at: new Date(resetsAtMs).toISOString(),
        }),
      );
      peer.end('sessionUsedUp');
    },
    checkAllowance() {
      if (isSubscribed()) endIfUsedUp();
    },
    close() {
      queue.close();
      subscription.close();
    },
  };
}
