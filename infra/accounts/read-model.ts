import { hashKey } from '../../schemas/api-keys.js';
import type { Codec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { tryDecode } from '../../schemas/try-decode.js';
import type { Account, AccountMeter, AccountState, Key, Outcome, Plan } from '../../schemas/types.gen.js';
import type { Log, LogRecord } from '../log/port.js';
import type { OnUnreadable } from '../telemetry/unreadable-records.js';
import { type CapacityView, createCapacityView, meterCapacity, remainingCapacity } from './capacity-view.js';
import { createUsersView, type UsersView } from './users-view.js';

export type KeyLookup =
  | { readonly status: 'unknown' }
  | { readonly status: 'inactive'; readonly key: Key }
  | { readonly status: 'ok'; readonly account: Account; readonly key: Key; readonly plan: Plan };

export interface AccountsReadModel {
  /** Resolves when all records that accounts.state contained at the start are applied. Rejects when it cannot be read. */
  ready(): Promise<void>;
  lookupKey(rawKey: string): KeyLookup;
  account(accountId: string): Account | undefined;
  /** Keys of an account, oldest first, revoked ones included. */
  keysOf(accountId: string): readonly Key[];
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
}): AccountsReadModel {
  const { log, codec, signal } = deps;
  const topic = topics.accountsState.name;
  const accounts = new Map<string, Account>();
  const keys = new Map<string, Key>();
  const keysByAccount = new Map<string, Set<string>>();
  const users = createUsersView();
  const capacity = createCapacityView();
  const outcomes = new Map<string, Outcome>();
  const waiters = new Map<string, Set<(outcome: Outcome) => void>>();

  const forget = (entity: string) => {
    deps.onState?.(entity, null);
    users.apply(entity, null);
    capacity.apply(entity, null);
    const colon = entity.indexOf(':');
    const id = entity.slice(colon + 1);
    switch (entity.slice(0, colon)) {
      case 'account':
        accounts.delete(id);
        break;
      case 'key':
        keysByAccount.get(keys.get(id)?.account_id ?? '')?.delete(id);
        keys.delete(id);
        break;
      case 'outcome':
        outcomes.delete(id);
        break;
    }
  };

  const apply = (record: LogRecord) => {
    if (record.value === null) return forget(record.key);
    const event = tryDecode(codec, record.value, (reason) =>
      deps.onUnreadable({ topic, offset: record.offset }, reason),
    );
    if (event?.kind !== 'account_state') return forget(record.key);
    const { entity, state } = event.value;
    deps.onState?.(entity, state);
    users.apply(entity, state);
    capacity.apply(entity, state);
    if ('oddstream.Account' in state) {
      accounts.set(state['oddstream.Account'].account_id, state['oddstream.Account']);
    } else if ('oddstream.Key' in state) {
      const key = state['oddstream.Key'];
      keys.set(key.key_hash, key);
      const hashes = keysByAccount.get(key.account_id) ?? new Set();
      keysByAccount.set(key.account_id, hashes.add(key.key_hash));
    } else if ('oddstream.Outcome' in state) {
      const id = entity.slice('outcome:'.length);
      outcomes.set(id, state['oddstream.Outcome']);
      for (const resolve of waiters.get(id) ?? []) resolve(state['oddstream.Outcome']);
      waiters.delete(id);
    }
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
    lookupKey(rawKey) {
      const key = keys.get(hashKey(rawKey));
      if (key === undefined) return { status: 'unknown' };
      const account = accounts.get(key.account_id);
      if (!key.active || account === undefined) return { status: 'inactive', key };
      return { status: 'ok', account, key, plan: account.plan };
    },
    account: (accountId) => accounts.get(accountId),
    keysOf: (accountId) =>
      [...(keysByAccount.get(accountId) ?? [])].flatMap((hash) => {
        const key = keys.get(hash);
        return key === undefined ? [] : [key];
      }),
    users,
    capacity,
    remainingCapacity(accountId, meter, nowMs) {
      const account = accounts.get(accountId);
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
