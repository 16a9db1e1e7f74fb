import { randomUUID } from 'node:crypto';
import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import type { Codec } from '../../schemas/codec.js';
import type { PlanTerms } from '../../schemas/plans.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { SessionStage } from '../../schemas/types.gen.js';
import type { Admission, AdmissionResult } from './admission.js';
import { createHeartbeatTracker } from './heartbeat-tracker.js';
import { createLocalSessions, type LocalSession } from './local-sessions.js';
import { type AdmissionDecision, createSessionTable } from './session-table.js';
import { createSessionWriter } from './session-writer.js';

/** A process says that it lives. */
const HEARTBEAT_INTERVAL_MS = 2_000;
/** Own beats seen in the log without a word of another process, after which it is taken for dead: 8 to 10 s. */
const MAX_MISSED_HEARTBEATS = 5;
/** A killed process loses or adds at most this and a beat of its connections' session time. */
const SESSION_TIME_WRITE_INTERVAL_MS = 3_000;
const SESSION_TIME_CHECK_INTERVAL_MS = 1_000;
/** So long a new connection waits for the log's verdict; then this process decides alone. */
const DECISION_TIMEOUT_MS = 2_000;
/** Sessions are told anew this often, far within the topic's retention. */
const RENEW_INTERVAL_MS = 3_600_000;
const READ_RETRY_DELAY_MS = 1_000;
const CLOSE_TIMEOUT_MS = 2_000;

export interface LogAdmission extends Admission {
  /** Resolves when all that gateway.sessions held is known. Rejects when it cannot be read. */
  ready(): Promise<void>;
  /** Ends all sessions of this process in the log, so that they are free at once. */
  close(): Promise<void>;
  /** What the clock does otherwise: say that we live; look whose time is used up. */
  heartbeat(): void;
  checkSessionTime(): void;
}

const sessionKey = (id: string) => `session:${id}`;
const processKey = (id: string) => `process:${id}`;

/**
 * Connection caps and session time over all gateway processes. A connection of a plan with limits is a claim in gateway.sessions; fewer sessions
 * of the account before it than the cap, and it is in: one order for all, so simultaneous claims cannot both take the last place. A process that
 * falls silent has its sessions ended by the others; one that was only slow holds them again. Connected time is recorded with every beat. With
 * the log away each process goes on with what it knows, and tells the log later.
 */
