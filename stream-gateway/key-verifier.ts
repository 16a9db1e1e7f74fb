import type { AccountsReadModel } from '../infra/accounts/read-model.js';
import { isValidKeyFormat } from '../schemas/api-keys.js';
import type { KeyCheckResult } from './upgrade.js';

/** A missing key or one of the wrong format is `malformed`; an unknown or revoked key is `inactive`. */
export function createKeyVerifier(accounts: Pick<AccountsReadModel, 'lookupKey'>): (key: string) => KeyCheckResult {
  return (key) => {
    if (!isValidKeyFormat(key)) return { status: 'malformed' };
    const found = accounts.lookupKey(key);
    if (found.status !== 'ok') return { status: 'inactive' };
    return { status: 'ok', accountId: found.account.account_id, terms: found.terms };
  };
}
