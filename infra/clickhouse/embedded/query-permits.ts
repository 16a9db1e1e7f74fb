import { ServerException } from './errors.js';

/** A permit to run one query; `index` (0..capacity-1) is unique among the permits in use. */
export interface QueryPermit {
  readonly index: number;
  release(): void;
}

/** A counting semaphore with a bounded FIFO queue. */
export interface QueryPermits {
  readonly running: number;
  readonly waiting: number;
  /** Waits for a permit, first in first out; rejects when `signal` aborts, and with code 202 when the queue is full or the wait timed out. */
  acquire(signal: AbortSignal): Promise<QueryPermit>;
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>;
}

export function createQueryPermits(options: {
  capacity: number;
  maxWaiting: number;
  /** Longest wait; undefined: until the client aborts. */
  maxWaitMs?: number;
  /** Added to the error of code 202: what the caller can do. */
  hint?: string;
}): QueryPermits {
  const free = Array.from({ length: options.capacity }, (_, i) => options.capacity - 1 - i);
  const queue: { readonly grant: (permit: QueryPermit) => void }[] = [];
  let idleWaiters: (() => void)[] = [];

  const tooMany = () => {
    const { capacity, maxWaiting, maxWaitMs } = options;
    const wait = maxWaitMs === undefined ? '' : ` for at most ${maxWaitMs / 1000} s`;
    const text = `Too many simultaneous queries. Maximum: ${capacity} running, ${maxWaiting} waiting${wait}.${options.hint ?? ''}`;
    return new ServerException(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', text);
  };

  const createPermit = (index: number): QueryPermit => {
    let released = false;
    return {
      index,
      release: () => {
        if (released) return;
        released = true;
        const next = queue.shift();
        if (next !== undefined) return next.grant(createPermit(index));
        free.push(index);
        if (free.length === options.capacity) {
          const waiters = idleWaiters;
          idleWaiters = [];
          for (const resolve of waiters) resolve();
        }
      },
    };
  };

  return {
    get running() {
      return options.capacity - free.length;
    },
    get waiting() {
      return queue.length;
    },
    acquire: (signal) => {
      if (signal.aborted) return Promise.reject(signal.reason);
      const index = free.pop();
      if (index !== undefined) return Promise.resolve(createPermit(index));
      if (queue.length >= options.maxWaiting) {
        return Promise.reject(tooMany());
      }
      return new Promise((resolve, reject) => {
        const entry = {
          grant: (permit: QueryPermit) => {
            clearTimeout(timer);
            signal.removeEventListener('abort', leave);
            resolve(permit);
          },
        };
        const leave = () => {
          clearTimeout(timer);
          signal.removeEventListener('abort', leave);
          queue.splice(queue.indexOf(entry), 1);
          reject(signal.aborted ? signal.reason : tooMany());
        };
        const timer = options.maxWaitMs === undefined ? undefined : setTimeout(leave, options.maxWaitMs);
        signal.addEventListener('abort', leave, { once: true });
        queue.push(entry);
      });
    },
    idle: () =>
      free.length === options.capacity ? Promise.resolve() : new Promise((resolve) => idleWaiters.push(resolve)),
  };
}
