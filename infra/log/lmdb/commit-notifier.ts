import { closeSync, constants, type FSWatcher, openSync, watch, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../telemetry/logger.js';

/**
 * Wakes readers when any process has committed. Writers write one byte of the file `bell` after a commit; the kernel notifies every
 * process that watches it. A slow poll backs the file watch, which may lose events.
 */
export interface CommitNotifier {
  /** Notify all processes, this one included. */
  notify(): void;
  /** Counter of notifications seen. Read it before reading the log. */
  sequence(): number;
  /**
   * Resolves at once if a notification arrived after `sequence()` returned the given value; else at the first notification or poll at
   * which `isDue` is true, or on abort.
   */
  waitForCommit(seen: number, isDue: () => boolean, signal?: AbortSignal): Promise<void>;
  close(): void;
}

const POLL_MS = 250;
/** Without a working file watch only the poll wakes readers. */
const POLL_WITHOUT_WATCH_MS = 10;
/** Name of the notification file; part of the on-disk layout. */
const FILE = 'bell';
const ONE_BYTE = Buffer.from([1]);

export function createCommitNotifier(deps: {
  dir: string;
  logger: Logger;
  /** Runs the checks of all waiters on one snapshot of the log. */
  snapshot: (checks: () => void) => void;
}): CommitNotifier {
  const { logger } = deps;
  const file = join(deps.dir, FILE);
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o644);
  const waiters = new Map<() => void, () => boolean>();
  let notifications = 0;
  let pollMs = POLL_MS;
  let poll: NodeJS.Timeout | null = null;
  let watcher: FSWatcher | null = null;
  let closed = false;
  let complained = false;

  const wakeAll = () => {
    for (const resolve of [...waiters.keys()]) resolve();
  };
  const wake = () => {
    notifications++;
    if (waiters.size === 0) return;
    try {
      deps.snapshot(() => {
        for (const [resolve, isDue] of waiters) if (isDue()) resolve();
      });
    } catch {
      // Each waiter's own read reports the error.
      wakeAll();
    }
  };
  const watchFailed = (error: unknown) => {
    watcher?.close();
    watcher = null;
    pollMs = POLL_WITHOUT_WATCH_MS;
    logger.warn({ err: error, pollMs }, 'cannot watch the log for changes, polling instead');
  };
  try {
    watcher = watch(file, { persistent: false }, wake);
    watcher.on('error', watchFailed);
  } catch (error) {
    watchFailed(error);
  }
  const startPoll = () => {
    poll ??= setInterval(() => {
      if (waiters.size === 0) stopPoll();
      else wake();
    }, pollMs);
  };
  const stopPoll = () => {
    if (poll !== null) clearInterval(poll);
    poll = null;
  };

  return {
    notify() {
      wake();
      try {
        writeSync(fd, ONE_BYTE, 0, 1, 0);
      } catch (error) {
        if (!complained)
          logger.warn({ err: error }, 'cannot notify other processes of commits; their readers fall back to polling');
        complained = true;
      }
    },
    sequence: () => notifications,
    waitForCommit(seen, isDue, signal) {
      if (closed || seen !== notifications || signal?.aborted) return Promise.resolve();
      startPoll();
      return new Promise((resolve) => {
        const done = () => {
          waiters.delete(done);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        waiters.set(done, isDue);
        signal?.addEventListener('abort', done, { once: true });
      });
    },
    close() {
      if (closed) return;
      closed = true;
      watcher?.close();
      stopPoll();
      notifications++;
      wakeAll();
      closeSync(fd);
    },
  };
}
