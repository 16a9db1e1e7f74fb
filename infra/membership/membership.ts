import { setTimeout as sleep } from 'node:timers/promises';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import type { Member, MemberState } from '../../schemas/types.gen.js';
import { LogUnavailableError } from '../log/errors.js';
import type { Log, LogRecord } from '../log/port.js';
import type { Logger } from '../telemetry/logger.js';
import { createFailureDetector, DEAD_AFTER_MS, HEARTBEAT_MS } from './failure-detector.js';

export interface Membership {
  /** Until the signal: say that this process lives and hear of the others. Announces its leaving at the end. */
  run(signal: AbortSignal, changed: (members: readonly string[]) => void): Promise<void>;
  /** Announced at once and from now on; `alive` from the start. */
  setState(state: 'alive' | 'standby'): void;
}

export interface MembershipOptions {
  readonly log: Pick<Log, 'append' | 'read' | 'offsetForTimestamp'>;
  readonly codec: Codec;
  readonly logger: Logger;
  readonly role: string;
  /** A restarted process keeps its name, so that its work is not shared out anew meanwhile. */
  readonly member: string;
  readonly heartbeatMs?: number;
  /** A member unheard of for this long counts as dead. */
  readonly deadAfterMs?: number;
}

const TOPIC = topics.members.name;

/** The heartbeat in a record, or null when it is another role's or cannot be read. */
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
 * Live members of a role, by heartbeats in the log. The views of two processes may differ for a moment, so membership only assigns work and
 * protects nothing: a process acquires ownership of the group before it starts a task.
 */
export function createMembership(options: MembershipOptions): Membership {
  const { log, codec, logger, role, member } = options;
  const heartbeatMs = options.heartbeatMs ?? HEARTBEAT_MS;
  const deadAfterMs = options.deadAfterMs ?? DEAD_AFTER_MS;
  const roll = createFailureDetector({ member, heartbeatMs, deadAfterMs });

  let state: MemberState = 'alive';
  let beatNow: () => void = () => undefined;

  const announce = async (told: MemberState): Promise<void> => {
    const now = Date.now();
    const value = codec.encode('member', { role, member, state: told, at_ms: now });
    await log.append(TOPIC, [{ key: `${role}/${member}`, value, timestampMs: now }]);
  };

  /** A heartbeat's time, or less when there is something new to say. Rejects when the signal aborts. */
  const nextBeat = async (signal: AbortSignal): Promise<void> => {
    const early = new AbortController();
    beatNow = () => early.abort();
    await sleep(heartbeatMs, undefined, { signal: AbortSignal.any([signal, early.signal]) }).catch(() => undefined);
    signal.throwIfAborted();
  };

  const hear = (record: LogRecord): string | undefined => {
    const heartbeat = parseHeartbeat(record, options);
    if (heartbeat !== null) roll.recordHeartbeat(heartbeat.member, heartbeat.state, performance.now());
    return heartbeat?.member;
  };

  return {
    setState(next) {
      state = next;
      beatNow();
    },
    async run(signal, changed) {
      let shown = '';
      const show = () => {
        const members = roll.liveMembers();
        if (members.join('\n') === shown) return;
        shown = members.join('\n');
        logger.info({ member, members }, 'members');
        changed(members);
      };
      let next = await log.offsetForTimestamp(TOPIC, 0, Date.now() - deadAfterMs);
      const first = state;
      await announce(first);
      const read = (follow: boolean) =>
        log.read({ topic: TOPIC, partition: 0, from: { offset: next }, follow, signal });
      for await (const batch of read(false)) {
        for (const record of batch.records) hear(record);
        next = batch.nextOffset;
      }
      if (signal.aborted) return;
      show();
      let announced = 0;
      let ownHeard = 0;
      const listen = async () => {
        for await (const batch of read(true)) {
          for (const record of batch.records) if (hear(record) === member) ownHeard++;
          if (ownHeard > announced) {
            announced = Number.POSITIVE_INFINITY;
            logger.error(
              { member },
              'another process goes by the same member name: both will take work from each other',
            );
          }
          show();
        }
      };
      let announcedState = first;
      const beat = async () => {
        for (;;) {
          if (announcedState === state) await nextBeat(signal);
          announcedState = state;
          announced++;
          try {
            await announce(state);
          } catch (error) {
            // What needs the log says so itself; this goes on where it can.
            if (!(error instanceof LogUnavailableError) || signal.aborted) throw error;
            logger.warn({ err: error }, 'cannot announce this process');
          }
        }
      };
      try {
        await Promise.all([listen(), beat()]);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        if (signal.aborted)
          await announce('left').catch((error: unknown) => logger.warn({ err: error }, 'cannot announce leaving'));
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
  const living = new Set<string>();
  const from = { timestampMs: Date.now() - deadAfterMs };
  for await (const { records } of log.read({ topic: TOPIC, partition: 0, from, follow: false })) {
    for (const record of records) {
      const heartbeat = parseHeartbeat(record, options);
      if (heartbeat?.state === 'alive') living.add(heartbeat.member);
      else if (heartbeat !== null) living.delete(heartbeat.member);
    }
  }
  return [...living].sort();
}
