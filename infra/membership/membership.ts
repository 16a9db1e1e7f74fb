import { setTimeout as sleep } from 'node:timers/promises';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { Member, MemberState } from '../../schemas/types.gen.js';
import { LogUnavailableError } from '../log/errors.js';
import type { Log, LogRecord } from '../log/port.js';
import type { Logger } from '../telemetry/logger.js';
import { createFailureDetector, DEAD_AFTER_MS, HEARTBEAT_MS } from './failure-detector.js';

export interface Membership {
  /** Sends heartbeats and reads those of the other members until the signal aborts; then announces that this process leaves. */
  run(signal: AbortSignal, changed: (members: readonly string[]) => void): Promise<void>;
  /** Sets the state of later heartbeats (initially `alive`) and sends one at once. */
  setState(state: 'alive' | 'standby'): void;
}

export interface MembershipOptions {
  readonly log: Pick<Log, 'append' | 'read' | 'offsetForTimestamp'>;
  readonly codec: Codec;
  readonly logger: Logger;
  readonly role: string;
  /** Unique name. A restarted process must have the same name, so that a restart does not reassign its work. */
  readonly member: string;
  readonly heartbeatMs?: number;
  /** A member without a heartbeat for this long counts as dead. */
  readonly deadAfterMs?: number;
}

const TOPIC = topics.members.name;

/** The heartbeat in a record; null when it is of another role or cannot be decoded. */
function parseHeartbeat(record: LogRecord, options: { codec: Codec; logger: Logger; role: string }): Member | null {
  if (record.value === null) return null;
  try {
    const event = options.codec.decode(record.value);
    return event.kind === 'member' && event.value.role === options.role ? event.value : null;
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    options.logger.warn({ err: error, offset: record.offset }, 'unreadable heartbeat');
    return null;
  }
}

/**
 * Live members of a role, by heartbeats in the log. The lists of two processes may differ temporarily, so membership only assigns work and
 * protects nothing: a process acquires ownership of the group before it starts a task.
 */
export function createMembership(options: MembershipOptions): Membership {
  const { log, codec, logger, role, member } = options;
  const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
  const deadAfterMs = options.deadAfterMs ?? DEAD_AFTER_MS;
  const detector = createFailureDetector({ member, heartbeatMs, deadAfterMs });

  let state: MemberState = 'alive';
  let sendNow: () => void = () => undefined;

  const announce = async (announced: MemberState): Promise<void> => {
    const now = Date.now();
    const value = codec.encode('member', { role, member, state: announced, at_ms: now });
    await log.append(TOPIC, [{ key: `${role}/${member}`, value, timestampMs: now }]);
  };

  /** Waits for the heartbeat interval, or until `setState` is called. Rejects when the signal aborts. */
  const waitForNextHeartbeat = async (signal: AbortSignal): Promise<void> => {
    const early = new AbortController();
    sendNow = () => early.abort();
    await sleep(heartbeatMs, undefined, { signal: AbortSignal.any([signal, early.signal]) }).catch(() => undefined);
    signal.throwIfAborted();
  };

  const receive = (record: LogRecord): string | undefined => {
    const heartbeat = parseHeartbeat(record, options);
    if (heartbeat !== null) detector.recordHeartbeat(heartbeat.member, heartbeat.state, performance.now());
    return heartbeat?.member;
  };

  return {
    setState(next) {
      state = next;
      sendNow();
    },
    async run(signal, changed) {
      let reported = '';
      const report = () => {
        const members = detector.liveMembers();
        if (members.join('\n') === reported) return;
        reported = members.join('\n');
        logger.info({ member, members }, 'live members changed');
        changed(members);
      };
      let next = await log.offsetForTimestamp(TOPIC, 0, Date.now() - deadAfterMs);
      const first = state;
      await announce(first);
      const read = (follow: boolean) =>
        log.read({ topic: TOPIC, partition: 0, from: { offset: next }, follow, signal });
      for await (const batch of read(false)) {
        for (const record of batch.records) receive(record);
        next = batch.nextOffset;
      }
      if (signal.aborted) return;
      report();
      let announced = 0;
      let localReceived = 0;
      const listen = async () => {
        for await (const batch of read(true)) {
          for (const record of batch.records) if (receive(record) === member) localReceived++;
          if (localReceived > announced) {
            announced = Number.POSITIVE_INFINITY;
            logger.error(
              { member },
              'another process has the same member name, so both take work from each other: set a unique MEMBER_NAME',
            );
          }
          report();
        }
      };
      let announcedState = first;
      const sendHeartbeats = async () => {
        for (;;) {
          if (announcedState === state) await waitForNextHeartbeat(signal);
          announcedState = state;
          announced++;
          try {
            await announce(state);
          } catch (error) {
            // The health check of the log reports the outage; heartbeats resume when the log is available.
            if (!(error instanceof LogUnavailableError) || signal.aborted) throw error;
            logger.warn({ err: error }, 'cannot append the heartbeat, retrying');
          }
        }
      };
      try {
        await Promise.all([listen(), sendHeartbeats()]);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        if (signal.aborted)
          await announce('left').catch((error: unknown) =>
            logger.warn({ err: error }, 'cannot append the leave record'),
          );
      }
    },
  };
}

/**
 * Members of a role whose newest heartbeat of the past `deadAfterMs` says that they are alive. Compares wall clocks; for commands that require all
 * other processes to be stopped.
 */
export async function readLiveMembers(
  options: Pick<MembershipOptions, 'codec' | 'logger' | 'role' | 'deadAfterMs'> & {
    log: Pick<Log, 'read' | 'offsetForTimestamp'>;
  },
): Promise<readonly string[]> {
  const { log, deadAfterMs = DEAD_AFTER_MS } = options;
  const alive = new Set<string>();
  const from = { timestampMs: Date.now() - deadAfterMs };
  for await (const { records } of log.read({ topic: TOPIC, partition: 0, from, follow: false })) {
    for (const record of records) {
      const heartbeat = parseHeartbeat(record, options);
      if (heartbeat?.state === 'alive') alive.add(heartbeat.member);
      else if (heartbeat !== null) alive.delete(heartbeat.member);
    }
  }
  return [...alive].sort();
}
