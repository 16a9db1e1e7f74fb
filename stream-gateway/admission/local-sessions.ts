import type { PlanTerms } from '../../schemas/plans.js';
import type { AdmissionDecision, SessionTable } from './session-table.js';
import { DAY_MS, durationInDayMs, startOfUtcDay } from './session-time.js';

/** A connection of this process, or one that asks to be. */
export interface LocalSession {
  readonly id: string;
  readonly accountId: string;
  /** As they were when it was opened. */
  readonly terms: PlanTerms;
  readonly openedMs: number;
  /** When the log was last told. */
  writtenMs: number;
  admitted: boolean;
  exhausted: boolean;
  readonly listeners: Set<(resetsAtMs: number) => void>;
  onDecision: ((decision: AdmissionDecision) => void) | undefined;
}

/** Connections of this process, and what they and the log's table say about an account together. */
export interface LocalSessions {
  add(session: LocalSession): void;
  /** False when it was not there. */
  delete(session: LocalSession): boolean;
  get(id: string): LocalSession | undefined;
  all(): IterableIterator<LocalSession>;
  atCap(accountId: string, terms: PlanTerms): boolean;
  isTimeExhausted(accountId: string, terms: PlanTerms): boolean;
  /** When the session time of today begins anew. */
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

  const admittedOf = (accountId: string) => [...(byAccount.get(accountId) ?? [])].filter((own) => own.admitted);
  /** The table's sessions of this process are passed over: some are over already, and some are not there yet. */
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
      const same = byAccount.get(session.accountId) ?? new Set();
      byAccount.set(session.accountId, same.add(session));
    },
    delete(session) {
      const same = byAccount.get(session.accountId);
      same?.delete(session);
      if (same?.size === 0) byAccount.delete(session.accountId);
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
