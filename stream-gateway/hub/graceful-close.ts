/** The used part of the library's socket. */
export interface ClosableSocket {
  getBufferedAmount(): number;
  end(code: number, reason: string): void;
  close(): void;
}

/**
 * Closes a socket after its client has read what is buffered. The library reports a socket as closed when the close frame is queued, from when on nothing
 * counts its buffer or can cut it. Until then this connection counts: in the buffered bytes and in the connections of its plan.
 */
export interface GracefulClose {
  /** Sends the close frame at once if nothing is buffered. False: the client has to read first. */
  begin(code: number, reason: string): boolean;
  /** Call when the library reports that buffered bytes were sent. */
  onDrain(): void;
  /** Drops what is buffered and the connection, without a close frame. */
  cut(): void;
  /** Call when the library reports that the socket is closed. */
  onClose(): void;
}

/** `closingMs`: time that the client has to read what is buffered; then the connection is cut. */
export function createGracefulClose(socket: ClosableSocket, closingMs: number): GracefulClose {
  let closed = false;
  let closing: { readonly code: number; readonly reason: string; readonly timer: NodeJS.Timeout } | null = null;
  const cut = () => {
    if (!closed) socket.close();
  };
  return {
    begin(code, reason) {
      if (socket.getBufferedAmount() === 0) socket.end(code, reason);
      else closing = { code, reason, timer: setTimeout(cut, closingMs).unref() };
      return closed;
    },
    onDrain() {
      if (closing !== null && !closed && socket.getBufferedAmount() === 0) socket.end(closing.code, closing.reason);
    },
    cut,
    onClose() {
      closed = true;
      clearTimeout(closing?.timer);
    },
  };
}
