import type { Hub } from '../hub/hub.js';
import { parseCursor } from '../protocol/cursor.js';
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

interface SinceDeps {
  readonly hub: Hub;
  readonly recent: RecentEvents;
  readonly history: History;
  readonly lookbackMs: number | null;
  readonly nowMs: () => number;
}

/** As `resolveSinceSeq`, from a seq or a cursor; a cursor of another log is an error. */
export async function resolveSince(
  since: number | string,
  deps: SinceDeps & { epoch: () => string | null },
): Promise<ReplayStart | ProtocolError> {
  if (typeof since === 'number') return resolveSinceSeq(since, deps);
  const cursor = parseCursor(since);
  if (cursor === null) return { code: 'invalid_message', message: `Not a cursor: ${since.slice(0, 100)}` };
  const epoch = deps.epoch();
  if (epoch === null)
    return { code: 'unavailable', message: 'The stream is starting; subscribe again in a few seconds.' };
  if (cursor.epoch !== epoch) {
    const message = `The cursor ${since} is of another log; the epoch of this one is ${epoch}. Start with a snapshot.`;
    return { code: 'cursor_of_another_log', message };
  }
  return resolveSinceSeq(cursor.seq, deps);
}

/**
 * Returns the start of a replay from `sinceSeq`, or an error if the replay would have a gap. A seq older than `lookbackMs` (null: no bound) is clamped to
 * the first event within it. Waits for events that are in the log but not yet in the hub.
 */
async function resolveSinceSeq(sinceSeq: number, deps: SinceDeps): Promise<ReplayStart | ProtocolError> {
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
