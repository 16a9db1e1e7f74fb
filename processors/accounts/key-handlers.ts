import { accountTerms, commonLimits } from '../../schemas/plans.js';
import type { Account, CreateFreeKey, CreateKey, Key } from '../../schemas/types.gen.js';
import { accept, type CommandHandlers, reject } from './command-result.js';
import { type AccountsState, entitiesOf, entityOf, openAccount } from './state.js';

type NewKey = Pick<CreateKey | CreateFreeKey, 'account_id' | 'key_hash' | 'key_prefix' | 'name'>;

export const newKey = (
  { account_id, key_hash, key_prefix, name }: NewKey,
  atMs: number,
  firstKeyHash: string | null = null,
) => ({
  'oddstream.Key': {
    key_hash,
    key_prefix,
    account_id,
    name,
    active: true,
    created_at_ms: atMs,
    expires_at_ms: null,
    replaced_by: null,
    first_key_hash: firstKeyHash,
  },
});

/** The account and its key, or why a command about them is rejected. */
export function findKey(
  state: AccountsState,
  { account_id, key_hash }: { readonly account_id: string; readonly key_hash: string },
) {
  const account = openAccount(state, account_id);
  if (account === undefined) return { rejection: reject('unknown_account', null) };
  const key = state.keys.get(entityOf.key(key_hash));
  if (key === undefined || key.account_id !== account_id) return { rejection: reject('unknown_key', account_id) };
  return { account, key };
}

const keysOf = (state: AccountsState, accountId: string): readonly Key[] =>
  entitiesOf(state, accountId, 'key').flatMap((entity) => state.keys.get(entity) ?? []);

/** Entities of the keys beyond those that are retained, revoked first. */
function surplusKeys(state: AccountsState, { account_id: id }: Account): readonly string[] {
  const revoked = keysOf(state, id).filter(({ active }) => !active);
  return revoked
    .slice(0, Math.max(0, revoked.length - commonLimits.revokedKeysPerAccount))
    .map(({ key_hash }) => entityOf.key(key_hash));
}

/** Keys of an account. A replaced key does not count in `active_keys`, whether it still works or not. */
export const keyHandlers: CommandHandlers<'CreateKey' | 'RevokeKey' | 'RenameKey' | 'RotateKey'> = {
  CreateKey(state, command, { atMs }) {
    const account = openAccount(state, command.account_id);
    if (account === undefined) return reject('unknown_account', null);
    const id = account.account_id;
    if (state.keys.has(entityOf.key(command.key_hash))) return reject('duplicate_key', id);
    if (account.active_keys >= accountTerms(account).apiKeys) return reject('key_limit', id);
    return {
      ...accept(
        id,
        { 'oddstream.Account': { ...account, active_keys: account.active_keys + 1 } },
        newKey(command, atMs),
      ),
      removed: surplusKeys(state, account),
    };
  },
  RevokeKey(state, command) {
    const { account, key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    if (!key.active) return accept(account.account_id);
    const pool = entityOf.pool(key.key_hash);
    const counted = key.replaced_by === null;
    return {
      ...accept(
        account.account_id,
        ...(counted ? [{ 'oddstream.Account': { ...account, active_keys: account.active_keys - 1 } }] : []),
        { 'oddstream.Key': { ...key, active: false } },
      ),
      // No other key can read it, and a revoked key is never active again.
      removed: state.pools.has(pool) ? [pool] : [],
    };
  },
  RenameKey(state, command) {
    const { account, key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    if (!key.active || key.replaced_by !== null) return reject('unknown_key', account.account_id);
    return accept(account.account_id, { 'oddstream.Key': { ...key, name: command.name } });
  },
  RotateKey(state, command, { atMs }) {
    const { account, key, rejection } = findKey(state, command);
    if (rejection !== undefined) return rejection;
    const id = account.account_id;
    const { new_key_hash: newHash, grace_ms: graceMs } = command;
    if (!key.active || key.replaced_by !== null) return reject('unknown_key', id);
    if (state.keys.has(entityOf.key(newHash))) return reject('duplicate_key', id);
    if (!Number.isInteger(graceMs) || graceMs < 0 || graceMs > commonLimits.keyGraceMaxMs)
      return reject('invalid_grace', id);
    const replaced = keysOf(state, id).filter(
      (one) => one.active && one.replaced_by !== null && (one.expires_at_ms ?? 0) > atMs,
    );
    // Otherwise repeated rotation would give an account any number of working keys.
    if (graceMs > 0 && replaced.length >= accountTerms(account).apiKeys) return reject('key_limit', id);
    const successor = { account_id: id, key_hash: newHash, key_prefix: command.new_key_prefix, name: key.name };
    const pool = state.pools.get(entityOf.pool(key.key_hash));
    // Their pool moves on, and the key between them may expire before they do.
    const predecessors = replaced.filter(({ replaced_by: by }) => by === key.key_hash);
    return {
      ...accept(
        id,
        { 'oddstream.Key': { ...key, expires_at_ms: atMs + graceMs, replaced_by: newHash } },
        ...predecessors.map((one) => ({ 'oddstream.Key': { ...one, replaced_by: newHash } })),
        newKey(successor, atMs, key.first_key_hash ?? key.key_hash),
        ...(pool === undefined ? [] : [{ 'oddstream.Pool': { ...pool, key_hash: newHash } }]),
      ),
      removed: pool === undefined ? [] : [entityOf.pool(key.key_hash)],
    };
  },
};
