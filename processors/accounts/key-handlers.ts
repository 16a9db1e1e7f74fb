import { plans } from '../../schemas/plans.js';
import type { CreateFreeKey, CreateKey, Key } from '../../schemas/types.gen.js';
import { accept, type CommandHandlers, type CommandResult, reject } from './command-result.js';
import { addToPool, type PoolResult, removeFromPool } from './pool.js';
import { type AccountsState, entityOf } from './state.js';

export const newKey = (command: CreateKey | CreateFreeKey, atMs: number) => ({
  'oddstream.Key': {
    key_hash: command.key_hash,
    key_prefix: command.key_prefix,
    account_id: command.account_id,
    name: command.name,
    active: true,
    created_at_ms: atMs,
    expires_at_ms: null,
    replaced_by: null,
  },
});

/** The account and its key, or why a command about them is rejected. */
function findKey(state: AccountsState, { account_id, key_hash }: { account_id: string; key_hash: string }) {
  const account = state.accounts.get(entityOf.account(account_id));
  if (account === undefined) return { rejection: reject('unknown_account', null) };
  const key = state.keys.get(entityOf.key(key_hash));
  if (key === undefined || key.account_id !== account_id) return { rejection: reject('unknown_key', account_id) };
  return { account, key };
}

/** Writes the pool only when it changed; a pool without wallets has no record. */
function changePool({ account_id, key_hash }: Key, { wallets, change }: PoolResult): CommandResult {
  const changed = change.added + change.removed > 0;
  const result = { code: 'ok', accountId: account_id, changes: [], pool: change };
  if (!changed) return result;
  if (wallets.length === 0) return { ...result, removed: [entityOf.pool(key_hash)] };
  return { ...result, changes: [{ 'oddstream.Pool': { key_hash, account_id, wallets } }] };
}

const poolOf = (state: AccountsState, keyHash: string) => state.pools.get(entityOf.pool(keyHash))?.wallets ?? [];

/** Keys of an account and the pools of wallets that belong to a key. */
export const keyHandlers: CommandHandlers<'CreateKey' | 'RevokeKey' | 'AddPoolWallets' | 'RemovePoolWallets'> = {
  CreateKey(state, command, { atMs }) {
    const account = state.accounts.get(entityOf.account(command.account_id));
    if (account === undefined) return reject('unknown_account', null);
    const id = account.account_id;
    if (state.keys.has(entityOf.key(command.key_hash))) return reject('duplicate_key', id);
    if (account.active_keys >= plans[account.plan].apiKeys) return reject('key_limit', id);
    return accept(
      id,
      { 'oddstream.Account': { ...account, active_keys: account.active_keys + 1 } },
      newKey(command, atMs),
    );
  },
  RevokeKey(state, command) {
    const { account, key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    if (!key.active) return accept(account.account_id);
    const pool = entityOf.pool(key.key_hash);
    return {
      ...accept(
        account.account_id,
        { 'oddstream.Account': { ...account, active_keys: account.active_keys - 1 } },
        { 'oddstream.Key': { ...key, active: false } },
      ),
      // No other key can read it, and a revoked key is never active again.
      removed: state.pools.has(pool) ? [pool] : [],
    };
  },
  AddPoolWallets(state, command) {
    const { key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    if (!key.active) return reject('unknown_key', key.account_id);
    return changePool(key, addToPool(poolOf(state, key.key_hash), command.addresses));
  },
  RemovePoolWallets(state, command) {
    const { key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    if (!key.active) return reject('unknown_key', key.account_id);
    return changePool(key, removeFromPool(poolOf(state, key.key_hash), command.addresses));
  },
};
