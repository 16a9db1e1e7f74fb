import type { PlanTerms } from '../../schemas/plans.js';
import type { SessionTable, Verdict } from './session-table.js';
import { DAY_MS, dayOf, timeWithin } from './session-time.js';

/** A connection of this process, or one that asks to be. */
export interface Own {
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
  decide: ((verdict: Verdict) => void) | undefined;
}

/** Connections of this process, and what they and the log's table say about an account together. */
export interface OwnSessions {
  add(session: Own): void;
  /** False when it was not there. */
  delete(session: Own): boolean;
  get(id: string): Own | undefined;
  all(): IterableIterator<Own>;
  full(accountId: string, terms: PlanTerms): boolean;
  usedUp(accountId: string, terms: PlanTerms): boolean;
  /** When the session time of today begins anew. */
  resetsAtMs(): number;
}

export function createOwnSessions(deps: { table: SessionTable; processId: string; nowMs: () => number }): OwnSessions {
  const { table, processId, nowMs } = deps;
  const sessions = new Map<string, Own>();
  const byAccount = new Map<string, Set<Own>>();

  const admittedOf = (accountId: string) => [...(byAccount.get(accountId) ?? [])].filter((own) => own.admitted);
  /** The table's sessions of this process are passed over: some are over already, and some are not there yet. */
  const openOf = (accountId: string): number => {
    let count = admittedOf(accountId).length;
    for (const session of table.ofAccount(accountId)) if (session.processId !== processId) count++;
    return count;
  };
  const usedMs = (accountId: string): number => {
    const now = nowMs();
    const stretches = [...table.past(accountId)];
    for (const { openedMs, seenMs } of table.ofAccount(accountId))
      stretches.push({ fromMs: openedMs, untilMs: seenMs });
    for (const { openedMs } of admittedOf(accountId)) stretches.push({ fromMs: openedMs, untilMs: now });
    return timeWithin(dayOf(now), stretches);
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
    full: (accountId, terms) => terms.eventSockets !== null && openOf(accountId) >= terms.eventSockets,
    usedUp: (accountId, terms) =>
      terms.sessionSecondsPerDay !== null && usedMs(accountId) >= terms.sessionSecondsPerDay * 1000,
    resetsAtMs: () => dayOf(nowMs()) + DAY_MS,
  };
}
