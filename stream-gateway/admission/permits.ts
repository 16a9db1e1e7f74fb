import type { PlanTerms } from '../../schemas/plans.js';
import type { AdmissionResult } from './admission.js';
import type { LocalSession } from './local-sessions.js';
import type { SessionState } from './session-state.js';

/** How long after a plan with fewer connections applies the sessions of other processes may become known. */
const EXCESS_CHECK_MS = 30_000;

/** Connections of such plans have no session in the log. */
export const isUnlimited = (terms: PlanTerms): boolean =>
  terms.eventSockets === null && terms.sessionSecondsPerDay === null;

/** The permits of admitted connections. A change of plan ends the session of a connection and starts another one under the new terms. */
export function createPermits(deps: {
  sessions: Pick<SessionState, 'add' | 'admitLocally' | 'end' | 'endExcess' | 'resetsAtMs'>;
  nowMs: () => number;
}) {
  const { sessions, nowMs } = deps;
  /** Accounts whose number of connections may exceed a lower cap, until Unix ms. */
  const lowered = new Map<string, number>();

  const create = (accountId: string, initial: PlanTerms, first: LocalSession | null): AdmissionResult => {
    const openedMs = first?.openedMs ?? nowMs();
    let session = first;
    let terms = initial;
    let released = false;
    const timeListeners: ((resetsAtMs: number) => void)[] = [];
    const excessListeners: (() => void)[] = [];
    return {
      status: 'ok',
      permit: {
        onSessionTimeExhausted(listener) {
          timeListeners.push(listener);
          if (session?.exhausted === true) listener(sessions.resetsAtMs());
          else session?.listeners.add(listener);
        },
        onExcess(listener) {
          excessListeners.push(listener);
          session?.excessListeners.add(listener);
        },
        setTerms(next) {
          const before = terms;
          terms = next;
          const sameCap = before.eventSockets === next.eventSockets;
          if (released || (sameCap && before.sessionSecondsPerDay === next.sessionSecondsPerDay)) return;
          // The time so far is recorded under the old terms, and time under terms without a limit does not count.
          if (session !== null) sessions.end(session);
          session = null;
          if (isUnlimited(next)) return;
          session = sessions.add(accountId, next, openedMs);
          for (const listener of timeListeners) session.listeners.add(listener);
          for (const listener of excessListeners) session.excessListeners.add(listener);
          sessions.admitLocally(session);
          if (!sameCap) lowered.set(accountId, nowMs() + EXCESS_CHECK_MS);
        },
        release() {
          released = true;
          if (session !== null) sessions.end(session);
        },
      },
    };
  };

  return {
    of: (session: LocalSession): AdmissionResult => create(session.accountId, session.terms, session),
    unlimited: (accountId: string, terms: PlanTerms): AdmissionResult => create(accountId, terms, null),
    /** Closes the newest connections of accounts whose cap was lowered recently. */
    endExcess() {
      const now = nowMs();
      for (const [accountId, untilMs] of lowered) {
        sessions.endExcess(accountId);
        if (untilMs <= now) lowered.delete(accountId);
      }
    },
  };
}
