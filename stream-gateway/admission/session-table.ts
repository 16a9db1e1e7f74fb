import type { ConnectionSession, GatewaySession } from '../../schemas/types.gen.js';
import { durationInDayMs, mergeIntervals, startOfUtcDay, type TimeInterval } from './session-time.js';

export interface Session {
  readonly id: string;
  /** Who holds it. */
  readonly processId: string;
  readonly accountId: string;
  readonly cap: number | null;
  readonly timed: boolean;
  readonly openedMs: number;
  readonly seenMs: number;
  /** False: a claim met while reading in, whose outcome is not known here. It counts until it is withdrawn or held. */
  readonly confirmed: boolean;
}

export type AdmissionDecision = 'granted' | 'denied' | 'unknown';

/**
 * The state that gateway.sessions folds to: who is connected. The order of the partition decides, so all processes come to the same verdict on
 * every claim. A session ends with a record that says so, whoever wrote it; time alone ends nothing here.
 */
export interface SessionTable {
  /** Takes a record's event. The verdict of a claim; undefined for all else. */
  apply(event: GatewaySession): AdmissionDecision | undefined;
  /** The record of this session is a tombstone. */
  remove(sessionId: string): void;
  get(sessionId: string): Session | undefined;
  ofAccount(accountId: string): Iterable<Session>;
  ofProcess(processId: string): readonly Session[];
  /** When the account was connected, as far as sessions that are over tell. */
  pastIntervals(accountId: string): readonly TimeInterval[];
  addPastInterval(accountId: string, interval: TimeInterval): void;
  /** From now on claims are decided; before, those that come while the past is read in are not. */
  markLoaded(): void;
  /** Forgets time before the UTC day of `nowMs`. */
  prune(nowMs: number): void;
  readonly size: number;
}

const MAX_INTERVALS = 256;

/** The older half as one stretch of the same length within the newest day: what comes later lies behind it. */
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
    const own = byAccount.get(session.accountId) ?? new Map<string, Session>();
    byAccount.set(session.accountId, own.set(session.id, session));
  };
  const remove = (sessionId: string) => {
    const session = sessions.get(sessionId);
    if (session === undefined) return;
    sessions.delete(sessionId);
    const own = byAccount.get(session.accountId);
    own?.delete(sessionId);
    if (own?.size === 0) byAccount.delete(session.accountId);
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
    let certain = 0;
    let all = 0;
    for (const session of byAccount.get(accountId)?.values() ?? []) {
      all++;
      if (session.confirmed) certain++;
    }
    if (all < cap) return 'granted';
    return certain >= cap ? 'denied' : 'unknown';
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
        addPastInterval(session.account_id, { fromMs: session.opened_ms, untilMs: session.seen_ms });
      } else if (session.stage === 'hold' || (decision !== undefined && decision !== 'denied')) {
        put({
          id,
          processId: known?.processId ?? processId,
          accountId: session.account_id,
          cap: session.cap,
          timed: session.timed,
          openedMs: session.opened_ms,
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
        const kept = intervals.filter(({ untilMs }) => untilMs > today);
        if (kept.length === 0) pastIntervalsByAccount.delete(accountId);
        else if (kept.length < intervals.length) pastIntervalsByAccount.set(accountId, kept);
      }
    },
    get size() {
      return sessions.size;
    },
  };
}
