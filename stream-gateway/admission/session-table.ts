import type { ConnectionSession, GatewaySession } from '../../schemas/types.gen.js';
import { durationInDayMs, mergeIntervals, startOfUtcDay, type TimeInterval } from './session-time.js';

export interface Session {
  readonly id: string;
  /** The process that has the connection. */
  readonly processId: string;
  readonly accountId: string;
  readonly cap: number | null;
  readonly timed: boolean;
  readonly openedMs: number;
  /** Since when its time counts, if it is limited. */
  readonly timedFromMs: number;
  readonly seenMs: number;
  /**
   * False: a claim whose outcome this process does not know, because it was read before `markLoaded`. It counts towards the cap until a later record
   * confirms or ends it.
   */
  readonly confirmed: boolean;
}

/** Decision on a claim. `unknown`: it depends on claims whose outcome this process does not know. */
export type AdmissionDecision = 'granted' | 'denied' | 'unknown';

/**
 * Open sessions of all processes, derived from gateway.sessions. Only the order of the partition decides, so all processes reach the same decision
 * on every claim. A session ends by a record, which any process may write; it never ends by time.
 */
export interface SessionTable {
  /** Applies the event of a record. Returns the decision on a claim, undefined for other events. */
  apply(event: GatewaySession): AdmissionDecision | undefined;
  /** Applies the tombstone of a session. */
  remove(sessionId: string): void;
  get(sessionId: string): Session | undefined;
  ofAccount(accountId: string): Iterable<Session>;
  ofProcess(processId: string): readonly Session[];
  /** Intervals in which ended sessions of the account were open. */
  pastIntervals(accountId: string): readonly TimeInterval[];
  addPastInterval(accountId: string, interval: TimeInterval): void;
  /** From now on claims are decided. Until then the table reads retained records, and the decision on a claim is `unknown`. */
  markLoaded(): void;
  /** Removes past intervals that end before the UTC day of `nowMs`. */
  prune(nowMs: number): void;
  readonly size: number;
}

const MAX_INTERVALS = 256;

/**
 * Replaces the older half of the intervals by one interval with the same total duration within the newest UTC day. The list stays bounded, and the
 * duration of that day is exact as long as later intervals do not overlap the replacement.
 */
function compactIntervals(intervals: readonly TimeInterval[]): TimeInterval[] {
  const older = mergeIntervals(intervals);
  const newer = older.splice(older.length / 2);
  const today = startOfUtcDay(newer.at(-1)?.untilMs ?? 0);
  const fromMs = Math.max(today, older[0]?.fromMs ?? today);
  const length = durationInDayMs(today, older);
  return length === 0 ? newer : [{ fromMs, untilMs: fromMs + length }, ...newer];
}

export function createSessionTable(): SessionTable {
  const sessions = new Map<string, Session>();
  const byAccount = new Map<string, Map<string, Session>>();
  const pastIntervalsByAccount = new Map<string, TimeInterval[]>();
  let loading = true;

  const put = (session: Session) => {
    sessions.set(session.id, session);
    const ofAccount = byAccount.get(session.accountId) ?? new Map<string, Session>();
    byAccount.set(session.accountId, ofAccount.set(session.id, session));
  };
  const remove = (sessionId: string) => {
    const session = sessions.get(sessionId);
    if (session === undefined) return;
    sessions.delete(sessionId);
    const ofAccount = byAccount.get(session.accountId);
    ofAccount?.delete(sessionId);
    if (ofAccount?.size === 0) byAccount.delete(session.accountId);
  };
  const addPastInterval = (accountId: string, interval: TimeInterval) => {
    if (interval.untilMs <= interval.fromMs) return;
    const known = pastIntervalsByAccount.get(accountId);
    if (known === undefined) pastIntervalsByAccount.set(accountId, [interval]);
    else {
      known.push(interval);
      if (known.length >= MAX_INTERVALS) pastIntervalsByAccount.set(accountId, compactIntervals(known));
    }
  };

  const decide = ({ account_id: accountId, cap }: ConnectionSession): AdmissionDecision => {
    if (loading) return 'unknown';
    if (cap === null) return 'granted';
    let confirmed = 0;
    let total = 0;
    for (const session of byAccount.get(accountId)?.values() ?? []) {
      total++;
      if (session.confirmed) confirmed++;
    }
    if (total < cap) return 'granted';
    return confirmed >= cap ? 'denied' : 'unknown';
  };

  return {
    apply({ process_id: processId, fact }) {
      if (!('oddstream.ConnectionSession' in fact)) return undefined;
      const session = fact['oddstream.ConnectionSession'];
      const id = session.session_id;
      const known = sessions.get(id);
      const decision = session.stage === 'claim' && known === undefined ? decide(session) : undefined;
      if (session.stage === 'ended') {
        remove(id);
        addPastInterval(session.account_id, {
          fromMs: session.timed_from_ms ?? session.opened_ms,
          untilMs: session.seen_ms,
        });
      } else if (session.stage === 'hold' || (decision !== undefined && decision !== 'denied')) {
        put({
          id,
          processId: known?.processId ?? processId,
          accountId: session.account_id,
          cap: session.cap,
          timed: session.timed,
          openedMs: session.opened_ms,
          timedFromMs: session.timed_from_ms ?? session.opened_ms,
          seenMs: session.seen_ms,
          confirmed: decision !== 'unknown',
        });
      }
      return decision;
    },
    remove,
    get: (sessionId) => sessions.get(sessionId),
    ofAccount: (accountId) => byAccount.get(accountId)?.values() ?? [],
    ofProcess: (processId) => [...sessions.values()].filter((session) => session.processId === processId),
    pastIntervals: (accountId) => pastIntervalsByAccount.get(accountId) ?? [],
    addPastInterval,
    markLoaded() {
      loading = false;
    },
    prune(nowMs) {
      const today = startOfUtcDay(nowMs);
      for (const [accountId, intervals] of pastIntervalsByAccount) {
        const remaining = intervals.filter(({ untilMs }) => untilMs > today);
        if (remaining.length === 0) pastIntervalsByAccount.delete(accountId);
        else if (remaining.length < intervals.length) pastIntervalsByAccount.set(accountId, remaining);
      }
    },
    get size() {
      return sessions.size;
    },
  };
}
