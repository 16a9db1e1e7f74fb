import type { AccountsReadModel } from '../infra/accounts/read-model.js';
import { isValidKeyFormat } from '../schemas/api-keys.js';
import type { PlanTerms } from '../schemas/plans.js';
import type { KeyCheckResult } from './upgrade.js';

/** A missing key or one of the wrong format is `malformed`; an unknown or revoked key is `inactive`. */
export function createKeyVerifier(accounts: Pick<AccountsReadModel, 'lookupKey'>): (key: string) => KeyCheckResult {
  return (key) => {
    if (!isValidKeyFormat(key)) return { status: 'malformed' };
    const found = accounts.lookupKey(key);
    if (found.status !== 'ok') return { status: 'inactive' };
    return {
      status: 'ok',
      accountId: found.account.account_id,
      keyHash: found.key.key_hash,
      terms: found.terms,
    };
  };
}

/** Current terms of an open connection's key; null once the key no longer works. */
export function createTermsOfKey(
  accounts: Pick<AccountsReadModel, 'lookupKeyHash'>,
): (keyHash: string) => PlanTerms | null {
  return (keyHash) => {
    const found = accounts.lookupKeyHash(keyHash);
    return found.status === 'ok' ? found.terms : null;
  };
}
