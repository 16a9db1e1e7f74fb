import type { Key } from '../../schemas/types.gen.js';
import { type CommandHandlers, type CommandResult, reject } from './command-result.js';
import { findKey } from './key-handlers.js';
import { addToPool, type PoolResult, removeFromPool } from './pool.js';
import { type AccountsState, entityOf } from './state.js';

/** The pool of a key, which a replaced key shares with its successor; undefined for a key that does not work at `atMs`. */
function poolOf(state: AccountsState, key: Key, atMs: number) {
  if (!key.active || (key.expires_at_ms !== null && key.expires_at_ms <= atMs)) return undefined;
  const owner = key.replaced_by === null ? key : state.keys.get(entityOf.key(key.replaced_by));
  if (owner?.active !== true) return undefined;
  return { owner, wallets: state.pools.get(entityOf.pool(owner.key_hash))?.wallets ?? [] };
}

/** Writes the pool only when it changed; a pool without wallets has no record. */
function changePool({ account_id, key_hash }: Key, { wallets, change }: PoolResult): CommandResult {
  const changed = change.added + change.removed > 0;
  const result = { code: 'ok', accountId: account_id, changes: [], pool: change };
  if (!changed) return result;
  if (wallets.length === 0) return { ...result, removed: [entityOf.pool(key_hash)] };
  return { ...result, changes: [{ 'oddstream.Pool': { key_hash, account_id, wallets } }] };
}

/** The copy-PnL wallets that belong to a key. */
export const poolHandlers: CommandHandlers<'AddPoolWallets' | 'RemovePoolWallets'> = {
  AddPoolWallets(state, command, { atMs }) {
    const { key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    const pool = poolOf(state, key, atMs);
    if (pool === undefined) return reject('unknown_key', key.account_id);
    return changePool(pool.owner, addToPool(pool.wallets, command.addresses));
  },
  RemovePoolWallets(state, command, { atMs }) {
    const { key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    const pool = poolOf(state, key, atMs);
    if (pool === undefined) return reject('unknown_key', key.account_id);
    return changePool(pool.owner, removeFromPool(pool.wallets, command.addresses));
  },
};
