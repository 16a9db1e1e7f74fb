import type { WebSocket } from 'uWebSockets.js';
import type { Logger } from '../infra/telemetry/logger.js';

/** Every socket joins it: the library reports the end of the membership before it closes a socket. */
const CLOSING_TOPIC = 'closing';
/** Result of a send that the library dropped. */
const DROPPED = 2;
const FILLER_BYTES = 16 * 1024 * 1024;
const DAY_MS = 24 * 3600_000;

/** Bytes that the library keeps after the close of the socket. */
function unreadOf(socket: WebSocket<unknown>): number {
  try {
    // Without a TCP connection there is no address, and the buffer is freed now.
    return socket.getRemoteAddress().byteLength > 0 ? socket.getBufferedAmount() : 0;
  } catch {
    // The server closes the socket, which is no longer valid: its client has read everything, or it is cut.
    return 0;
  }
}

export interface SocketBounds {
  /** Call when a socket is open. */
  onOpen(socket: WebSocket<unknown>): void;
  /** Call when a socket is closed, with the release of its permit: of a cut socket the permit is released `cutPermitMs` later. */
  onClose(socket: WebSocket<unknown>, releasePermit: () => void): void;
  /** Handlers and options of the library. */
  readonly behavior: {
    readonly maxBackpressure: number;
    readonly closeOnBackpressureLimit: number;
    readonly idleTimeout: number;
    readonly sendPingsAutomatically: false;
    /** Missing in the library's types. */
    dropped(): void;
    subscription(socket: WebSocket<unknown>, topic: ArrayBuffer, newCount: number, oldCount: number): void;
  };
}

/**
 * Bounds what the library buffers. A client may close its connection with bytes unread and keep the TCP connection: the library then reports the
 * socket as closed, has no call to cut it, and keeps the bytes as long as the client reads a little of them in each idle timeout. Up to a bound that is
 * left to the idle timeout. Beyond it, such a socket is filled up to the library's bound of buffered bytes, at which the library cuts it.
 */
export function createSocketBounds(deps: {
  /** Bytes of a socket at which the library drops messages; never reached by an open one. */
  maxBackpressure: number;
  idleTimeoutS: number;
  /** Bytes per day that clients may leave unread when they close their connections. */
  maxUnreadBytes: number;
  cutPermitMs: number;
  /** A message was dropped: the bounds of open connections do not hold. */
  onDropped: () => void;
  logger: Logger;
}): SocketBounds {
  const { maxBackpressure, maxUnreadBytes } = deps;
  let unreadBytes = 0;
  let updatedMs = performance.now();
  let cutting = false;
  const cutSockets = new WeakSet<WebSocket<unknown>>();

  /** False: beyond the bound. */
  const leave = (bytes: number): boolean => {
    const nowMs = performance.now();
    unreadBytes = Math.max(0, unreadBytes - ((nowMs - updatedMs) / DAY_MS) * maxUnreadBytes);
    updatedMs = nowMs;
    if (unreadBytes + bytes > maxUnreadBytes) return false;
    unreadBytes += bytes;
    return true;
  };
  const cut = (socket: WebSocket<unknown>) => {
    const filler = Buffer.alloc(Math.min(FILLER_BYTES, maxBackpressure));
    cutting = true;
    cutSockets.add(socket);
    try {
      // One more send than needed to exceed the bound.
      const sends = Math.ceil(maxBackpressure / filler.length) + 2;
      for (let sent = 0; sent < sends && socket.send(filler, true) !== DROPPED; sent++);
    } finally {
      cutting = false;
    }
  };

  return {
    onOpen(socket) {
      socket.subscribe(CLOSING_TOPIC);
    },
    onClose(socket, releasePermit) {
      if (cutSockets.has(socket)) setTimeout(releasePermit, deps.cutPermitMs).unref();
      else releasePermit();
    },
    behavior: {
      maxBackpressure,
      closeOnBackpressureLimit: 1,
      idleTimeout: deps.idleTimeoutS,
      sendPingsAutomatically: false,
      dropped() {
        if (cutting) return;
        deps.onDropped();
        deps.logger.error('the socket library dropped a message');
      },
      subscription(socket, topic, newCount, oldCount) {
        if (newCount > oldCount || Buffer.from(topic).toString() !== CLOSING_TOPIC) return;
        const bytes = unreadOf(socket);
        if (bytes > 0 && !leave(bytes)) cut(socket);
      },
    },
  };
}
