import type { Hub } from '../hub/hub.js';
import type { ProtocolError } from '../protocol/messages.js';
import type { History } from './history.js';
import type { RecentEvents } from './recent-events.js';

/** How long this process may be behind another one that the client has read from. */
const BEHIND_MS = 2_000;
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Why a replay from that seq cannot be contiguous; null when it can. Waits for events that the log has and the hub has not yet. */
export async function checkSeq(
  sinceSeq: number,
  deps: { hub: Hub; recent: RecentEvents; history: History },
): Promise<ProtocolError | null> {
  const { hub, recent, history } = deps;
  if (sinceSeq > hub.head) {
    const newest = await history.newestSeq();
    if (sinceSeq > Math.max(newest, 0)) {
      const message = `since_seq ${sinceSeq} is in the future: the newest event is ${newest}`;
      return { code: 'since_seq_unavailable', message, newest_seq: newest };
    }
    for (const started = performance.now(); hub.head < sinceSeq && newest >= 0; await pause()) {
      if (performance.now() - started < BEHIND_MS) continue;
      return { code: 'unavailable', message: 'This server is behind the stream; subscribe again in a few seconds.' };
    }
    return null;
  }
  if (recent.floorSeq <= sinceSeq) return null;
  const earliest = (await history.earliest())?.event.seq ?? null;
  if (earliest === null || earliest <= sinceSeq + 1) return null;
  const message = `since_seq ${sinceSeq} is no longer retained: the earliest event is ${earliest}`;
  return { code: 'since_seq_unavailable', message, earliest_seq: earliest };
}
