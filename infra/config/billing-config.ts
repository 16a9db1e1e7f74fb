import { FatalError } from '../errors.js';
import type { ParsedEnvironment } from './environment.js';
import { requirePublicUrl } from './public-url.js';
import { requireHttps } from './require-https.js';
import { rejectUnused } from './unused-settings.js';

/** Who takes payments for packages; null: they are not sold. */
export type BillingConfig =
  | null
  | { readonly provider: 'test' }
  | {
      readonly provider: 'stripe';
      readonly secretKey: string;
      readonly webhookSecret: string;
      readonly apiBase: string | undefined;
    };

const STRIPE_SETTINGS = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_API_BASE'] as const;

/** Throws FatalError when a setting of Stripe, or the address to which its page returns, is missing, or when one is given although another provider takes payments. */
export function billingOf(e: ParsedEnvironment): BillingConfig {
  if (e.BILLING_PROVIDER !== 'stripe') rejectUnused(e, STRIPE_SETTINGS, `BILLING_PROVIDER is ${e.BILLING_PROVIDER}`);
  if (e.BILLING_PROVIDER === 'none') return null;
  requirePublicUrl(e, `BILLING_PROVIDER is ${e.BILLING_PROVIDER}`);
  if (e.BILLING_PROVIDER === 'test') return { provider: 'test' };
  const required = (name: 'STRIPE_SECRET_KEY' | 'STRIPE_WEBHOOK_SECRET'): string => {
    const value = e[name];
    if (value === undefined)
      throw new FatalError(`Bad configuration:\n  ${name}: missing, although BILLING_PROVIDER is stripe`);
    return value;
  };
  requireHttps(e, 'STRIPE_API_BASE');
  return {
    provider: 'stripe',
    secretKey: required('STRIPE_SECRET_KEY'),
    webhookSecret: required('STRIPE_WEBHOOK_SECRET'),
    apiBase: e.STRIPE_API_BASE,
  };
}

export const redactBilling = (billing: BillingConfig): BillingConfig =>
  billing?.provider === 'stripe' ? { ...billing, secretKey: '[redacted]', webhookSecret: '[redacted]' } : billing;
