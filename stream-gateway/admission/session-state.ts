import type { PlanTerms } from '../../schemas/plans.js';
import type { ConnectionSession, GatewaySession, SessionStage } from '../../schemas/types.gen.js';
import { createLocalSessions, type LocalSession } from './local-sessions.js';
import { type AdmissionDecision, createSessionTable } from './session-table.js';
import { type SessionWriter, sessionKey } from './session-writer.js';

/**
 * Longest time between two records of a session whose time is limited. A killed process loses or adds at most this plus one heartbeat interval of
 * its connections' session time.
 */
const SESSION_TIME_WRITE_INTERVAL_MS = 3_000;
/** Interval at which a session without a time limit is written again; far below the retention of gateway.sessions. */
const RENEW_INTERVAL_MS = 3_600_000;

/** Sessions of all gateway processes as gateway.sessions records them, and the records that this process writes about them. */
export interface SessionState {
  /** Applies one record of gateway.sessions to the table and resolves the pending decision of a local session. */
  apply(event: GatewaySession): void;
  /** Applies the tombstone of a session. */
  applyTombstone(sessionId: string): void;
  /** Call once, when the retained records have been applied: from then on the table decides on claims. */
  markLoaded(): void;
  /** Adds a session of this process that is not admitted yet; it does not count towards the cap. `openedMs`: default now. Its time counts from now. */
  add(accountId: string, terms: PlanTerms, openedMs?: number): LocalSession;
  /** Writes a claim and waits for the log's decision; undefined if it does not arrive within the timeout. */
  requestDecision(session: LocalSession, timeoutMs: number): Promise<AdmissionDecision | undefined>;
  /** Admits a session without the log's decision and writes it as open. */
  admitLocally(session: LocalSession): void;
  /** Removes a local session and writes its end. Safe to repeat. */
  end(session: LocalSession): void;
  endAll(): void;
  /** Writes the end of every session of another process. Returns their number. */
  endSessionsOf(processId: string): number;
  /** Writes local sessions again whose last record is older than their write interval; removes session time of past UTC days. */
  renew(): void;
  /** Notifies the listeners of local sessions whose account has used up its session time. */
  checkSessionTime(): void;
  /** Calls the excess listeners of the newest local sessions beyond the current cap of an account. */
  endExcess(accountId: string): void;
  atCap(accountId: string, terms: PlanTerms): boolean;
  isTimeExhausted(accountId: string, terms: PlanTerms): boolean;
  /** Unix ms of the next UTC midnight, when session time resets. */
  resetsAtMs(): number;
  /** Open sessions of all processes. */
  readonly size: number;
}

