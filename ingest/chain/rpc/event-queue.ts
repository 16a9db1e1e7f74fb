/** Passes events from callbacks to a `for await` loop, in order. */
export interface EventQueue<T> {
  push(event: T): void;
  /** Ends the iteration after the queued events. */
  end(error?: unknown): void;
  [Symbol.asyncIterator](): AsyncIterator<T>;
}

export function createEventQueue<T>(): EventQueue<T> {
  let events: T[] = [];
  let ended: { readonly error?: unknown } | null = null;
  let wake: () => void = () => undefined;
  return {
    push(event) {
      if (ended !== null) return;
      events.push(event);
      wake();
    },
    end(error) {
      ended ??= { error };
      wake();
    },
    async *[Symbol.asyncIterator]() {
      while (true) {
        const batch = events;
        events = [];
        yield* batch;
        if (events.length > 0) continue;
        if (ended !== null) {
          if (ended.error !== undefined) throw ended.error;
          return;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
