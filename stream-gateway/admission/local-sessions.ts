import type { PlanTerms } from '../../schemas/plans.js';
import type { AdmissionDecision, SessionTable } from './session-table.js';
import { DAY_MS, durationInDayMs, startOfUtcDay } from './session-time.js';

/** A connection of this process, or a pending request for one. */
export interface LocalSession {
  readonly id: string;
  readonly accountId: string;
  /** Terms at connect time. */
  readonly terms: PlanTerms;
  readonly openedMs: number;
  /** Unix ms of its newest record in the log. */
  writtenMs: number;
  admitted: boolean;
  exhausted: boolean;
  readonly listeners: Set<(resetsAtMs: number) => void>;
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
    for (const { openedMs, seenMs } of table.ofAccount(accountId))
      intervals.push({ fromMs: openedMs, untilMs: seenMs });
    for (const { openedMs } of admittedOf(accountId)) intervals.push({ fromMs: openedMs, untilMs: now });
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
    resetsAtMs: () => startOfUtcDay(nowMs()) + DAY_MS,
  };
}
