import type { Log, RecordBatch, StartAt } from '../../infra/log/port.js';

export interface Input {
  readonly topic: string;
  readonly partition: number;
  readonly from: StartAt;
}

/**
 * Reads several partitions concurrently into one queue until the signal. Every input has at most one batch in the queue, so a slow consumer
 * applies backpressure to the readers. Order is kept per input.
 */
export function createInputQueue(options: { log: Pick<Log, 'read'>; maxRecords: number; signal: AbortSignal }) {
  const { log, maxRecords, signal } = options;
  let waiting: { batch: RecordBatch; taken: () => void }[] = [];
  let wake: () => void = () => undefined;
  signal.addEventListener(
    'abort',
    () => {
      for (const { taken } of waiting) taken();
      wake();
    },
    { once: true },
  );

  return {
    async feed(input: Input): Promise<void> {
      for await (const batch of log.read({ ...input, follow: true, maxRecords, signal })) {
        if (signal.aborted) return;
        await new Promise<void>((resolve) => {
          waiting.push({ batch, taken: resolve });
          wake();
        });
      }
    },
    /** All queued batches, at least one; empty if the signal is aborted first. */
    async take(): Promise<readonly RecordBatch[]> {
      while (waiting.length === 0 && !signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (signal.aborted) return [];
      const taken = waiting;
      waiting = [];
      for (const entry of taken) entry.taken();
      return taken.map((entry) => entry.batch);
    },
  };
}
