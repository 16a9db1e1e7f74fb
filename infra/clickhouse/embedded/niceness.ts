import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 5;

/**
 * Lowers the priority of this process: on a shared machine inserts and merges can wait, frames to subscribers cannot. Linux has a
 * priority per thread, so existing threads (libuv's, which run the queries) are lowered one by one; later ones inherit it.
 */
export function lowerProcessPriority(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const thread of threads) {
    try {
      setPriority(thread, NICENESS);
    } catch {
      // The thread has ended meanwhile.
    }
  }
}
