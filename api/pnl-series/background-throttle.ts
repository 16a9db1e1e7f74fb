import { setTimeout as sleep } from 'node:timers/promises';
import { yieldToEventLoop } from '../../infra/event-loop.js';

/** Waits between two chunks of work. `workedMs`: duration of the last chunk. */
export type YieldPolicy = (workedMs: number) => Promise<void>;

/** Ratio of the pause to the work: a response needs several event-loop iterations, and then rarely waits for a chunk. */
const PAUSE_RATIO = 5;
/** Maximum pause, and so the maximum delay of a request that starts to wait for the work during a pause. */
const MAX_PAUSE_MS = 100;

/** Pauses between chunks of background work, unless `isAwaited` returns true: a request waits for the result. */
export const backgroundThrottle =
  (isAwaited: () => boolean): YieldPolicy =>
  (workedMs) =>
    isAwaited() ? yieldToEventLoop() : sleep(Math.min(MAX_PAUSE_MS, PAUSE_RATIO * workedMs));

/** Longer chunks would delay responses noticeably. */
const MAX_CHUNK_MS = 3;

/** Await between steps of work: yields if the current chunk has lasted long enough. */
export type YieldIfDue = () => Promise<void> | undefined;

/** Creates a YieldIfDue whose first chunk starts now. */
export function createYieldIfDue(policy: YieldPolicy): YieldIfDue {
  let startedMs = performance.now();
  return () => {
    const workedMs = performance.now() - startedMs;
    if (workedMs < MAX_CHUNK_MS) return undefined;
    return policy(workedMs).then(() => {
      startedMs = performance.now();
    });
  };
}