export function createSessionState(deps: {
  writer: Pick<SessionWriter, 'write'>;
  processId: string;
  /** Current terms of an account; undefined: the terms at connect time apply. */
  termsOf: ((accountId: string) => PlanTerms | undefined) | undefined;
  nowMs: () => number;
}): SessionState {
  const { writer, processId, nowMs } = deps;
  const table = createSessionTable();
  const localSessions = createLocalSessions({ table, processId, nowMs });
  let opened = 0;

  const write = (session: LocalSession, stage: SessionStage, seenMs: number) => {
    session.writtenMs = seenMs;
    writer.write(sessionKey(session.id), {
      'oddstream.ConnectionSession': {
        session_id: session.id,
        account_id: session.accountId,
        stage,
        cap: session.terms.eventSockets,
        timed: session.terms.sessionSecondsPerDay !== null,
        opened_ms: session.openedMs,
        seen_ms: Math.max(session.timedFromMs, seenMs),
        timed_from_ms: session.timedFromMs === session.openedMs ? null : session.timedFromMs,
      },
    });
  };

  /** Needed when another process ended the session as expired, or when the log's decision arrived after the local fallback. */
  const reassert = (sessionId: string) => {
    const session = localSessions.get(sessionId);
    if (session?.admitted === true && table.get(sessionId) === undefined) write(session, 'hold', nowMs());
  };

  const end = (session: LocalSession) => {
    if (!localSessions.delete(session)) return;
    if (session.admitted && session.terms.sessionSecondsPerDay !== null) {
      const now = nowMs();
      table.addPastInterval(session.accountId, { fromMs: session.timedFromMs, untilMs: now });
      write(session, 'ended', now);
    } else writer.write(sessionKey(session.id), null);
  };

  return {
    apply(event) {
      const decision = table.apply(event);
      if (!('oddstream.ConnectionSession' in event.fact)) return;
      const sessionId = event.fact['oddstream.ConnectionSession'].session_id;
      if (decision !== undefined) localSessions.get(sessionId)?.onDecision?.(decision);
      reassert(sessionId);
    },
    applyTombstone(sessionId) {
      table.remove(sessionId);
      reassert(sessionId);
    },
    markLoaded: table.markLoaded,
    add(accountId, terms, openedMs) {
      const now = nowMs();
      const session: LocalSession = {
        id: `${processId}/${++opened}`,
        accountId,
        terms,
        openedMs: openedMs ?? now,
        timedFromMs: now,
        writtenMs: 0,
        admitted: false,
        exhausted: false,
        listeners: new Set(),
        excessListeners: new Set(),
        onDecision: undefined,
      };
      localSessions.add(session);
      return session;
    },
    requestDecision: (session, timeoutMs) =>
      new Promise((resolve) => {
        const settle = (decision: AdmissionDecision | undefined) => {
          clearTimeout(timer);
          session.onDecision = undefined;
          resolve(decision);
        };
        const timer = setTimeout(() => settle(undefined), timeoutMs);
        session.onDecision = (decision) => {
          session.admitted = decision === 'granted';
          settle(decision);
        };
        write(session, 'claim', session.openedMs);
      }),
    admitLocally(session) {
      session.admitted = true;
      write(session, 'hold', nowMs());
    },
    end,
    endAll() {
      for (const session of [...localSessions.all()]) end(session);
    },
    endSessionsOf(remoteProcessId) {
      const sessions = table.ofProcess(remoteProcessId);
      for (const session of sessions) {
        const ended: ConnectionSession = {
          session_id: session.id,
          account_id: session.accountId,
          stage: 'ended',
          cap: session.cap,
          timed: session.timed,
          opened_ms: session.openedMs,
          seen_ms: session.seenMs,
          timed_from_ms: session.timedFromMs === session.openedMs ? null : session.timedFromMs,
        };
        writer.write(sessionKey(session.id), session.timed ? { 'oddstream.ConnectionSession': ended } : null);
      }
      return sessions.length;
    },
    renew() {
      const now = nowMs();
      for (const session of localSessions.all()) {
        if (!session.admitted) continue;
        const intervalMs =
          session.terms.sessionSecondsPerDay === null ? RENEW_INTERVAL_MS : SESSION_TIME_WRITE_INTERVAL_MS;
        if (now - session.writtenMs >= intervalMs) write(session, 'hold', now);
      }
      table.prune(now);
    },
    checkSessionTime() {
      const resetsAtMs = localSessions.resetsAtMs();
      for (const session of [...localSessions.all()]) {
        if (!session.admitted || session.exhausted || session.terms.sessionSecondsPerDay === null) continue;
        const terms = deps.termsOf?.(session.accountId) ?? session.terms;
        if (!localSessions.isTimeExhausted(session.accountId, terms)) continue;
        session.exhausted = true;
        for (const listener of session.listeners) listener(resetsAtMs);
      }
    },
    endExcess(accountId) {
      const cap = deps.termsOf?.(accountId)?.eventSockets ?? null;
      if (cap === null) return;
      for (const session of localSessions.beyondCap(accountId, cap))
        for (const listener of session.excessListeners) listener();
    },
    atCap: localSessions.atCap,
    isTimeExhausted: localSessions.isTimeExhausted,
    resetsAtMs: localSessions.resetsAtMs,
    get size() {
      return table.size;
    },
  };
}
