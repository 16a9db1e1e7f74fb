import type { PlanTerms } from '../../schemas/plans.js';
import type { AdmissionDecision, SessionTable } from './session-table.js';
import { DAY_MS, durationInDayMs, startOfUtcDay } from './session-time.js';

/** A connection of this process, or a pending request for one. */
export interface LocalSession {
  readonly id: string;
  readonly accountId: string;
  terms: PlanTerms;
  /** Unix ms at which the connection was opened. */
  readonly openedMs: number;
  /** Unix ms since which its time counts. */
  readonly timedFromMs: number;
  /** Unix ms of its newest record in the log. */
  writtenMs: number;
  admitted: boolean;
  exhausted: boolean;
  readonly listeners: Set<(resetsAtMs: number) => void>;
  readonly excessListeners: Set<() => void>;
  onDecision: ((decision: AdmissionDecision) => void) | undefined;
}

/** Connections of this process, and the limits of an account computed from them and the session table. */
export interface LocalSessions {
  add(session: LocalSession): void;
  /** False if the session was already deleted. */
  delete(session: LocalSession): boolean;
  get(id: string): LocalSession | undefined;
  all(): IterableIterator<LocalSession>;
  atCap(accountId: string, terms: PlanTerms): boolean;
  isTimeExhausted(accountId: string, terms: PlanTerms): boolean;
  /** Admitted sessions of this process beyond the cap, counted from the oldest session of all processes. */
  beyondCap(accountId: string, cap: number): readonly LocalSession[];
  /** Unix ms of the next UTC midnight, when session time resets. */
  resetsAtMs(): number;
}

export function createLocalSessions(deps: {
  table: SessionTable;
  processId: string;
  nowMs: () => number;
}): LocalSessions {
  const { table, processId, nowMs } = deps;
  const sessions = new Map<string, LocalSession>();
  const byAccount = new Map<string, Set<LocalSession>>();

  const admittedOf = (accountId: string) => [...(byAccount.get(accountId) ?? [])].filter(({ admitted }) => admitted);
  /** Skips the table's sessions of this process: the table lags behind `sessions`, so some have ended and some are missing. */
  const openOf = (accountId: string): number => {
    let count = admittedOf(accountId).length;
    for (const session of table.ofAccount(accountId)) if (session.processId !== processId) count++;
    return count;
  };
  const usedMs = (accountId: string): number => {
    const now = nowMs();
    const intervals = [...table.pastIntervals(accountId)];
    for (const { timed, timedFromMs, seenMs } of table.ofAccount(accountId))
      if (timed) intervals.push({ fromMs: timedFromMs, untilMs: seenMs });
    for (const { terms, timedFromMs } of admittedOf(accountId))
      if (terms.sessionSecondsPerDay !== null) intervals.push({ fromMs: timedFromMs, untilMs: now });
    return durationInDayMs(startOfUtcDay(now), intervals);
  };

  return {
    add(session) {
      sessions.set(session.id, session);
      const ofAccount = byAccount.get(session.accountId) ?? new Set();
      byAccount.set(session.accountId, ofAccount.add(session));
    },
    delete(session) {
      const ofAccount = byAccount.get(session.accountId);
      ofAccount?.delete(session);
      if (ofAccount?.size === 0) byAccount.delete(session.accountId);
      return sessions.delete(session.id);
    },
    get: (id) => sessions.get(id),
    all: () => sessions.values(),
    atCap: (accountId, terms) => terms.eventSockets !== null && openOf(accountId) >= terms.eventSockets,
    isTimeExhausted: (accountId, terms) =>
      terms.sessionSecondsPerDay !== null && usedMs(accountId) >= terms.sessionSecondsPerDay * 1000,
    beyondCap(accountId, cap) {
      const open: { readonly id: string; readonly openedMs: number; readonly local?: LocalSession }[] = [
        ...admittedOf(accountId).map((local) => ({ id: local.id, openedMs: local.openedMs, local })),
        ...[...table.ofAccount(accountId)].filter((session) => session.processId !== processId),
      ];
      // One order in all processes: a session beyond the cap of the sessions that one process knows is beyond that of all sessions.
      open.sort((a, b) => a.openedMs - b.openedMs || (a.id < b.id ? -1 : 1));
      return open.slice(cap).flatMap(({ local }) => local ?? []);
    },
    resetsAtMs: () => startOfUtcDay(nowMs()) + DAY_MS,
  };
}
