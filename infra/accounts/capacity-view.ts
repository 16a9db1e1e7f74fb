import { monthlyAllowance } from '../../schemas/packages.js';
import { servicePeriod } from '../../schemas/service-period.js';
import type { Account, AccountMeter, AccountState, Checkout, Grant, UsageSettlement } from '../../schemas/types.gen.js';

/** Capacity of accounts beyond the allowance of their plan, as far as accounts.state has been read. */
export interface CapacityView {
  checkoutsOf(accountId: string): readonly Checkout[];
  /** Used-up and expired ones included. */
  grantsOf(accountId: string): readonly Grant[];
  /** Newest settlement of a meter; undefined while an account has stayed within its allowance and its grants. */
  settlement(accountId: string, meter: AccountMeter): UsageSettlement | undefined;
}

/** Entities of one kind by account. */
function createByAccount<T extends { readonly account_id: string }>() {
  const values = new Map<string, T>();
  const idsByAccount = new Map<string, Set<string>>();
  return {
    set(id: string, value: T | null) {
      const before = values.get(id);
      if (before !== undefined) idsByAccount.get(before.account_id)?.delete(id);
      values.delete(id);
      if (value === null) return;
      values.set(id, value);
      const ids = idsByAccount.get(value.account_id) ?? new Set();
      idsByAccount.set(value.account_id, ids.add(id));
    },
    get: (id: string) => values.get(id),
    of: (accountId: string): readonly T[] =>
      [...(idsByAccount.get(accountId) ?? [])].flatMap((id) => values.get(id) ?? []),
  };
}

/** Follows checkouts, grants and settlements of accounts.state. `apply`: see `onState` of createAccountsReadModel. */
export function createCapacityView(): CapacityView & {
  apply(entity: string, state: AccountState['state'] | null): void;
} {
  const checkouts = createByAccount<Checkout>();
  const grants = createByAccount<Grant>();
  const settlements = createByAccount<UsageSettlement>();
  return {
    checkoutsOf: checkouts.of,
    grantsOf: grants.of,
    settlement: (accountId, meter) => settlements.get(`settled:${accountId}:${meter}`),
    apply(entity, state) {
      if (entity.startsWith('checkout:'))
        checkouts.set(entity, state !== null && 'oddstream.Checkout' in state ? state['oddstream.Checkout'] : null);
      else if (entity.startsWith('grant:'))
        grants.set(entity, state !== null && 'oddstream.Grant' in state ? state['oddstream.Grant'] : null);
      else if (entity.startsWith('settled:'))
        settlements.set(
          entity,
          state !== null && 'oddstream.UsageSettlement' in state ? state['oddstream.UsageSettlement'] : null,
        );
    },
  };
}

/** Capacity of one meter in the running service period; quantities as in the usage table. */
export interface MeterCapacity {
  /** null: unlimited. */
  readonly included: number | null;
  /** Total of the period at the last settlement; 0 before the first one. */
  readonly used: number;
  /** Part of `used` that grants have covered. */
  readonly charged: number;
  /** What is left of grants that have not expired. */
  readonly packages: number;
  readonly courtesy: number;
}

/** Capacity of an account at `nowMs`, from its grants and the last settlement of its running service period. */
export function meterCapacity(
  view: Pick<CapacityView, 'grantsOf' | 'settlement'>,
  account: Account,
  meter: AccountMeter,
  nowMs: number,
): MeterCapacity {
  const { startMs } = servicePeriod(account.created_at_ms, nowMs);
  const settled = view.settlement(account.account_id, meter);
  const current = [settled, settled?.previous].find((period) => period?.period_start_ms === startMs);
  const left = { package: 0, courtesy: 0 };
  for (const grant of view.grantsOf(account.account_id))
    if (grant.meter === meter && grant.expires_at_ms > nowMs) left[grant.kind] += grant.remaining;
  return {
    included: monthlyAllowance(account, meter),
    used: current?.used ?? 0,
    charged: current?.charged ?? 0,
    packages: left.package,
    courtesy: left.courtesy,
  };
}

/**
 * What an account may still use of a meter in the running service period: the rest of the allowance, packages and courtesy capacity, at least 0;
 * null: unlimited. As of the last settlement, some seconds late: an account that has stayed far below its allowance has none.
 */
export function remainingCapacity({ included, used, charged, packages, courtesy }: MeterCapacity): number | null {
  return included === null ? null : Math.max(0, included - used + charged + packages + courtesy);
}
