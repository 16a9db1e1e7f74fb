import type { NewRecord } from '../../infra/log/port.js';
import type { SourceLog } from './owned-log.js';

/** Appends to one topic in call order; records added during an append are batched into the next append. */
export interface Appender {
  /** Resolves when the records are durable. After a failed append every later call rejects with the same error. */
  add(records: readonly NewRecord[]): Promise<void>;
  /** Resolves when everything added so far is durable. */
  drained(): Promise<void>;
  /** Number of records accepted and not yet durable. */
  readonly waiting: number;
}

export function createAppender(options: { log: SourceLog; topic: string }): Appender {
  let queue: NewRecord[] = [];
  let next: Promise<void> | null = null;
  let current: Promise<void> = Promise.resolve();
  let waiting = 0;

  const flush = async () => {
    const batch = queue;
    queue = [];
    next = null;
    await options.log.append(options.topic, batch);
    waiting -= batch.length;
  };
  return {
    add(records) {
      if (records.length === 0) return current;
      for (const record of records) queue.push(record);
      waiting += records.length;
      if (next === null) {
        next = current.then(flush);
        current = next;
      }
      return next;
    },
    drained: () => current,
    get waiting() {
      return waiting;
    },
  };
}
