import { plans } from './plans.js';
import type { Account, AccountMeter, CustomLimits } from './types.gen.js';

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

const customAllowance = {
  api_requests: 'api_requests_per_month',
  orderbook_chainlink_bytes: 'orderbook_chainlink_bytes_per_month',
  onchain_event_bytes: 'onchain_event_bytes_per_month',
} as const satisfies Record<AccountMeter, keyof CustomLimits>;

/** Quantity of a meter that a service month of the account includes; null: unlimited. */
export function monthlyAllowance(
  { plan, custom_limits: custom }: Pick<Account, 'plan' | 'custom_limits'>,
  meter: AccountMeter,
): number | null {
  return custom?.[customAllowance[meter]] ?? plans[plan].monthlyAllowance[meter];
}
