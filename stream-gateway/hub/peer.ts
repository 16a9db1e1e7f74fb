import type { PlanTerms } from '../../schemas/plans.js';
import { type CloseReason, closeReasons } from '../protocol/close-codes.js';
import { type ClosableSocket, createGracefulClose, type GracefulClose } from './graceful-close.js';
import type { LiveEvent } from './live-event.js';
import type { Encoding, NativeMember } from './native-topics.js';

/** The used part of the library's socket. No call is allowed after it is closed. */
export interface RawSocket extends ClosableSocket {
  send(message: string | Buffer, isBinary?: boolean): number;
  ping(payload: string): number;
  cork(work: () => void): unknown;
  subscribe(topic: string): boolean;
  unsubscribe(topic: string): boolean;
}

export interface PeerLimits {
  /** Bound of the bytes buffered for one connection. */
  readonly maxBufferedBytes: number;
  /** A replay pauses when more bytes than this are buffered. */
  readonly replayHighWaterBytes: number;
  /** A paused replay resumes when at most this many bytes are buffered. */
  readonly replayLowWaterBytes: number;
}

/**
 * The library reads the first four bytes of an unmasked payload as the mask and waits for four more bytes. The pong of a client that does not mask then
 * completes a text that is not UTF-8, and the library closes the connection.
 */
const PING_PAYLOAD = 'ping';

export const defaultPeerLimits: PeerLimits = {
  maxBufferedBytes: 16 * 1024 * 1024,
  replayHighWaterBytes: 1024 * 1024,
  replayLowWaterBytes: 256 * 1024,
};

/** Counters shared by all peers of a server. */
export interface PeerTotals {
  controlFrames: number;
  controlBytes: number;
  eventFrames: number;
  eventBytes: number;
  slowCloses: number;
}

/** One connection with metered and bounded sends. Sends after the beginning of its close do nothing. */
export interface Peer extends NativeMember {
  readonly accountId: string;
  readonly keyHash: string;
  /** Current terms of the account. */
  readonly terms: PlanTerms;
  setTerms(terms: PlanTerms): void;
  /** True from the beginning of the close: nothing more is sent. */
  readonly closed: boolean;
  sendControl(message: string): void;
  /** Sends text of any size: its buffered bytes do not count against the bound. */
  sendSnapshot(message: Buffer): void;
  sendEvent(event: LiveEvent): void;
  /** Sends a live event; a slow reader is closed, or reported to the handler of `setOnSlow`, which then drops the event. */
  sendLive(event: LiveEvent): void;
  /** Sends live events in order, in as few writes as possible. */
  sendEvents(events: readonly LiveEvent[]): void;
  /** Combines the sends of `work` into as few writes as possible. */
  corked(work: () => void): void;
  heartbeat(message: string): void;
  buffered(): number;
  /**
   * A handler makes the connection survive slow reading: it is called instead of a close, with the seq of the live event that does not fit, or null between
   * events. It must end live delivery. The other half of the bound is left for control frames.
   */
  setOnSlow(handler: ((seq: number | null) => void) | null): void;
  /** Makes the library send messages of topics that it still buffers now, not when the event loop continues. */
  flushTopics(): void;
  /** Closes the connection as a slow reader if its buffered bytes exceed the bound. */
  closeIfSlow(): void;
  /** Closes the connection as a slow reader; one that is being closed is cut. */
  closeSlow(): void;
  /** True while a replay should pause. */
  readonly backpressured: boolean;
  /** Resolves when a replay may resume or the connection is closed. */
  drained(): Promise<void>;
  end(closing: CloseReason): void;
  /** Call when the library reports that buffered bytes were sent. */
  onDrain(): void;
  /** Call when the library reports that the socket is closed. */
  onClose(): void;
  /** Returns the event bytes since the last call, per meter. */
  takeUsage(): { readonly events: number; readonly priceFeeds: number };
}

