import type { PlanTerms } from '../../schemas/plans.js';
import { type CloseReason, closeReasons } from '../protocol/close-codes.js';
import type { LiveEvent } from './live-event.js';
import type { Encoding, NativeMember } from './native-topics.js';

/** What is used of a socket of the library. Invalid once it is closed: no call may follow. */
export interface RawSocket {
  send(message: string | Buffer, isBinary?: boolean): number;
  ping(): number;
  cork(work: () => void): unknown;
  getBufferedAmount(): number;
  subscribe(topic: string): boolean;
  unsubscribe(topic: string): boolean;
  end(code: number, reason: string): void;
}

export interface PeerLimits {
  /** Bytes that may wait for one connection. */
  readonly maxBufferedBytes: number;
  /** A replay sends on while less than this waits ... */
  readonly replayHighWaterBytes: number;
  /** ... and goes on again below this. */
  readonly replayLowWaterBytes: number;
}

export const defaultPeerLimits: PeerLimits = {
  maxBufferedBytes: 16 * 1024 * 1024,
  replayHighWaterBytes: 1024 * 1024,
  replayLowWaterBytes: 256 * 1024,
};

/** What all peers of a server count together. */
export interface PeerTotals {
  controlFrames: number;
  controlBytes: number;
  eventFrames: number;
  eventBytes: number;
  slowCloses: number;
}

/** One connection as the rest of the gateway sees it: sends that are counted and bounded. After it is closed they do nothing. */
export interface Peer extends NativeMember {
  readonly accountId: string;
  readonly terms: PlanTerms;
  readonly closed: boolean;
  sendControl(message: string): void;
  /** Text of any size: what of it waits does not count against the bound, until it has been read. */
  sendSnapshot(message: Buffer): void;
  sendEvent(event: LiveEvent): void;
  /** In order, packed into as few writes as possible. */
  sendEvents(events: readonly LiveEvent[]): void;
  /** Packs what `work` sends into as few writes as possible. */
  corked(work: () => void): void;
  heartbeat(message: string): void;
  buffered(): number;
  /** Closes a reader whose bytes waiting are over the bound. */
  closeIfSlow(): void;
  /** Closes it as a slow reader. */
  closeSlow(): void;
  /** Whether a replay should wait. */
  readonly backpressured: boolean;
  /** Resolves when a replay may go on, or the connection is closed. */
  drained(): Promise<void>;
  end(closing: CloseReason): void;
  /** The library says that bytes left. */
  onDrain(): void;
  /** The library says that the socket is gone. */
  onClose(): void;
  /** Event bytes since the last call, per meter. */
  takeUsage(): { readonly events: number; readonly priceFeeds: number };
}

export function createPeer(deps: {
  socket: RawSocket;
  accountId: string;
  terms: PlanTerms;
  encoding: Encoding;
  limits: PeerLimits;
  totals: PeerTotals;
}): Peer {
  const { socket, encoding, limits, totals } = deps;
  const waiting: (() => void)[] = [];
  let closed = false;
  /** Bytes of a snapshot that still wait. */
  let snapshotBytes = 0;
  let usage = { events: 0, priceFeeds: 0 };

  const end = (closing: CloseReason) => {
    if (closed) return;
    const { code, reason } = closeReasons[closing];
    socket.end(code, reason);
  };
  const closeSlow = () => {
    if (closed) return;
    totals.slowCloses++;
    end('slowConsumer');
  };
  const overBound = (more: number): boolean => {
    const buffered = socket.getBufferedAmount();
    snapshotBytes = Math.min(snapshotBytes, buffered);
    return buffered > 0 && buffered + more > limits.maxBufferedBytes + snapshotBytes;
  };
  /** Room for so many bytes? If not, the reader is too slow and is closed. */
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
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };

  return {
    accountId: deps.accountId,
    terms: deps.terms,
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
    sendEvents(events) {
      if (events.length === 1) sendEvent(events[0] as LiveEvent);
      else
        corked(() => {
          for (const event of events) sendEvent(event);
        });
    },
    corked,
    heartbeat(message) {
      if (closed) return;
      socket.cork(() => {
        socket.ping();
        sendControl(message);
      });
    },
    buffered: () => (closed ? 0 : socket.getBufferedAmount()),
    closeIfSlow() {
      if (!closed) fits(0);
    },
    closeSlow,
    get backpressured() {
      return !closed && socket.getBufferedAmount() > limits.replayHighWaterBytes;
    },
    drained() {
      if (closed || socket.getBufferedAmount() <= limits.replayLowWaterBytes) return Promise.resolve();
      return new Promise((resolve) => waiting.push(resolve));
    },
    subscribe(topic) {
      if (!closed) socket.subscribe(topic);
    },
    unsubscribe(topic) {
      if (!closed) socket.unsubscribe(topic);
    },
    count(priceFeed, bytes) {
      if (priceFeed) usage.priceFeeds += bytes;
      else usage.events += bytes;
    },
    end,
    onDrain() {
      if (waiting.length > 0 && socket.getBufferedAmount() <= limits.replayLowWaterBytes) wake();
    },
    onClose() {
      closed = true;
      wake();
    },
    takeUsage() {
      const taken = usage;
      usage = { events: 0, priceFeeds: 0 };
      return taken;
    },
  };
}
