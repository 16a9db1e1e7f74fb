import type { AccountsReadModel } from '../../infra/accounts/read-model.js';
import { hashKey } from '../../schemas/api-keys.js';
import type { KeyDirectory } from './caller.js';

/** Looks up keys in the accounts' read model. */
export function createKeyDirectory(accounts: Pick<AccountsReadModel, 'lookupKey'>): KeyDirectory {
  return {
    lookup(rawKey) {
      const found = accounts.lookupKey(rawKey);
      if (found.status !== 'ok') return null;
      return { accountId: found.account.account_id, keyHash: hashKey(rawKey), plan: found.plan };
    },
  };
}
