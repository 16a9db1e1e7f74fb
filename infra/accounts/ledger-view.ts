import type { AccountState, LedgerEntry } from '../../schemas/types.gen.js';

/** Ledger entries of all accounts, as far as accounts.state has been read. */
export interface LedgerView {
  /** Entries of an account in their order. */
  of(accountId: string): readonly LedgerEntry[];
}

/** Follows the ledger entries of accounts.state. `apply`: see `onState` of createAccountsReadModel. */
export function createLedgerView(): LedgerView & { apply(entity: string, state: AccountState['state'] | null): void } {
  const entries = new Map<string, LedgerEntry[]>();
  return {
    of: (accountId) => entries.get(accountId) ?? [],
    apply(_entity, state) {
      if (state === null || !('oddstream.LedgerEntry' in state)) return;
      const entry = state['oddstream.LedgerEntry'];
      const ofAccount = entries.get(entry.account_id) ?? [];
      entries.set(entry.account_id, ofAccount);
      // The processor writes them in order.
      if (entry.seq > (ofAccount.at(-1)?.seq ?? 0)) ofAccount.push(entry);
    },
  };
}
