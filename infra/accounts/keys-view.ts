import { timingSafeEqual } from 'node:crypto';
import { hashKey } from '../../schemas/api-keys.js';
import { accountTerms, type PlanTerms } from '../../schemas/plans.js';
import type { Account, AccountState, Key } from '../../schemas/types.gen.js';

/** `inactive`: revoked, replaced and past its grace period, or of a deleted account. */
export type KeyLookup =
  | { readonly status: 'unknown' }
  | { readonly status: 'inactive'; readonly key: Key }
  | { readonly status: 'ok'; readonly account: Account; readonly key: Key; readonly terms: PlanTerms };

/** Accounts and their keys, as far as accounts.state has been read. */
export interface KeysView {
  lookupKey(rawKey: string): KeyLookup;
  /** The same for the SHA-256 hex of a key. */
  lookupKeyHash(keyHash: string): KeyLookup;
  account(accountId: string): Account | undefined;
  /** Keys of an account in order of their creation, revoked ones included. */
  keysOf(accountId: string): readonly Key[];
}

const UNKNOWN = { status: 'unknown' } as const;

/** Follows accounts and keys of accounts.state. `apply`: see `onState` of createAccountsReadModel. */
export function createKeysView(nowMs: () => number): KeysView & {
  apply(entity: string, state: AccountState['state'] | null): void;
} {
  const accounts = new Map<string, Account>();
  const keys = new Map<string, Key>();
  const keysByAccount = new Map<string, Set<string>>();

  const lookupKeyHash: KeysView['lookupKeyHash'] = (keyHash) => {
    const key = keys.get(keyHash);
    if (key === undefined) return UNKNOWN;
    const account = accounts.get(key.account_id);
    const expired = key.expires_at_ms !== null && key.expires_at_ms <= nowMs();
    if (!key.active || expired || account === undefined || account.deleted_at_ms !== null)
      return { status: 'inactive', key };
    return { status: 'ok', account, key, terms: accountTerms(account) };
  };

  return {
    lookupKeyHash,
    lookupKey(rawKey) {
      const hash = hashKey(rawKey);
      const found = lookupKeyHash(hash);
      // The map compares hashes, which a sender cannot choose: the time of a comparison reveals nothing about a stored key. The comparison that
      // admits takes the same time for all hashes nevertheless, and holds if the map is ever replaced by one over a part of the hash.
      if (found.status !== 'unknown' && !timingSafeEqual(Buffer.from(found.key.key_hash), Buffer.from(hash)))
        return UNKNOWN;
      return found;
    },
    account: (accountId) => accounts.get(accountId),
    keysOf: (accountId) =>
      [...(keysByAccount.get(accountId) ?? [])]
        .flatMap((hash) => keys.get(hash) ?? [])
        .sort((a, b) => a.created_at_ms - b.created_at_ms),
    apply(entity, state) {
      const id = entity.slice(entity.indexOf(':') + 1);
      if (entity.startsWith('account:')) {
        if (state !== null && 'oddstream.Account' in state) accounts.set(id, state['oddstream.Account']);
        else accounts.delete(id);
      } else if (entity.startsWith('key:')) {
        if (state !== null && 'oddstream.Key' in state) {
          const key = state['oddstream.Key'];
          keys.set(id, key);
          const hashes = keysByAccount.get(key.account_id) ?? new Set();
          keysByAccount.set(key.account_id, hashes.add(id));
        } else {
          keysByAccount.get(keys.get(id)?.account_id ?? '')?.delete(id);
          keys.delete(id);
        }
      }
    },
  };
}
