import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 5;

/**
 * Lowers the priority of this process: on a shared machine an insert or a merge can wait, a frame on its way to a subscriber cannot. Linux keeps
 * it per thread, so those that are there already (libuv's, which run the queries) are lowered one by one; later ones inherit it.
 */
export function lowerProcessPriority(): void {
  const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [process.pid];
  for (const thread of threads) {
    try {
      setPriority(thread, NICENESS);
    } catch {
      // A thread that has ended meanwhile needs no priority.
    }
  }
}
