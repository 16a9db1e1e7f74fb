import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { AccountMeter, AccountState, Outcome } from '../../schemas/types.gen.js';
import type { Log, LogRecord } from '../log/port.js';
import type { OnUnreadable } from '../telemetry/unreadable-records.js';
import { type CapacityView, createCapacityView, meterCapacity, remainingCapacity } from './capacity-view.js';
import { createKeysView, type KeysView } from './keys-view.js';
import { createUsersView, type UsersView } from './users-view.js';

export interface AccountsReadModel extends KeysView {
  /** Resolves when all records that accounts.state contained at the start are applied. Rejects when it cannot be read. */
  ready(): Promise<void>;
  readonly users: UsersView;
  readonly capacity: CapacityView;
  /** See `remainingCapacity` of capacity-view.ts; null also for an unknown account. */
  remainingCapacity(accountId: string, meter: AccountMeter, nowMs: number): number | null;
  /** Outcome of a command as soon as it is read from accounts.state; null after `timeoutMs`. */
  waitForOutcome(commandId: string, timeoutMs: number): Promise<Outcome | null>;
}

/**
 * The accounts' state in memory, following accounts.state until the signal. A tail that fails rejects unhandled, which ends the process
 * with the error's exit code: serving with stale state would accept revoked keys. For the same reason an entity whose newest record
 * cannot be read is unknown from then on.
 */
export function createAccountsReadModel(deps: {
  log: Pick<Log, 'read' | 'bounds'>;
  codec: Codec;
  signal: AbortSignal;
  onUnreadable: OnUnreadable;
  /** Called for every record before outcomes are reported; null: the entity was removed or its newest record cannot be read. */
  onState?: (entity: string, state: AccountState['state'] | null) => void;
  nowMs?: () => number;
}): AccountsReadModel {
  const { log, codec, signal } = deps;
  const topic = topics.accountsState.name;
  const keys = createKeysView(deps.nowMs ?? Date.now);
  const users = createUsersView();
  const capacity = createCapacityView();
  const outcomes = new Map<string, Outcome>();
  const waiters = new Map<string, Set<(outcome: Outcome) => void>>();

  const change = (entity: string, state: AccountState['state'] | null) => {
    // First, so that a listener of `onState` sees the new value.
    keys.apply(entity, state);
    users.apply(entity, state);
    capacity.apply(entity, state);
    deps.onState?.(entity, state);
    if (!entity.startsWith('outcome:')) return;
    const id = entity.slice('outcome:'.length);
    if (state === null || !('oddstream.Outcome' in state)) outcomes.delete(id);
    else {
      outcomes.set(id, state['oddstream.Outcome']);
      for (const resolve of waiters.get(id) ?? []) resolve(state['oddstream.Outcome']);
      waiters.delete(id);
    }
  };

  const apply = (record: LogRecord) => {
    const event =
      record.value === null
        ? undefined
        : tryDecode(codec, record.value, (reason) => deps.onUnreadable({ topic, offset: record.offset }, reason));
    change(record.key, event?.kind === 'account_state' ? event.value.state : null);
  };

  const load = async (): Promise<number> => {
    let { earliest: next } = await log.bounds(topic, 0);
    for await (const batch of log.read({ topic, partition: 0, from: { offset: next }, follow: false, signal })) {
      for (const record of batch.records) apply(record);
      next = batch.nextOffset;
    }
    return next;
  };
  const follow = async (offset: number): Promise<void> => {
    for await (const batch of log.read({ topic, partition: 0, from: { offset }, follow: true, signal }))
      for (const record of batch.records) apply(record);
  };

  const loaded = load();
  void loaded.then(follow);

  return {
    ready: async () => {
      await loaded;
    },
    lookupKey: keys.lookupKey,
    lookupKeyHash: keys.lookupKeyHash,
    account: keys.account,
    keysOf: keys.keysOf,
    users,
    capacity,
    remainingCapacity(accountId, meter, nowMs) {
      const account = keys.account(accountId);
      return account === undefined ? null : remainingCapacity(meterCapacity(capacity, account, meter, nowMs));
    },
    waitForOutcome(commandId, timeoutMs) {
      const known = outcomes.get(commandId);
      if (known !== undefined) return Promise.resolve(known);
      return new Promise((resolve) => {
        const mine = waiters.get(commandId) ?? new Set();
        waiters.set(commandId, mine);
        const settle = (outcome: Outcome | null) => {
          clearTimeout(timer);
          mine.delete(settle);
          if (mine.size === 0 && waiters.get(commandId) === mine) waiters.delete(commandId);
          resolve(outcome);
        };
        const timer = setTimeout(() => settle(null), timeoutMs);
        mine.add(settle);
      });
    },
  };
}
