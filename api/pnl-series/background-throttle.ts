import { setTimeout as sleep } from 'node:timers/promises';
import { yieldToEventLoop } from '../../infra/event-loop.js';

/** Waits between two pieces of work; `workedMs`: how long the last one took. */
export type YieldPolicy = (workedMs: number) => Promise<void>;

/** Five times as long as the work took: an answer goes through the event loop several times, and seldom meets a piece of such work there. */
const REST_RATIO = 5;
/** Whoever begins to wait meanwhile waits for this at most. */
const MAX_REST_MS = 100;

/** Nobody waits, unless `isAwaited` says so by now. */
export const backgroundThrottle =
  (isAwaited: () => boolean): YieldPolicy =>
  (workedMs) =>
    isAwaited() ? yieldToEventLoop() : sleep(Math.min(MAX_REST_MS, REST_RATIO * workedMs));

/** Longer pieces of work are felt by answers. */
const MAX_CHUNK_MS = 3;

/** To be awaited between steps of work of any length: gives others their turn when they came to a piece. */
export type YieldIfDue = () => Promise<void> | undefined;

/** Time begins now. */
export function createYieldIfDue(pace: YieldPolicy): YieldIfDue {
  let beganMs = performance.now();
  return () => {
    const workedMs = performance.now() - beganMs;
    if (workedMs < MAX_CHUNK_MS) return undefined;
    return pace(workedMs).then(() => {
      beganMs = performance.now();
    });
  };
}
