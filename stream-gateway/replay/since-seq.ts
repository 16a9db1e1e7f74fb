import type { Hub } from '../hub/hub.js';
import type { ProtocolError } from '../protocol/messages.js';
import type { History } from './history.js';
import type { RecentEvents } from './recent-events.js';

/** Longest wait for this process to reach a seq that the client has received from another process. */
const CATCH_UP_TIMEOUT_MS = 2_000;
const pollDelay = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Start of a replay. */
export interface ReplayStart {
  /** Events with a greater seq are sent. */
  readonly afterSeq: number;
  readonly warnings: readonly string[];
}

/**
 * Returns the start of a replay from `sinceSeq`, or an error if the replay would have a gap. A seq older than `lookbackMs` (null: no bound) is clamped to
 * the first event within it. Waits for events that are in the log but not yet in the hub.
 */
export async function resolveSinceSeq(
  sinceSeq: number,
  deps: { hub: Hub; recent: RecentEvents; history: History; lookbackMs: number | null; nowMs: () => number },
): Promise<ReplayStart | ProtocolError> {
  const { hub, recent, history, lookbackMs } = deps;
  const requested: ReplayStart = { afterSeq: sinceSeq, warnings: [] };
  if (sinceSeq > hub.head) {
    const newest = await history.newestSeq();
    if (sinceSeq > Math.max(newest, 0)) {
      const message = `since_seq ${sinceSeq} is in the future: the newest event is ${newest}`;
      return { code: 'since_seq_unavailable', message, newest_seq: newest };
    }
    for (const started = performance.now(); hub.head < sinceSeq && newest >= 0; await pollDelay()) {
      if (performance.now() - started < CATCH_UP_TIMEOUT_MS) continue;
      return { code: 'unavailable', message: 'This server is behind the stream; subscribe again in a few seconds.' };
    }
    return requested;
  }
  if (lookbackMs !== null && sinceSeq < hub.head) {
    const offset = await history.offsetAfterTime(deps.nowMs() - lookbackMs);
    const first = (await history.firstAt(offset))?.event.seq ?? hub.head + 1;
    if (first > sinceSeq + 1) {
      const warning = `since_seq clamped to the last ${lookbackMs / 1000} s of your plan: the replay begins at seq ${first}`;
      return { afterSeq: first - 1, warnings: [warning] };
    }
  }
  if (recent.floorSeq <= sinceSeq) return requested;
  const earliest = (await history.earliest())?.event.seq ?? null;
  if (earliest === null || earliest <= sinceSeq + 1) return requested;
  const message = `since_seq ${sinceSeq} is no longer retained: the earliest event is ${earliest}`;
  return { code: 'since_seq_unavailable', message, earliest_seq: earliest };
}
