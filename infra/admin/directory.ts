import type { Account, AccountState, Key } from '../../schemas/types.gen.js';
import type { AccountsReadModel } from '../accounts/read-model.js';

/** An account, key or user that does not exist. */
export class NotFoundError extends Error {
  override name = 'NotFoundError';
}

/** All accounts, by what an operator knows of them. */
export interface AccountDirectory {
  all(): readonly Account[];
  /** By id or by the email of a user. Throws NotFoundError. */
  account(text: string): Account;
  find(text: string): readonly Account[];
  /** A key of the account that is active, by the beginning of its id or prefix. Throws NotFoundError, also when several match. */
  key(accountId: string, text: string): Key;
}

/** `apply`: see `onState` of createAccountsReadModel. */
export function createAccountDirectory(accounts: () => Pick<AccountsReadModel, 'account' | 'keysOf' | 'users'>) {
  const ids = new Set<string>();
  const all = () => [...ids].flatMap((id) => accounts().account(id) ?? []);
  const directory: AccountDirectory = {
    all,
    account(text) {
      const user = accounts().users.userByEmail(text.toLowerCase());
      const account = accounts().account(user?.account_id ?? text);
      if (account === undefined) throw new NotFoundError(`No account ${text}`);
      return account;
    },
    find(text) {
      const needle = text.toLowerCase();
      return all().filter(({ account_id: id, label }) =>
        [
          id,
          label,
          ...accounts()
            .users.usersOf(id)
            .map(({ email }) => email),
          ...accounts()
            .keysOf(id)
            .map(({ key_prefix: prefix }) => prefix),
        ].some((name) => name.toLowerCase().includes(needle)),
      );
    },
    key(accountId, text) {
      const found = accounts()
        .keysOf(accountId)
        .filter(
          ({ active, key_hash: hash, key_prefix: prefix }) =>
            active && (hash.startsWith(text) || prefix.startsWith(text)),
        );
      const [key] = found;
      if (key === undefined || text.length < 4)
        throw new NotFoundError(`No active key ${text} of account ${accountId}`);
      if (found.length > 1)
        throw new NotFoundError(`${found.length} active keys begin with ${text}; use more of the id`);
      return key;
    },
  };
  return {
    ...directory,
    apply(entity: string, state: AccountState['state'] | null) {
      if (!entity.startsWith('account:')) return;
      const id = entity.slice('account:'.length);
      if (state === null) ids.delete(id);
      else ids.add(id);
    },
  };
}
