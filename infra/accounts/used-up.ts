import { servicePeriod } from '../../schemas/service-period.js';
import type { AccountMeter } from '../../schemas/types.gen.js';
import type { AccountsReadModel } from './read-model.js';

/** End of the running service period, Unix ms, if the account has nothing left of the meter; else null, also for unknown accounts. */
export type UsedUpUntil = (accountId: string, meter: AccountMeter, nowMs: number) => number | null;

/** Returns which meters of which accounts are used up, from the last settlement: some seconds late. */
export function createUsedUpUntil(accounts: Pick<AccountsReadModel, 'account' | 'remainingCapacity'>): UsedUpUntil {
  return (accountId, meter, nowMs) => {
    const account = accounts.account(accountId);
    if (account === undefined) return null;
    const remaining = accounts.remainingCapacity(accountId, meter, nowMs);
    return remaining === null || remaining > 0 ? null : servicePeriod(account.created_at_ms, nowMs).endMs;
  };
}
