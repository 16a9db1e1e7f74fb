import { accountTerms } from './plans.js';
import type { Account, AccountMeter, Checkout } from './types.gen.js';

/** Usage meters, in the order in which they are shown. */
export const accountMeters = [
  'api_requests',
  'orderbook_chainlink_bytes',
  'onchain_event_bytes',
] as const satisfies readonly AccountMeter[];

const DAY_MS = 86_400_000;

/** One-time purchases of capacity beyond the monthly allowance. They do not reset monthly and change no other limit. */
export const usagePackages = {
  priceCents: 2_000,
  maxPerCheckout: 100,
  lifetimeMs: 90 * DAY_MS,
  /** Checkouts of an account that are open at once. */
  maxOpenCheckouts: 10,
  /** An open checkout that is older has ended at the provider. */
  checkoutLifetimeMs: DAY_MS,
  quantity: {
    api_requests: 10_000_000,
    orderbook_chainlink_bytes: 100_000_000_000,
    onchain_event_bytes: 100_000_000_000,
  } satisfies Record<AccountMeter, number>,
} as const;

/** Quantity of a meter that a service month of the account includes; null: unlimited. */
export function monthlyAllowance(account: Pick<Account, 'plan' | 'custom_limits'>, meter: AccountMeter): number | null {
  return accountTerms(account).monthlyAllowance[meter];
}

/** Refunded money of a checkout that stayed with the buyer, US cents. */
export function refundedCents(checkout: Pick<Checkout, 'refunded_cents' | 'failed_refund_cents'>): number {
  return Math.max(0, checkout.refunded_cents - checkout.failed_refund_cents);
}
