import type { BillingConfig } from '../../infra/config/billing-config.js';
import type { PaymentProvider } from './port.js';

/** The configured provider; null: packages are not sold. Loads only the modules of that provider, since Stripe's are many. */
export async function createPaymentProvider(
  billing: BillingConfig,
  publicUrl: string,
): Promise<PaymentProvider | null> {
  if (billing === null) return null;
  return billing.provider === 'test'
    ? (await import('./test-provider.js')).createTestProvider({ publicUrl })
    : (await import('./stripe.js')).createStripeProvider({ ...billing, publicUrl });
}
