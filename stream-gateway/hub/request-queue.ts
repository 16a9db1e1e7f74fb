import { yieldToEventLoop } from '../../infra/event-loop.js';
/** Bounds of the messages of a client that wait to be handled. */
export interface PendingLimits {
  readonly frames: number;
  readonly bytes: number;
}

export interface RequestQueue {
  /** False if a bound is reached; the message is then not queued. */
  push(handle: () => Promise<void> | void, bytes: number): boolean;
  /** Resolves when all received messages are handled. */
  idle(): Promise<void>;
  close(): void;
}

/** Handles the messages of one connection one after the other in order of arrival. */
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
      // The library delivers all messages of one packet within one event-loop iteration.
      await yieldToEventLoop();
      while (running !== null) await running;
    },
    close() {
      closed = true;
      waiting.length = 0;
    },
  };
}
