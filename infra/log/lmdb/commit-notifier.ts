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
  /** Resolves at once if a notification arrived after `sequence()` returned the given value, else on the next notification, poll or abort. */
  waitForCommit(seen: number, signal?: AbortSignal): Promise<void>;
  close(): void;
}

const POLL_MS = 250;
/** Without a working file watch only the poll wakes readers. */
const POLL_WITHOUT_WATCH_MS = 10;
/** Name of the notification file; part of the on-disk layout. */
const FILE = 'bell';
const ONE_BYTE = Buffer.from([1]);

export function createCommitNotifier(deps: { dir: string; logger: Logger }): CommitNotifier {
  const { logger } = deps;
  const file = join(deps.dir, FILE);
  const fd = openSync(file, constants.O_RDWR | constants.O_CREAT, 0o644);
  const waiters = new Set<() => void>();
  let notifications = 0;
  let pollMs = POLL_MS;
  let poll: NodeJS.Timeout | null = null;
  let watcher: FSWatcher | null = null;
  let closed = false;
  let complained = false;

  const wake = () => {
    notifications++;
    const woken = [...waiters];
    waiters.clear();
    for (const waiter of woken) waiter();
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
    waitForCommit(seen, signal) {
      if (closed || seen !== notifications || signal?.aborted) return Promise.resolve();
      startPoll();
      return new Promise((resolve) => {
        const done = () => {
          waiters.delete(done);
          signal?.removeEventListener('abort', done);
          resolve();
        };
        waiters.add(done);
        signal?.addEventListener('abort', done, { once: true });
      });
    },
    close() {
      if (closed) return;
      closed = true;
      watcher?.close();
      stopPoll();
      wake();
      closeSync(fd);
    },
  };
}
