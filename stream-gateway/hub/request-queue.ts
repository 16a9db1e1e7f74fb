import { yieldToEventLoop } from '../../infra/event-loop.js';
/** What a client may send ahead of the answers. */
export interface PendingLimits {
  readonly frames: number;
  readonly bytes: number;
}

export interface RequestQueue {
  /** false: too much waits already; it was not taken. */
  push(handle: () => Promise<void> | void, bytes: number): boolean;
  /** Resolves when everything that has come is answered. */
  idle(): Promise<void>;
  close(): void;
}

/** Messages of one connection, answered one after the other in the order they came, with a bound on what waits. */
export function createRequestQueue(deps: { limits: PendingLimits; onError: (error: unknown) => void }): RequestQueue {
  const { limits } = deps;
  const waiting: { readonly handle: () => Promise<void> | void; readonly bytes: number }[] = [];
  let waitingBytes = 0;
  let running: Promise<void> | null = null;
  let closed = false;

  const run = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined && !closed; next = waiting.shift()) {
      waitingBytes -= next.bytes;
      try {
        await next.handle();
      } catch (error) {
        deps.onError(error);
      }
    }
    running = null;
  };

  return {
    push(handle, bytes) {
      if (closed) return true;
      if (waiting.length >= limits.frames || waitingBytes + bytes > limits.bytes) return false;
      waiting.push({ handle, bytes });
      waitingBytes += bytes;
      running ??= run();
      return true;
    },
    async idle() {
      // Messages that came in one packet are handed over within one turn of the loop.
      await yieldToEventLoop();
      while (running !== null) await running;
    },
    close() {
      closed = true;
      waiting.length = 0;
    },
  };
}
