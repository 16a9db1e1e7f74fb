import { monthlyAllowance, usagePackages } from '../../schemas/packages.js';
import { servicePeriod } from '../../schemas/service-period.js';
import type { Account, Checkout, Dispute, PeriodUsage, SetRefund } from '../../schemas/types.gen.js';
import { accept, type CommandHandlers, type CommandResult, reject } from './command-result.js';
import { type MeterLedger, openMeterLedger, returnedQuantity } from './ledger.js';
import { type AccountsState, entitiesOf, entityOf } from './state.js';

/** Checkouts that were never paid are removed after this time; a provider reports a payment long before. */
const UNPAID_RETENTION_MS = 90 * 86_400_000;
/** Largest quantity of a courtesy grant. */
const MAX_COURTESY = 1_000_000_000_000_000;
/** Largest capacity to which a courtesy grant may raise a meter: with 250 checkouts of the largest size more, a balance is still an exact integer. */
const MAX_CAPACITY_WITH_COURTESY = 5 * MAX_COURTESY;

type Found = { readonly account: Account; readonly checkout: Checkout } | { readonly rejection: CommandResult };

function findCheckout(state: AccountsState, ids: { account_id: string; checkout_id: string }): Found {
  const account = state.accounts.get(entityOf.account(ids.account_id));
  if (account === undefined) return { rejection: reject('unknown_account', null) };
  const checkout = state.checkouts.get(entityOf.checkout(ids.checkout_id));
  if (checkout?.account_id !== ids.account_id) return { rejection: reject('unknown_checkout', ids.account_id) };
  return { account, checkout };
}

const isSameOrder = (a: Checkout, b: Checkout): boolean =>
  (['account_id', 'meter', 'count', 'amount_cents', 'provider', 'provider_ref'] as const).every(
    (name) => a[name] === b[name],
  );

function withRefund(checkout: Checkout, command: SetRefund): Checkout {
  const { dispute_id: id, refunded_cents: cents, reason } = command;
  // Both totals only grow, so the greatest is the newest in any order of the events.
  if (reason === 'refund' || id === null)
    return {
      ...checkout,
      refunded_cents: Math.max(checkout.refunded_cents, cents),
      failed_refund_cents: Math.max(checkout.failed_refund_cents, command.failed_cents),
    };
  const known = checkout.disputes.find((dispute) => dispute.dispute_id === id);
  // A dispute is decided once: a late event of its beginning changes nothing.
  if (known !== undefined && known.status !== 'open') return checkout;
  const status = reason === 'dispute_won' ? 'won' : reason === 'dispute_lost' ? 'lost' : 'open';
  if (known?.status === status && known.cents === cents) return checkout;
  const dispute: Dispute = { dispute_id: id, cents, status };
  return {
    ...checkout,
    disputes:
      known === undefined
        ? [...checkout.disputes, dispute]
        : checkout.disputes.map((one) => (one === known ? dispute : one)),
  };
}

/** Charges what the total has grown beyond the allowance, as far as grants cover it. Totals never decrease. */
function settle(
  before: PeriodUsage,
  used: number,
  allowance: number | null,
  charge: (quantity: number) => number,
): PeriodUsage {
  const total = Math.max(before.used, used);
  const beyond = allowance === null ? 0 : Math.max(0, total - allowance);
  const charged = before.charged + charge(Math.max(0, beyond - before.charged));
  return {
    period_start_ms: before.period_start_ms,
    used: total,
    charged,
    uncovered: Math.max(0, beyond - charged),
  };
}

const noUsage = (startMs: number): PeriodUsage => ({ period_start_ms: startMs, used: 0, charged: 0, uncovered: 0 });
const isSameUsage = (a: PeriodUsage | null, b: PeriodUsage | null): boolean =>
  a?.period_start_ms === b?.period_start_ms &&
  a?.used === b?.used &&
  a?.charged === b?.charged &&
  a?.uncovered === b?.uncovered;

