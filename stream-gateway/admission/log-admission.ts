import { randomUUID } from 'node:crypto';
import type { Log } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import type { PlanTerms } from '../../schemas/plans.js';
import type { Admission, AdmissionResult } from './admission.js';
import { createFailureDetector } from './failure-detector.js';
import { createPermits, isUnlimited } from './permits.js';
import { createSessionReader } from './session-reader.js';
import { createSessionState } from './session-state.js';
import { createSessionWriter } from './session-writer.js';

const HEARTBEAT_INTERVAL_MS = 2_000;
const SESSION_TIME_CHECK_INTERVAL_MS = 1_000;
/** A new connection waits this long for the log's decision; then this process decides by its local state. */
const DECISION_TIMEOUT_MS = 2_000;
const CLOSE_TIMEOUT_MS = 2_000;

export interface LogAdmission extends Admission {
  /** Resolves when the retained records of gateway.sessions have been applied. Rejects when they cannot be read. */
  ready(): Promise<void>;
  /** Ends all sessions of this process in the log, so that other processes can admit connections in their stead at once. */
  close(): Promise<void>;
  /** Sends a heartbeat and renews sessions. A timer calls it unless `heartbeatIntervalMs` is 0. */
  heartbeat(): void;
  /** Closes connections whose session time is used up, and those beyond a lower cap. A timer calls it unless `sessionTimeCheckIntervalMs` is 0. */
  checkSessions(): void;
}

/**
 * Enforces connection caps and session time over all gateway processes. A connection of a plan with limits writes a claim to gateway.sessions. The
 * claim is granted if fewer sessions of the account than its cap precede it. All processes see one order, so two simultaneous claims cannot both
 * take the last permit. Other processes end the sessions of a process whose heartbeats stop; a process that was only slow writes its sessions
 * again. Session time is recorded with the heartbeats. While the log is unreachable each process decides by the state it last read, and writes
 * its sessions when the log is back.
 */
export function createLogAdmission(deps: {
  log: Pick<Log, 'append' | 'read' | 'bounds'>;
  codec: Codec;
  logger: Logger;
  metrics: Metrics;
  onUnreadable: OnUnreadable;
  /** Where this process runs, for example host:port. A new process ends the sessions of older ones with the same value; unique among running processes. */
  instance: string;
  /** Current terms of an account: a connection stays open if the account has changed to a plan without limited session time. */
  termsOf?: (accountId: string) => PlanTerms | undefined;
  /** Current load of this process; sent with every heartbeat. */
  load?: () => { readonly connections: number; readonly firehoses: number };
  processId?: string;
  nowMs?: () => number;
  /** 0: no timer. */
  heartbeatIntervalMs?: number;
  /** 0: no timer. */
  sessionTimeCheckIntervalMs?: number;
  decisionTimeoutMs?: number;
}): LogAdmission {
  const { log, codec, logger, metrics, instance } = deps;
  const nowMs = deps.nowMs ?? Date.now;
  const processId = deps.processId ?? randomUUID();
  const decisionTimeoutMs = deps.decisionTimeoutMs ?? DECISION_TIMEOUT_MS;
  const writer = createSessionWriter({ log, codec, logger, processId, nowMs });
  const sessions = createSessionState({ writer, processId, termsOf: deps.termsOf, nowMs });
  const failureDetector = createFailureDetector({
    writer,
    sessions,
    logger,
    metrics,
    processId,
    instance,
    load: deps.load,
  });

  const outcomes = metrics.counter('gateway_admissions_total', 'Connection requests, by outcome', ['outcome']);
  const fallbacks = metrics.counter(
    'gateway_admissions_fallback_total',
    'Connections decided by local state because the log was unreachable or too slow',
  );
  const openSessions = metrics.gauge('gateway_sessions', 'Open sessions of plans with limits, over all processes');
  const admissionSeconds = metrics.histogram(
    'gateway_admission_seconds',
    'Time from a connection request to its admission decision',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
  );

  const reader = createSessionReader({
    log,
    codec,
    logger,
    onUnreadable: deps.onUnreadable,
    onEvent(event) {
      sessions.apply(event);
      failureDetector.apply(event);
    },
    onSessionTombstone: sessions.applyTombstone,
    onProcessTombstone: failureDetector.applyTombstone,
    onBatch: () => openSessions.set(sessions.size),
  });

  const heartbeat = () => {
    failureDetector.sendHeartbeat();
    sessions.renew();
  };

  const checkSessions = () => {
    sessions.checkSessionTime();
    permits.endExcess();
  };

  const timers: NodeJS.Timeout[] = [];
  const every = (intervalMs: number, run: () => void) => {
    if (intervalMs > 0) timers.push(setInterval(run, intervalMs));
  };
  const load = async (): Promise<number> => {
    const next = await reader.readRetained();
    sessions.markLoaded();
    failureDetector.expirePredecessors();
    return next;
  };
  const loaded = load();
  const following = loaded.then((next) => {
    heartbeat();
    every(deps.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS, heartbeat);
    every(deps.sessionTimeCheckIntervalMs ?? SESSION_TIME_CHECK_INTERVAL_MS, checkSessions);
    return reader.follow(next);
  });
  // The caller of `ready` receives the rejection.
  following.catch(() => undefined);

  const permits = createPermits({ sessions, nowMs });
  const rejectionFor = (accountId: string, terms: PlanTerms): AdmissionResult | undefined => {
    if (sessions.isTimeExhausted(accountId, terms))
      return { status: 'session_used_up', resetsAtMs: sessions.resetsAtMs() };
    return sessions.atCap(accountId, terms) ? { status: 'too_many' } : undefined;
  };

  const decide = async (accountId: string, terms: PlanTerms): Promise<AdmissionResult> => {
    const rejection = rejectionFor(accountId, terms);
    if (rejection !== undefined) return rejection;
    const session = sessions.add(accountId, terms);
    const decision = writer.failing ? undefined : await sessions.requestDecision(session, decisionTimeoutMs);
    if (decision === undefined) {
      fallbacks.inc();
      const lateRejection = rejectionFor(accountId, terms);
      if (lateRejection !== undefined) {
        sessions.end(session);
        return lateRejection;
      }
      sessions.admitLocally(session);
    } else if (decision !== 'granted') {
      sessions.end(session);
      return { status: 'too_many' };
    }
    return permits.of(session);
  };

  return {
    ready: async () => {
      await loaded;
    },
    async admit({ accountId, terms }) {
      const stopTimer = admissionSeconds.startTimer();
      const result: AdmissionResult = isUnlimited(terms)
        ? permits.unlimited(accountId, terms)
        : await decide(accountId, terms);
      stopTimer();
      outcomes.inc({ outcome: result.status });
      return result;
    },
    heartbeat,
    checkSessions,
    async close() {
      for (const timer of timers) clearInterval(timer);
      sessions.endAll();
      failureDetector.sendShutdown();
      if (!(await writer.drain(CLOSE_TIMEOUT_MS)))
        logger.warn(
          'gateway.sessions is unreachable: other processes end the sessions of this one after its heartbeats stop',
        );
      writer.stop();
      reader.stop();
      await following.catch(() => undefined);
    },
  };
}
