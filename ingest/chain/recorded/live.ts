import type { RecordedClock } from '../../shared/recorded/clock.js';
import type { LiveEvent } from '../source.js';
import { headAt, timeOfBlock } from './block-clock.js';
import type { RecordedTail } from './tail.js';

/** Number of blocks between the head and the finalised block. */
export const FINAL_DEPTH = 2;

/** When the playback is later than this many blocks, blocks are skipped. */
const MAX_LAG_BLOCKS = 300;

interface ScheduledEvent {
  readonly atMs: number;
  readonly event: (seenAtMs: number) => LiveEvent;
}

/**
 * Plays the tail by the clock: every settlement before its block, a head every two seconds, and the finalised block. Ends with the signal,
 * or when the clock has passed `untilMs`.
 */
export async function* replayLive(deps: {
  tail: RecordedTail;
  clock: RecordedClock;
  untilMs: number;
  signal: AbortSignal;
}): AsyncGenerator<LiveEvent> {
  const { tail, clock, untilMs, signal } = deps;
  const first = headAt(clock.nowMs() / 1000);
  const upcoming: ScheduledEvent[] = [];
  let planned = first - 1;
  /** Pending settlements of a block may precede the previous head, so two blocks are scheduled ahead. */
  const plan = (number: number) => {
    const blockMs = timeOfBlock(number) * 1000;
    for (const { transaction, leadMs } of tail.pending(number)) {
      // Settlements of the first block are history.
      if (number === first) continue;
      upcoming.push({ atMs: blockMs - leadMs, event: (seenAtMs) => ({ type: 'pending', transaction, seenAtMs }) });
    }
    upcoming.push({
      atMs: blockMs,
      event: (seenAtMs) => ({ type: 'head', block: tail.block(number, false), seenAtMs }),
    });
    upcoming.push({ atMs: blockMs, event: () => ({ type: 'finalized', number: number - FINAL_DEPTH }) });
    upcoming.sort((a, b) => a.atMs - b.atMs);
  };
  while (!signal.aborted) {
    const head = headAt(clock.nowMs() / 1000);
    if (head - planned > MAX_LAG_BLOCKS) {
      // The clock jumped: the reader requests the missing blocks by number.
      upcoming.length = 0;
      planned = head - 1;
    }
    while (planned < head + 3 || upcoming.length === 0) {
      planned += 1;
      plan(planned);
    }
    const next = upcoming.shift()!;
    if (next.atMs > untilMs) {
      await clock.waitUntil(untilMs, signal);
      return;
    }
    await clock.waitUntil(next.atMs, signal);
    if (signal.aborted) return;
    yield next.event(Math.max(next.atMs, Math.floor(clock.nowMs())));
  }
}
