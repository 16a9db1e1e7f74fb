import type { BillingConfig } from '../../infra/config/billing-config.js';
import type { PaymentProvider } from './port.js';
import { createStripeProvider } from './stripe.js';
import { createTestProvider } from './test-provider.js';

/** The configured provider; null: packages are not sold. */
export function createPaymentProvider(billing: BillingConfig, publicUrl: string): PaymentProvider | null {
  if (billing === null) return null;
  return billing.provider === 'test'
    ? createTestProvider({ publicUrl })
    : createStripeProvider({ ...billing, publicUrl });
}
