import { RetryableError } from '../../infra/errors.js';
import type { GroupOwnership, Log, LogRecord, NewRecord } from '../../infra/log/port.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { createOnUnreadable } from '../../infra/telemetry/unreadable-records.js';
import { type Codec, CodecError } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { AccountCommand } from '../../schemas/types.gen.js';
import { createTaskLag } from '../assignment/task-lag.js';
import { deadLetterRecord } from '../dead-letter.js';
import { applyCommand } from './apply-command.js';
import { applyChange, createAccountsState } from './state.js';

export interface AccountsProcessor {
  run(signal: AbortSignal): Promise<void>;
  /** `lag`: commands that are not decided yet. */
  state(): Promise<{ readonly loaded: boolean; readonly lag: number }>;
}

const GROUP = 'accounts';
const COMMANDS = topics.accountsCommands.name;
const STATE = topics.accountsState.name;

/**
 * Processes accounts.commands into accounts.state in log order; the only component that decides first-wins rules. The changes of a batch and
 * its position are committed in one transaction. At start it acquires ownership of the group, which fences the previous owner, and then loads
 * the state from accounts.state.
 */
export function createAccountsProcessor(options: {
  log: Log;
  codec: Codec;
  logger: Logger;
  metrics: Metrics;
}): AccountsProcessor {
  const { log, codec, logger } = options;
  const decided = options.metrics.counter('accounts_commands_total', 'Commands decided', ['code']);
  decided.inc({ code: 'dead_letter' }, 0);
  const taskLag = createTaskLag(options.metrics.gauge('accounts_lag_records', 'Commands not decided yet'));
  const onUnreadable = createOnUnreadable(options);
  const state = createAccountsState();
  let loaded = false;
  let next = 0;

  const load = async (signal: AbortSignal): Promise<void> => {
    for await (const batch of log.read({ topic: STATE, partition: 0, from: 'earliest', follow: false, signal })) {
      for (const { key, offset, value } of batch.records) {
        const pass = (reason: string) => onUnreadable({ topic: STATE, offset }, reason);
        const event = value === null ? undefined : tryDecode(codec, value, pass);
        // An entity whose newest record cannot be decoded is treated as unknown, as in every read model.
        applyChange(state, { entity: key, value: event?.kind === 'account_state' ? event.value : null });
      }
    }
  };

  const commandOf = (record: LogRecord): AccountCommand => {
    if (record.value === null) throw new CodecError('A command cannot be a tombstone');
    const event = codec.decode(record.value);
    if (event.kind !== 'account_command') throw new CodecError(`${event.kind} does not belong into ${COMMANDS}`);
    return event.value;
  };

  const deadLetter = (record: LogRecord, reason: string): NewRecord => {
    logger.warn({ offset: record.offset, reason }, 'command moved to the dead letters');
    return deadLetterRecord({ codec, by: 'accounts', topic: COMMANDS, partition: 0, record, reason });
  };

  /** Changes of the state by a command, as records: all of them or, by CodecError, none. */
  const changesOf = (command: AccountCommand): readonly NewRecord[] => {
    const results = applyCommand(state, command);
    const records = results.map(({ entity, value }) => ({
      key: entity,
      value: value === null ? null : codec.encode('account_state', value),
      timestampMs: command.issued_at_ms,
    }));
    if (results.length === 0) decided.inc({ code: 'duplicate' });
    for (const { value } of results)
      if (value !== null && 'oddstream.Outcome' in value.state)
        decided.inc({ code: value.state['oddstream.Outcome'].code });
    return records;
  };

  const step = async (ownership: GroupOwnership, records: readonly LogRecord[], batchEnd: number): Promise<void> => {
    const changes: NewRecord[] = [];
    const dead: NewRecord[] = [];
    let nextOffset = batchEnd;
    let diverged: CodecError | undefined;
    for (const record of records) {
      let command: AccountCommand | undefined;
      try {
        command = commandOf(record);
        changes.push(...changesOf(command));
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
        decided.inc({ code: 'dead_letter' });
        dead.push(deadLetter(record, error.message));
        if (command === undefined) continue;
        // The command has changed the state in memory, and the log cannot hold the change: nothing may be decided on this state.
        diverged = error;
        nextOffset = record.offset + 1;
        break;
      }
    }
    await ownership.appendAndCommit({
      outputs: [
        ...(changes.length > 0 ? [{ topic: STATE, records: changes }] : []),
        ...(dead.length > 0 ? [{ topic: topics.deadLetters.name, records: dead }] : []),
      ],
      offsets: [{ topic: COMMANDS, partition: 0, nextOffset }],
    });
    next = nextOffset;
    if (diverged !== undefined)
      throw new RetryableError('A change of the accounts cannot be written; the state is loaded again', {
        cause: diverged,
      });
  };

  const run = async (signal: AbortSignal): Promise<void> => {
    const ownership = await log.acquireOwnership(GROUP);
    await load(signal);
    const [position] = await log.committed(GROUP, COMMANDS);
    next = position?.nextOffset ?? (await log.bounds(COMMANDS, 0)).earliest;
    if (signal.aborted) return;
    loaded = true;
    logger.info({ accounts: state.accounts.size, keys: state.keys.size }, 'accounts processor starts');
    for await (const batch of log.read({
      topic: COMMANDS,
      partition: 0,
      from: { offset: next },
      follow: true,
      signal,
    }))
      await step(ownership, batch.records, batch.nextOffset);
  };

  return {
    run: (signal) => taskLag.during(() => run(signal)),
    async state() {
      const bounds = await log.bounds(COMMANDS, 0);
      const lag = Math.max(0, bounds.next - next);
      taskLag.set({}, lag);
      return { loaded, lag };
    },
  };
}
