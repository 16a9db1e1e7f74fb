/** Queue of many writers and one reader: the reader receives all queued items as one batch. */
export interface BatchQueue<T> {
  push(item: T): void;
  /** Batches until the signal aborts; items queued then are delivered before the end. */
  batches(signal: AbortSignal): AsyncIterable<readonly T[]>;
}

export function createBatchQueue<T>(): BatchQueue<T> {
  let waiting: T[] = [];
  let wake: (() => void) | null = null;
  const notify = () => {
    wake?.();
    wake = null;
  };
  return {
    push(item) {
      waiting.push(item);
      notify();
    },
    async *batches(signal) {
      signal.addEventListener('abort', notify);
      try {
        for (;;) {
          if (waiting.length > 0) {
            const batch = waiting;
            waiting = [];
            yield batch;
          } else if (signal.aborted) return;
          else
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
        }
      } finally {
        signal.removeEventListener('abort', notify);
      }
    },
  };
}