export function createLogAdmission(deps: {
  log: Pick<Log, 'append' | 'read' | 'bounds'>;
  codec: Codec;
  logger: Logger;
  metrics: Metrics;
  onUnreadable: OnUnreadable;
  /** Where this process runs; a predecessor at the same place is over. Must differ between processes that run at once. */
  instance: string;
  /** The account's terms of now: a plan without session time ends nobody's connection. */
  termsOf?: (accountId: string) => PlanTerms | undefined;
  /** What this process serves now; told to other processes with every beat. */
  load?: () => { readonly connections: number; readonly firehoses: number };
  processId?: string;
  nowMs?: () => number;
  /** 0: no clock. */
  heartbeatIntervalMs?: number;
  sessionTimeCheckIntervalMs?: number;
  decisionTimeoutMs?: number;
}): LogAdmission {
  const { log, codec, logger, metrics } = deps;
  const nowMs = deps.nowMs ?? Date.now;
  const processId = deps.processId ?? randomUUID();
  const topic = topics.gatewaySessions.name;
  const stop = new AbortController();
  const table = createSessionTable();
  const heartbeats = createHeartbeatTracker({ processId, maxMissedHeartbeats: MAX_MISSED_HEARTBEATS });
  const writer = createSessionWriter({ log, codec, logger, processId, nowMs });
  const localSessions = createLocalSessions({ table, processId, nowMs });
  let opened = 0;

  const outcomes = metrics.counter('gateway_admissions_total', 'Connections asked for, by outcome', ['outcome']);
  const fallbacks = metrics.counter(
    'gateway_admissions_fallback_total',
    'Decided without the log, which was away or too slow',
  );
  const expired = metrics.counter(
    'gateway_sessions_expired_total',
    'Sessions of silent processes that were ended here',
  );
  const openSessions = metrics.gauge('gateway_sessions', 'Open sessions of plans with limits, over all processes');
  const admissionSeconds = metrics.histogram(
    'gateway_admission_seconds',
    'Wait for the verdict on a connection',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
  );

  const writeSession = (session: LocalSession, stage: SessionStage, seenMs: number) => {
    session.writtenMs = seenMs;
    writer.write(sessionKey(session.id), {
      'oddstream.ConnectionSession': {
        session_id: session.id,
        account_id: session.accountId,
        stage,
        cap: session.terms.eventSockets,
        timed: session.terms.sessionSecondsPerDay !== null,
        opened_ms: session.openedMs,
        seen_ms: Math.max(session.openedMs, seenMs),
      },
    });
  };

  const end = (session: LocalSession) => {
    if (!localSessions.delete(session)) return;
    if (session.admitted && session.terms.sessionSecondsPerDay !== null) {
      const now = nowMs();
      table.addPastInterval(session.accountId, { fromMs: session.openedMs, untilMs: now });
      writeSession(session, 'ended', now);
    } else writer.write(sessionKey(session.id), null);
  };

  /** Sessions of a process that is over; told by whoever notices. */
  const expire = (peer: string) => {
    const left = table.ofProcess(peer);
    if (left.length > 0)
      logger.warn({ peer, sessions: left.length }, 'a gateway process fell silent: its sessions are over');
    expired.inc(left.length);
    for (const session of left) {
      const fact = {
        session_id: session.id,
        account_id: session.accountId,
        stage: 'ended' as const,
        cap: session.cap,
        timed: session.timed,
        opened_ms: session.openedMs,
        seen_ms: session.seenMs,
      };
      writer.write(sessionKey(session.id), session.timed ? { 'oddstream.ConnectionSession': fact } : null);
    }
    writer.write(processKey(peer), null);
  };

  /** Somebody took us for dead, or a verdict came after we had decided alone. */
  const reassertSession = (sessionId: string) => {
    const session = localSessions.get(sessionId);
    if (session?.admitted === true && table.get(sessionId) === undefined) writeSession(session, 'hold', nowMs());
  };

  const applyRecord = (record: LogRecord) => {
    const [kind = '', id = ''] = splitKey(record.key);
    if (record.value === null) {
      if (kind === 'process') heartbeats.remove(id);
      else {
        table.remove(id);
        reassertSession(id);
      }
      return;
    }
    const event = tryDecode(codec, record.value, (reason) =>
      deps.onUnreadable({ topic, offset: record.offset }, reason),
    );
    if (event?.kind !== 'gateway_session') return;
    const { process_id: from, fact } = event.value;
    const decision = table.apply(event.value);
    if ('oddstream.ConnectionSession' in fact) {
      const { session_id: sessionId, stage } = fact['oddstream.ConnectionSession'];
      if (stage !== 'ended') heartbeats.recordActivity(from);
      if (decision !== undefined) localSessions.get(sessionId)?.onDecision?.(decision);
      reassertSession(sessionId);
    } else {
      heartbeats.recordHeartbeat(from, fact['oddstream.GatewayAlive'].instance);
      if (from === processId) for (const peer of heartbeats.countMissed()) expire(peer);
    }
  };

  const load = async (): Promise<number> => {
    let { earliest: next } = await log.bounds(topic, 0);
    for await (const batch of log.read({
      topic,
      partition: 0,
      from: { offset: next },
      follow: false,
      signal: stop.signal,
    })) {
      for (const record of batch.records) applyRecord(record);
      next = batch.nextOffset;
    }
    table.markLoaded();
    for (const peer of heartbeats.processesAt(deps.instance)) expire(peer);
    return next;
  };
  const follow = async (offset: number): Promise<void> => {
    let next = offset;
    while (!stop.signal.aborted) {
      try {
        for await (const batch of log.read({
          topic,
          partition: 0,
          from: { offset: next },
          follow: true,
          signal: stop.signal,
        })) {
          for (const record of batch.records) applyRecord(record);
          next = batch.nextOffset;
          openSessions.set(table.size);
        }
      } catch (error) {
        logger.warn({ err: error }, 'sessions cannot be read; trying again');
      }
      if (!stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, READ_RETRY_DELAY_MS));
    }
  };

  const heartbeat = () => {
    const now = nowMs();
    writer.write(processKey(processId), {
      'oddstream.GatewayAlive': {
        instance: deps.instance,
        connections: 0,
        firehoses: 0,
        ...deps.load?.(),
      },
    });
    for (const session of localSessions.all()) {
      if (!session.admitted) continue;
      const every = session.terms.sessionSecondsPerDay === null ? RENEW_INTERVAL_MS : SESSION_TIME_WRITE_INTERVAL_MS;
      if (now - session.writtenMs >= every) writeSession(session, 'hold', now);
    }
    table.prune(now);
  };

  const checkSessionTime = () => {
    const resetsAtMs = localSessions.resetsAtMs();
    for (const session of [...localSessions.all()]) {
      if (!session.admitted || session.exhausted || session.terms.sessionSecondsPerDay === null) continue;
      if (!localSessions.isTimeExhausted(session.accountId, deps.termsOf?.(session.accountId) ?? session.terms))
        continue;
      session.exhausted = true;
      for (const listener of session.listeners) listener(resetsAtMs);
    }
  };

  const loaded = load();
  const timers: NodeJS.Timeout[] = [];
  const following = loaded.then((next) => {
    const every = (ms: number, run: () => void) => {
      if (ms > 0) timers.push(setInterval(run, ms));
    };
    heartbeat();
    every(deps.heartbeatIntervalMs ?? HEARTBEAT_INTERVAL_MS, heartbeat);
    every(deps.sessionTimeCheckIntervalMs ?? SESSION_TIME_CHECK_INTERVAL_MS, checkSessionTime);
    return follow(next);
  });
  // `ready` tells of a failure.
  following.catch(() => undefined);

  const admitted = (session: LocalSession): AdmissionResult => ({
    status: 'ok',
    permit: {
      onSessionTimeExhausted: (listener) => {
        if (session.exhausted) listener(localSessions.resetsAtMs());
        else session.listeners.add(listener);
      },
      release: () => end(session),
    },
  });
  const rejectionFor = (accountId: string, terms: PlanTerms): AdmissionResult | undefined => {
    if (localSessions.isTimeExhausted(accountId, terms))
      return { status: 'session_used_up', resetsAtMs: localSessions.resetsAtMs() };
    return localSessions.atCap(accountId, terms) ? { status: 'too_many' } : undefined;
  };

  /** The log's verdict; undefined when it does not come in time. */
  const requestDecision = (session: LocalSession): Promise<AdmissionDecision | undefined> =>
    new Promise((resolve) => {
      const settle = (decision: AdmissionDecision | undefined) => {
        clearTimeout(timer);
        session.onDecision = undefined;
        resolve(decision);
      };
      const timer = setTimeout(() => settle(undefined), deps.decisionTimeoutMs ?? DECISION_TIMEOUT_MS);
      session.onDecision = (decision) => {
        session.admitted = decision === 'granted';
        settle(decision);
      };
      writeSession(session, 'claim', session.openedMs);
    });

  const decide = async (accountId: string, terms: PlanTerms): Promise<AdmissionResult> => {
    const rejection = rejectionFor(accountId, terms);
    if (rejection !== undefined) return rejection;
    const session: LocalSession = {
      id: `${processId}/${++opened}`,
      accountId,
      terms,
      openedMs: nowMs(),
      writtenMs: 0,
      admitted: false,
      exhausted: false,
      listeners: new Set(),
      onDecision: undefined,
    };
    localSessions.add(session);
    const decision = writer.failing ? undefined : await requestDecision(session);
    if (decision === undefined) {
      fallbacks.inc();
      const lateRejection = rejectionFor(accountId, terms);
      if (lateRejection !== undefined) {
        end(session);
        return lateRejection;
      }
      session.admitted = true;
      writeSession(session, 'hold', nowMs());
    } else if (decision !== 'granted') {
      end(session);
      return { status: 'too_many' };
    }
    return admitted(session);
  };

  return {
    ready: async () => {
      await loaded;
    },
    async admit({ accountId, terms }) {
      const done = admissionSeconds.startTimer();
      const unlimited = terms.eventSockets === null && terms.sessionSecondsPerDay === null;
      const admitted: AdmissionResult = unlimited
        ? { status: 'ok', permit: { onSessionTimeExhausted: () => undefined, release: () => undefined } }
        : await decide(accountId, terms);
      done();
      outcomes.inc({ outcome: admitted.status });
      return admitted;
    },
    heartbeat,
    checkSessionTime,
    async close() {
      for (const timer of timers) clearInterval(timer);
      for (const session of [...localSessions.all()]) end(session);
      writer.write(processKey(processId), null);
      if (!(await writer.drain(CLOSE_TIMEOUT_MS))) logger.warn('sessions of this process end with its silence');
      writer.stop();
      stop.abort();
      await following.catch(() => undefined);
    },
  };
}

function splitKey(key: string): [string, string] {
  const colon = key.indexOf(':');
  return [key.slice(0, colon), key.slice(colon + 1)];
}
