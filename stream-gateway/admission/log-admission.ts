import { randomUUID } from 'node:crypto';
import type { Log, LogRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { OnUnreadable } from '../../infra/telemetry/unreadable.js';
import type { Codec } from '../../schemas/codec.js';
import type { PlanTerms } from '../../schemas/plans.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { SessionStage } from '../../schemas/types.gen.js';
import type { Admission, Admitted } from './admission.js';
import { createOwnSessions, type Own } from './own-sessions.js';
import { createPeers } from './peers.js';
import { createSessionTable, type Verdict } from './session-table.js';
import { createSessionWriter } from './session-writer.js';

/** A process says that it lives. */
const BEAT_MS = 2_000;
/** Own beats seen in the log without a word of another process, after which it is taken for dead: 8 to 10 s. */
const SILENT_BEATS = 5;
/** A killed process loses or adds at most this and a beat of its connections' session time. */
const RECORD_TIME_MS = 3_000;
const CHECK_TIME_MS = 1_000;
/** So long a new connection waits for the log's verdict; then this process decides alone. */
const PATIENCE_MS = 2_000;
/** Sessions are told anew this often, far within the topic's retention. */
const RENEW_MS = 3_600_000;
const REREAD_MS = 1_000;
const CLOSE_PATIENCE_MS = 2_000;

export interface LogAdmission extends Admission {
  /** Resolves when all that gateway.sessions held is known. Rejects when it cannot be read. */
  ready(): Promise<void>;
  /** Ends all sessions of this process in the log, so that they are free at once. */
  close(): Promise<void>;
  /** What the clock does otherwise: say that we live; look whose time is used up. */
  beat(): void;
  checkTime(): void;
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
  beatMs?: number;
  checkTimeMs?: number;
  patienceMs?: number;
}): LogAdmission {
  const { log, codec, logger, metrics } = deps;
  const nowMs = deps.nowMs ?? Date.now;
  const processId = deps.processId ?? randomUUID();
  const topic = topics.gatewaySessions.name;
  const stop = new AbortController();
  const table = createSessionTable();
  const peers = createPeers({ processId, silentBeats: SILENT_BEATS });
  const writer = createSessionWriter({ log, codec, logger, processId, nowMs });
  const own = createOwnSessions({ table, processId, nowMs });
  let opened = 0;

  const outcomes = metrics.counter('gateway_admissions_total', 'Connections asked for, by outcome', ['outcome']);
  const alone = metrics.counter(
    'gateway_admissions_alone_total',
    'Decided without the log, which was away or too slow',
  );
  const expired = metrics.counter(
    'gateway_sessions_expired_total',
    'Sessions of silent processes that were ended here',
  );
  const known = metrics.gauge('gateway_sessions', 'Open sessions of plans with limits, over all processes');
  const waited = metrics.histogram(
    'gateway_admission_seconds',
    'Wait for the verdict on a connection',
    [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
  );

  const tell = (session: Own, stage: SessionStage, seenMs: number) => {
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

  const end = (session: Own) => {
    if (!own.delete(session)) return;
    if (session.admitted && session.terms.sessionSecondsPerDay !== null) {
      const now = nowMs();
      table.addPast(session.accountId, { fromMs: session.openedMs, untilMs: now });
      tell(session, 'ended', now);
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
  const holdAgain = (sessionId: string) => {
    const mine = own.get(sessionId);
    if (mine?.admitted === true && table.get(sessionId) === undefined) tell(mine, 'hold', nowMs());
  };

  const fold = (record: LogRecord) => {
    const [kind = '', id = ''] = splitKey(record.key);
    if (record.value === null) {
      if (kind === 'process') peers.gone(id);
      else {
        table.remove(id);
        holdAgain(id);
      }
      return;
    }
    const event = tryDecode(codec, record.value, (reason) =>
      deps.onUnreadable({ topic, offset: record.offset }, reason),
    );
    if (event?.kind !== 'gateway_session') return;
    const { process_id: from, fact } = event.value;
    const verdict = table.apply(event.value);
    if ('oddstream.ConnectionSession' in fact) {
      const { session_id: sessionId, stage } = fact['oddstream.ConnectionSession'];
      if (stage !== 'ended') peers.heard(from);
      if (verdict !== undefined) own.get(sessionId)?.decide?.(verdict);
      holdAgain(sessionId);
    } else {
      peers.alive(from, fact['oddstream.GatewayAlive'].instance);
      if (from === processId) for (const peer of peers.silent()) expire(peer);
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
      for (const record of batch.records) fold(record);
      next = batch.nextOffset;
    }
    table.loaded();
    for (const peer of peers.at(deps.instance)) expire(peer);
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
          for (const record of batch.records) fold(record);
          next = batch.nextOffset;
          known.set(table.size);
        }
      } catch (error) {
        logger.warn({ err: error }, 'sessions cannot be read; trying again');
      }
      if (!stop.signal.aborted) await new Promise((resolve) => setTimeout(resolve, REREAD_MS));
    }
  };

  const beat = () => {
    const now = nowMs();
    writer.write(processKey(processId), {
      'oddstream.GatewayAlive': {
        instance: deps.instance,
        connections: 0,
        firehoses: 0,
        ...deps.load?.(),
      },
    });
    for (const session of own.all()) {
      if (!session.admitted) continue;
      const every = session.terms.sessionSecondsPerDay === null ? RENEW_MS : RECORD_TIME_MS;
      if (now - session.writtenMs >= every) tell(session, 'hold', now);
    }
    table.prune(now);
  };

  const checkTime = () => {
    const resetsAtMs = own.resetsAtMs();
    for (const session of [...own.all()]) {
      if (!session.admitted || session.exhausted || session.terms.sessionSecondsPerDay === null) continue;
      if (!own.usedUp(session.accountId, deps.termsOf?.(session.accountId) ?? session.terms)) continue;
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
    beat();
    every(deps.beatMs ?? BEAT_MS, beat);
    every(deps.checkTimeMs ?? CHECK_TIME_MS, checkTime);
    return follow(next);
  });
  // `ready` tells of a failure.
  following.catch(() => undefined);

  const slotOf = (session: Own): Admitted => ({
    status: 'ok',
    slot: {
      exhausted: (listener) => {
        if (session.exhausted) listener(own.resetsAtMs());
        else session.listeners.add(listener);
      },
      release: () => end(session),
    },
  });
  const refuse = (accountId: string, terms: PlanTerms): Admitted | undefined => {
    if (own.usedUp(accountId, terms)) return { status: 'session_used_up', resetsAtMs: own.resetsAtMs() };
    return own.full(accountId, terms) ? { status: 'too_many' } : undefined;
  };

  /** The log's verdict; undefined when it does not come in time. */
  const ask = (session: Own): Promise<Verdict | undefined> =>
    new Promise((resolve) => {
      const settle = (verdict: Verdict | undefined) => {
        clearTimeout(timer);
        session.decide = undefined;
        resolve(verdict);
      };
      const timer = setTimeout(() => settle(undefined), deps.patienceMs ?? PATIENCE_MS);
      session.decide = (verdict) => {
        session.admitted = verdict === 'granted';
        settle(verdict);
      };
      tell(session, 'claim', session.openedMs);
    });

  const decide = async (accountId: string, terms: PlanTerms): Promise<Admitted> => {
    const refusal = refuse(accountId, terms);
    if (refusal !== undefined) return refusal;
    const session: Own = {
      id: `${processId}/${++opened}`,
      accountId,
      terms,
      openedMs: nowMs(),
      writtenMs: 0,
      admitted: false,
      exhausted: false,
      listeners: new Set(),
      decide: undefined,
    };
    own.add(session);
    const verdict = writer.failing ? undefined : await ask(session);
    if (verdict === undefined) {
      alone.inc();
      const late = refuse(accountId, terms);
      if (late !== undefined) {
        end(session);
        return late;
      }
      session.admitted = true;
      tell(session, 'hold', nowMs());
    } else if (verdict !== 'granted') {
      end(session);
      return { status: 'too_many' };
    }
    return slotOf(session);
  };

  return {
    ready: async () => {
      await loaded;
    },
    async admit({ accountId, terms }) {
      const done = waited.startTimer();
      const unlimited = terms.eventSockets === null && terms.sessionSecondsPerDay === null;
      const admitted: Admitted = unlimited
        ? { status: 'ok', slot: { exhausted: () => undefined, release: () => undefined } }
        : await decide(accountId, terms);
      done();
      outcomes.inc({ outcome: admitted.status });
      return admitted;
    },
    beat,
    checkTime,
    async close() {
      for (const timer of timers) clearInterval(timer);
      for (const session of [...own.all()]) end(session);
      writer.write(processKey(processId), null);
      if (!(await writer.drain(CLOSE_PATIENCE_MS))) logger.warn('sessions of this process end with its silence');
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
