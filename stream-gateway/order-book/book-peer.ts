import { deflateRawSync } from 'node:zlib';
import type { PlanTerms } from '../../schemas/plans.js';
import { type ClosableSocket, createGracefulClose } from '../hub/graceful-close.js';
import type { Encoding } from '../hub/native-topics.js';
import { type CloseReason, closeReasons } from './close-reasons.js';

/** The used part of the library's socket. No call is allowed after it is closed. */
export interface RawSocket extends ClosableSocket {
  send(message: string | Buffer, isBinary?: boolean, compress?: boolean): number;
  ping(payload: string): number;
}

export interface BookPeerLimits {
  /** Bound of the bytes buffered for one connection; a batch of all books fits. */
  readonly maxBufferedBytes: number;
  /** Snapshots pause while more bytes than this are buffered. */
  readonly highWaterBytes: number;
}

export const defaultBookPeerLimits: BookPeerLimits = {
  maxBufferedBytes: 32 * 1024 * 1024,
  highWaterBytes: 1024 * 1024,
};

/** Four bytes: see the event socket's peer. */
const PING_PAYLOAD = 'ping';
/** Frames below are not worth the permessage-deflate extension. */
const MIN_COMPRESSED_BYTES = 1_024;

export interface BookPeerTotals {
  controlFrames: number;
  controlBytes: number;
  dataFrames: number;
  dataBytes: number;
  slowCloses: number;
}

/** The text of a frame and, once a receiver needs it, its compressed form, which receivers of the same frame share. */
export interface DataFrame {
  readonly text: Buffer;
  readonly deflated: () => Buffer;
}
export function dataFrame(text: string): DataFrame {
  const bytes = Buffer.from(text, 'utf8');
  let deflated: Buffer | undefined;
  return {
    text: bytes,
    deflated() {
      deflated ??= deflateRawSync(bytes, { level: 1 });
      return deflated;
    },
  };
}

/** One connection with metered and bounded sends. Sends after the beginning of its close do nothing. */
export interface BookPeer {
  readonly accountId: string;
  readonly keyHash: string;
  readonly terms: PlanTerms;
  setTerms(terms: PlanTerms): void;
  /** True from the beginning of the close: nothing more is sent. */
  readonly closed: boolean;
  sendControl(message: object): void;
  /** Books and batches: metered, and compressed if the client requested it. */
  sendData(frame: DataFrame): void;
  ping(): void;
  buffered(): number;
  readonly backpressured: boolean;
  /** Closes the connection as a slow reader if its buffered bytes exceed the bound. */
  closeIfSlow(): void;
  /** Closes the connection as a slow reader; one that is being closed is cut. */
  closeSlow(): void;
  end(closing: CloseReason): void;
  /** Call when the library reports that buffered bytes were sent. */
  onDrain(): void;
  /** Call when the library reports that the socket is closed. */
  onClose(): void;
  /** Returns the data bytes since the last call. */
  takeUsage(): number;
}

export function createBookPeer(deps: {
  socket: RawSocket;
  accountId: string;
  keyHash: string;
  terms: PlanTerms;
  encoding: Encoding;
  limits: BookPeerLimits;
  totals: BookPeerTotals;
  /** Called before a slow reader is closed. */
  onSlow?: () => void;
  /** Time that the client has to read what is buffered when the connection is closed. */
  closingMs: number;
  /** Called when the connection is being closed but its client has to read what is buffered first; the subscription must end now. */
  onClosing: () => void;
}): BookPeer {
  const { socket, encoding, limits, totals } = deps;
  let { terms } = deps;
  const closing = createGracefulClose(socket, deps.closingMs);
  let closed = false;
  /** The library no longer has the socket. */
  let gone = false;
  let usage = 0;

  const end = (why: CloseReason) => {
    if (closed) return;
    closed = true;
    const { code, reason } = closeReasons[why];
    if (!closing.begin(code, reason)) deps.onClosing();
  };
  const closeSlow = () => {
    if (closed) return closing.cut();
    totals.slowCloses++;
    deps.onSlow?.();
    end('slowConsumer');
  };
  const fits = (size: number): boolean => {
    const buffered = socket.getBufferedAmount();
    if (buffered === 0 || buffered + size <= limits.maxBufferedBytes) return true;
    closeSlow();
    return false;
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
    get closed() {
      return closed;
    },
    sendControl(message) {
      if (closed) return;
      const text = JSON.stringify(message);
      socket.send(text, false);
      totals.controlFrames++;
      totals.controlBytes += Buffer.byteLength(text);
    },
    sendData(frame) {
      if (closed) return;
      const message = encoding === 'text' ? frame.text : frame.deflated();
      if (!fits(message.length)) return;
      socket.send(message, encoding === 'deflated', encoding === 'text' && message.length >= MIN_COMPRESSED_BYTES);
      totals.dataFrames++;
      totals.dataBytes += message.length;
      usage += message.length;
    },
    ping() {
      if (!closed) socket.ping(PING_PAYLOAD);
    },
    buffered: () => (gone ? 0 : socket.getBufferedAmount()),
    get backpressured() {
      return !closed && socket.getBufferedAmount() > limits.highWaterBytes;
    },
    closeIfSlow() {
      if (!closed) fits(0);
    },
    closeSlow,
    end,
    onDrain: closing.onDrain,
    onClose() {
      closed = true;
      gone = true;
      closing.onClose();
    },
    takeUsage() {
      const taken = usage;
      usage = 0;
      return taken;
    },
  };
}