export function createPeer(deps: {
  socket: RawSocket;
  accountId: string;
  keyHash: string;
  terms: PlanTerms;
  encoding: Encoding;
  limits: PeerLimits;
  totals: PeerTotals;
  /** Time that the client has to read what is buffered when the connection is closed. */
  closingMs: number;
  /** Called when the connection is being closed but its client has to read what is buffered first; the subscriptions must end now. */
  onClosing: () => void;
}): Peer {
  const { socket, encoding, limits, totals } = deps;
  const drainWaiters: (() => void)[] = [];
  /** From the beginning of the close by the server. */
  let closing: GracefulClose | null = null;
  let { terms } = deps;
  let closed = false;
  /** The library no longer has the socket. */
  let gone = false;
  /** Upper bound of the snapshot bytes that are still buffered. */
  let snapshotBytes = 0;
  let usage = { events: 0, priceFeeds: 0 };
  let onSlow: ((seq: number | null) => void) | null = null;

  const wake = () => {
    for (const resolve of drainWaiters.splice(0)) resolve();
  };
  const end = (why: CloseReason) => {
    if (closed) return;
    closed = true;
    const { code, reason } = closeReasons[why];
    closing = createGracefulClose(socket, deps.closingMs);
    if (closing.begin(code, reason)) return;
    // Messages of topics that the library still has count as sent; the end of the subscriptions would drop them.
    socket.ping(PING_PAYLOAD);
    wake();
    deps.onClosing();
  };
  const closeSlow = () => {
    if (closed) return closing?.cut();
    totals.slowCloses++;
    end('slowConsumer');
  };
  const overBound = (size: number, bound = limits.maxBufferedBytes): boolean => {
    const buffered = socket.getBufferedAmount();
    snapshotBytes = Math.min(snapshotBytes, buffered);
    return buffered > 0 && buffered + size > bound + snapshotBytes;
  };
  /** True if the connection has a handler for slow reading and `size` more bytes exceed the bound of live events. */
  const shouldSkip = (size: number): boolean => onSlow !== null && overBound(size, limits.maxBufferedBytes / 2);
  /** True if `size` more bytes fit into the bound; otherwise closes the connection as a slow reader. */
  const fits = (size: number): boolean => {
    if (!overBound(size)) return true;
    closeSlow();
    return false;
  };
  const sendEvent = (event: LiveEvent) => {
    if (closed) return;
    const message = encoding === 'text' ? event.frame : event.deflated;
    if (!fits(message.length)) return;
    socket.send(message, encoding === 'deflated');
    totals.eventFrames++;
    totals.eventBytes += message.length;
    if (event.kind === 'price_feed') usage.priceFeeds += message.length;
    else usage.events += message.length;
  };
  /** False if the event was not sent. */
  const sendLive = (event: LiveEvent): boolean => {
    if (closed) return false;
    if (shouldSkip((encoding === 'text' ? event.frame : event.deflated).length)) {
      onSlow?.(event.seq);
      return false;
    }
    sendEvent(event);
    return true;
  };
  const sendControl = (message: string | Buffer) => {
    const size = Buffer.byteLength(message);
    if (closed || !fits(size)) return;
    socket.send(message, false);
    totals.controlFrames++;
    totals.controlBytes += size;
  };
  const corked = (work: () => void) => {
    if (!closed) socket.cork(work);
  };

  return {
    accountId: deps.accountId,
    keyHash: deps.keyHash,
    get terms() {
      return terms;
    },
    setTerms(next) {
      terms = next;
    },
    encoding,
    get closed() {
      return closed;
    },
    sendControl,
    sendSnapshot(message) {
      if (closed) return;
      if (!fits(0)) return;
      socket.send(message, false);
      totals.eventFrames++;
      totals.eventBytes += message.length;
      usage.events += message.length;
      snapshotBytes = Math.max(snapshotBytes, socket.getBufferedAmount());
    },
    sendEvent,
    sendLive,
    sendEvents(events) {
      if (events.length === 1) sendLive(events[0] as LiveEvent);
      else corked(() => void events.every(sendLive));
    },
    corked,
    heartbeat(message) {
      if (closed) return;
      socket.cork(() => {
        socket.ping(PING_PAYLOAD);
        sendControl(message);
      });
    },
    buffered: () => (gone ? 0 : socket.getBufferedAmount()),
    setOnSlow(handler) {
      onSlow = handler;
    },
    flushTopics() {
      if (!closed) socket.ping(PING_PAYLOAD);
    },
    closeIfSlow() {
      if (!closed && shouldSkip(0)) onSlow?.(null);
      if (!closed) fits(0);
    },
    closeSlow,
    get backpressured() {
      return !closed && socket.getBufferedAmount() > limits.replayHighWaterBytes;
    },
    drained() {
      if (closed || socket.getBufferedAmount() <= limits.replayLowWaterBytes) return Promise.resolve();
      return new Promise((resolve) => drainWaiters.push(resolve));
    },
    subscribe(topic) {
      if (!closed) socket.subscribe(topic);
    },
    unsubscribe(topic) {
      if (!gone) socket.unsubscribe(topic);
    },
    count(priceFeed, bytes) {
      if (priceFeed) usage.priceFeeds += bytes;
      else usage.events += bytes;
    },
    end,
    onDrain() {
      closing?.onDrain();
      if (!gone && drainWaiters.length > 0 && socket.getBufferedAmount() <= limits.replayLowWaterBytes) wake();
    },
    onClose() {
      closed = true;
      gone = true;
      closing?.onClose();
      wake();
    },
    takeUsage() {
      const taken = usage;
      usage = { events: 0, priceFeeds: 0 };
      return taken;
    },
  };
}
