import { setTimeout as sleep } from 'node:timers/promises';
import { yieldToEventLoop } from '../../../infra/event-loop.js';

/** Clock of a recording's playback. */
export interface RecordedClock {
  nowMs(): number;
  /** Resolves when the clock has reached `timeMs`, or immediately when the signal aborts. Never rejects. */
  waitUntil(timeMs: number, signal: AbortSignal): Promise<void>;
}

/** Longest single timer; a longer wait is split so that a change of the system clock is noticed. */
const MAX_TIMER_MS = 30_000;

/**
 * A clock that starts at `startMs` (default: now) and runs `speed` times as fast as the wall clock. With the defaults it is the wall clock.
 */
export function createClock(options: { startMs?: number; speed?: number; now?: () => number } = {}): RecordedClock {
  const now = options.now ?? Date.now;
  const speed = options.speed ?? 1;
  if (!(speed > 0)) throw new RangeError(`Not a clock speed: ${speed}`);
  const realStartMs = now();
  const startMs = options.startMs ?? realStartMs;
  const wall = options.startMs === undefined && speed === 1;
  const nowMs = wall ? now : () => startMs + (now() - realStartMs) * speed;
  return {
    nowMs,
    async waitUntil(timeMs, signal) {
      for (let left = timeMs - nowMs(); left > 0 && !signal.aborted; left = timeMs - nowMs()) {
        await sleep(Math.min(left / speed, MAX_TIMER_MS), undefined, { signal, ref: true }).catch(() => undefined);
      }
    },
  };
}

/** A clock that jumps to the awaited time: a recording is played as fast as it can be read, with reproducible times. */
export function createSteppingClock(startMs: number): RecordedClock {
  let timeMs = startMs;
  return {
    nowMs: () => timeMs,
    async waitUntil(targetMs, signal) {
      await yieldToEventLoop();
      if (!signal.aborted) timeMs = Math.max(timeMs, targetMs);
    },
  };
}
