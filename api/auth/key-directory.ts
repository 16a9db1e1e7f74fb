import type { AccountsReadModel } from '../../infra/accounts/read-model.js';
import type { KeyDirectory } from './caller.js';

/** Looks up keys in the accounts' read model. */
export function createKeyDirectory(accounts: Pick<AccountsReadModel, 'lookupKey'>): KeyDirectory {
  return {
    lookup(rawKey) {
      const found = accounts.lookupKey(rawKey);
      if (found.status !== 'ok') return null;
      const { account, key, terms } = found;
      return {
        accountId: account.account_id,
        keyHash: key.key_hash,
        poolKeyHash: key.replaced_by ?? key.key_hash,
        limitKeyHash: key.first_key_hash ?? key.key_hash,
        plan: account.plan,
        terms,
      };
    },
  };
}
