import { refundedCents } from '../../schemas/packages.js';
import type { Account, AccountMeter, Checkout, Grant, LedgerEntry } from '../../schemas/types.gen.js';
import type { CommandContext, States } from './command-result.js';
import { type AccountsState, entitiesOf } from './state.js';

/** Grants of one account and meter while a command changes them. Every change of `remaining` is a ledger entry. */
export interface MeterLedger {
  /** Adds a grant with its whole quantity. */
  grant(grant: Omit<Grant, 'account_id' | 'meter' | 'remaining' | 'removed'>): void;
  /** Ends the grants that have expired. */
  expire(): void;
  /**
   * Charges `quantity`, or as much as there is, to grants that were made before `grantedBeforeMs`: packages first, then courtesy capacity, of
   * each the earliest expiry first. Returns what was charged.
   */
  charge(quantity: number, grantedBeforeMs?: number): number;
  /** Makes the part of a grant that money taken back has removed equal to `due`, as far as capacity is left. */
  takeBack(grantId: string, due: number): void;
  /** What is left of all grants. */
  balance(): number;
  /** Changed grants, the entries, and the account with their number. Empty if nothing changed. */
  changes(): States;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The order in which grants are used up. */
const byUse = (a: Grant, b: Grant): number =>
  Number(a.kind === 'courtesy') - Number(b.kind === 'courtesy') ||
  a.expires_at_ms - b.expires_at_ms ||
  a.granted_at_ms - b.granted_at_ms ||
  compareText(a.grant_id, b.grant_id);

/**
 * Opens the ledger of an account's meter. After every entry its balance is the sum of all entries of the meter, and of the `remaining` of
 * all its grants.
 */
export function openMeterLedger(
  state: AccountsState,
  account: Account,
  meter: AccountMeter,
  { atMs, author }: CommandContext,
): MeterLedger {
  const grants = new Map<string, Grant>();
  for (const entity of entitiesOf(state, account.account_id, 'grant')) {
    const grant = state.grants.get(entity);
    if (grant?.meter === meter) grants.set(grant.grant_id, grant);
  }
  let balance = [...grants.values()].reduce((sum, { remaining }) => sum + remaining, 0);
  const entries: LedgerEntry[] = [];
  const changed = new Set<string>();

  const post = (grant: Grant, kind: LedgerEntry['kind'], quantity: number) => {
    balance += quantity;
    entries.push({
      account_id: account.account_id,
      seq: account.ledger_entries + entries.length + 1,
      meter,
      grant_id: grant.grant_id,
      kind,
      quantity,
      balance,
      at_ms: atMs,
      author,
    });
    grants.set(grant.grant_id, {
      ...grant,
      remaining: grant.remaining + quantity,
      removed: grant.removed - (kind === 'refunded' || kind === 'reinstated' ? quantity : 0),
    });
    changed.add(grant.grant_id);
  };
  const usable = () => [...grants.values()].filter(({ remaining }) => remaining > 0).sort(byUse);

  return {
    grant(grant) {
      post({ ...grant, account_id: account.account_id, meter, remaining: 0, removed: 0 }, 'granted', grant.quantity);
    },
    expire() {
      for (const grant of usable()) if (grant.expires_at_ms <= atMs) post(grant, 'expired', -grant.remaining);
    },
    charge(quantity, grantedBeforeMs = Number.POSITIVE_INFINITY) {
      let left = quantity;
      for (const grant of usable()) {
        if (left <= 0) break;
        if (grant.granted_at_ms >= grantedBeforeMs) continue;
        const taken = Math.min(left, grant.remaining);
        post(grant, 'used', -taken);
        left -= taken;
      }
      return quantity - left;
    },
    takeBack(grantId, due) {
      const grant = grants.get(grantId);
      if (grant === undefined) return;
      const taken = Math.min(due - grant.removed, grant.remaining);
      if (taken > 0) post(grant, 'refunded', -taken);
      else if (due < grant.removed) post(grant, 'reinstated', grant.removed - due);
    },
    balance: () => balance,
    changes: () =>
      entries.length === 0
        ? []
        : [
            { 'oddstream.Account': { ...account, ledger_entries: account.ledger_entries + entries.length } },
            ...[...changed].flatMap((id) => {
              const grant = grants.get(id);
              return grant === undefined ? [] : [{ 'oddstream.Grant': grant }];
            }),
            ...entries.map((entry) => ({ 'oddstream.LedgerEntry': entry })),
          ],
  };
}

/** Money of a checkout that went back and stayed back: refunds that did not fail, and disputes that are open or lost. */
function returnedCents(checkout: Checkout): number {
  const disputed = checkout.disputes.reduce((sum, { cents, status }) => sum + (status === 'won' ? 0 : cents), 0);
  return Math.min(checkout.amount_cents, refundedCents(checkout) + disputed);
}

/** Part of a purchased quantity for which the money went back, rounded down. */
export function returnedQuantity(quantity: number, checkout: Checkout): number {
  return Number((BigInt(quantity) * BigInt(returnedCents(checkout))) / BigInt(checkout.amount_cents));
}