/** Purchased packages, refunds, courtesy capacity and the settlement of usage. */
export const packageHandlers: CommandHandlers<
  'StartCheckout' | 'CompleteCheckout' | 'ExpireCheckout' | 'SetRefund' | 'GrantCourtesy' | 'SettleUsage'
> = {
  StartCheckout(state, command, { atMs }) {
    const { account_id: id, count } = command;
    const account = state.accounts.get(entityOf.account(id));
    if (account === undefined || account.deleted_at_ms !== null) return reject('unknown_account', null);
    const checkout: Checkout = {
      ...command,
      payment_ref: null,
      status: 'open',
      refunded_cents: 0,
      failed_refund_cents: 0,
      disputes: [],
      started_at_ms: atMs,
      paid_at_ms: null,
    };
    const known = state.checkouts.get(entityOf.checkout(command.checkout_id));
    if (known !== undefined) return isSameOrder(known, checkout) ? accept(id) : reject('duplicate_checkout', id);
    const isCount = Number.isInteger(count) && count >= 1 && count <= usagePackages.maxPerCheckout;
    if (!isCount || command.amount_cents !== count * usagePackages.priceCents) return reject('wrong_amount', id);
    const unpaid = entitiesOf(state, id, 'checkout').flatMap((entity) => {
      const one = state.checkouts.get(entity);
      return one === undefined || one.status === 'paid' ? [] : [{ entity, ...one }];
    });
    const open = unpaid.filter(
      ({ status, started_at_ms: then }) => status === 'open' && then > atMs - usagePackages.checkoutLifetimeMs,
    );
    if (open.length >= usagePackages.maxOpenCheckouts) return reject('checkout_limit', id);
    const old = unpaid.filter(({ started_at_ms: then }) => then <= atMs - UNPAID_RETENTION_MS);
    return { ...accept(id, { 'oddstream.Checkout': checkout }), removed: old.map(({ entity }) => entity) };
  },

  CompleteCheckout(state, command, context) {
    const found = findCheckout(state, command);
    if ('rejection' in found) return found.rejection;
    const { account, checkout } = found;
    const id = account.account_id;
    if (command.amount_cents !== checkout.amount_cents) return reject('wrong_amount', id);
    if (checkout.status === 'paid')
      return checkout.payment_ref === command.payment_ref ? accept(id) : reject('already_paid', id);
    const paid: Checkout = {
      ...checkout,
      status: 'paid',
      payment_ref: command.payment_ref,
      paid_at_ms: command.paid_at_ms,
    };
    const ledger = openMeterLedger(state, account, checkout.meter, context);
    const quantity = checkout.count * usagePackages.quantity[checkout.meter];
    ledger.expire();
    ledger.grant({
      grant_id: checkout.checkout_id,
      kind: 'package',
      quantity,
      granted_at_ms: command.paid_at_ms,
      expires_at_ms: command.paid_at_ms + usagePackages.lifetimeMs,
      note: '',
    });
    ledger.takeBack(checkout.checkout_id, returnedQuantity(quantity, paid));
    ledger.expire();
    return accept(id, { 'oddstream.Checkout': paid }, ...ledger.changes());
  },

  ExpireCheckout(state, command) {
    const found = findCheckout(state, command);
    if ('rejection' in found) return found.rejection;
    const { account, checkout } = found;
    if (checkout.status !== 'open') return accept(account.account_id);
    return accept(account.account_id, { 'oddstream.Checkout': { ...checkout, status: 'expired' } });
  },

  SetRefund(state, command, context) {
    const found = findCheckout(state, command);
    if ('rejection' in found) return found.rejection;
    const { account, checkout } = found;
    if ([command.refunded_cents, command.failed_cents].some((cents) => !Number.isSafeInteger(cents) || cents < 0))
      return reject('wrong_amount', account.account_id);
    const refunded = withRefund(checkout, command);
    const ledger = openMeterLedger(state, account, checkout.meter, context);
    const grant = state.grants.get(entityOf.grant(checkout.checkout_id));
    ledger.expire();
    if (grant !== undefined) ledger.takeBack(grant.grant_id, returnedQuantity(grant.quantity, refunded));
    ledger.expire();
    const changed = (['refunded_cents', 'failed_refund_cents', 'disputes'] as const).some(
      (name) => refunded[name] !== checkout[name],
    );
    return accept(account.account_id, ...(changed ? [{ 'oddstream.Checkout': refunded }] : []), ...ledger.changes());
  },

  GrantCourtesy(state, command, context) {
    const { account_id: id, meter, ...grant } = command;
    const account = state.accounts.get(entityOf.account(id));
    if (account === undefined || account.deleted_at_ms !== null) return reject('unknown_account', null);
    const known = state.grants.get(entityOf.grant(grant.grant_id));
    if (known !== undefined) return known.account_id === id ? accept(id) : reject('duplicate_grant', id);
    if (!Number.isInteger(grant.quantity) || grant.quantity < 1 || grant.quantity > MAX_COURTESY)
      return reject('bad_quantity', id);
    if (grant.expires_at_ms <= context.atMs) return reject('expired', id);
    const ledger: MeterLedger = openMeterLedger(state, account, meter, context);
    ledger.expire();
    if (ledger.balance() + grant.quantity > MAX_CAPACITY_WITH_COURTESY) return reject('bad_quantity', id);
    ledger.grant({ ...grant, kind: 'courtesy', granted_at_ms: context.atMs });
    return accept(id, ...ledger.changes());
  },

  /**
   * A total of the running period is charged to all grants, also to one that was bought after the usage. A late total of an ended period is charged to
   * the grants that were made before its end and have not expired at the time of the command; not at all once the plan or the limits have changed
   * after the end, since the allowance of that period is no longer known.
   */
  SettleUsage(state, { account_id: id, meter, period_start_ms: startMs, used }, context) {
    const account = state.accounts.get(entityOf.account(id));
    if (account === undefined) return reject('unknown_account', null);
    if (!Number.isSafeInteger(used) || used < 0) return reject('bad_quantity', id);
    const period = servicePeriod(account.created_at_ms, startMs);
    if (period.startMs !== startMs) return reject('unknown_period', id);
    const before = state.settlements.get(entityOf.settlement(id, meter));
    const allowance = monthlyAllowance(account, meter);
    const ledger = openMeterLedger(state, account, meter, context);
    ledger.expire();
    const hasEnded = context.atMs >= period.endMs;
    if (hasEnded && account.terms_since_ms >= period.endMs) return accept(id, ...ledger.changes());
    const charge = (quantity: number) => ledger.charge(quantity, hasEnded ? period.endMs : undefined);
    let current: PeriodUsage;
    let previous: PeriodUsage | null = before?.previous ?? null;
    if (before === undefined || startMs >= before.period_start_ms) {
      const isNew = before === undefined || startMs > before.period_start_ms;
      if (isNew && before !== undefined) {
        const { period_start_ms, used: total, charged, uncovered } = before;
        previous = { period_start_ms, used: total, charged, uncovered };
      }
      current = settle(isNew ? noUsage(startMs) : before, used, allowance, charge);
    } else {
      if (previous !== null && startMs < previous.period_start_ms) return reject('unknown_period', id);
      const late = previous?.period_start_ms === startMs ? previous : noUsage(startMs);
      current = before;
      previous = settle(late, used, allowance, charge);
    }
    const isSame = before !== undefined && isSameUsage(before, current) && isSameUsage(before.previous, previous);
    return accept(
      id,
      ...(isSame ? [] : [{ 'oddstream.UsageSettlement': { ...current, account_id: id, meter, previous } }]),
      ...ledger.changes(),
    );
  },
};
