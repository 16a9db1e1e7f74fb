import { z } from 'zod';
import type { CapacityView } from '../../../infra/accounts/capacity-view.js';
import { accountMeters, refundedCents, usagePackages } from '../../../schemas/packages.js';
import type { Checkout } from '../../../schemas/types.gen.js';
import type { PaymentProvider } from '../../billing/port.js';
import { defineRoute, type Route } from '../../http/route.js';
import { requireSession } from '../auth/sessions.js';

/** Newest entries of a list; older ones are in the operator's export. */
const MAX_ROWS = 1_000;
const seconds = (ms: number): number => Math.floor(ms / 1000);
const unixSeconds = z.int().meta({ description: 'Unix seconds.' });
export const meterField = z.enum(accountMeters);

const packageSchema = z.object({
  id: z.string(),
  kind: z.enum(['package', 'courtesy']).meta({ description: 'Bought, or granted by the operator.' }),
  meter: meterField,
  quantity: z.int(),
  remaining: z.int().meta({ description: 'At the last settlement, at most an hour ago.' }),
  removed: z.int().meta({ description: 'Taken back because money was refunded or disputed.' }),
  granted_at: unixSeconds,
  purchased_at: unixSeconds.nullable().meta({ description: 'Unix seconds; null for courtesy capacity.' }),
  expires_at: unixSeconds,
  expired: z.boolean(),
  note: z.string(),
});

const offerSchema = z.object({
  meter: meterField,
  quantity: z.int().meta({ description: 'Requests, or bytes of encoded socket frames.' }),
  amount_usd: z.number(),
  lifetime_days: z.int(),
});

const receiptSchema = z.object({
  checkout_id: z.string(),
  meter: meterField,
  count: z.int(),
  quantity: z.int(),
  amount_usd: z.number(),
  status: z.enum(['open', 'paid', 'expired']),
  provider: z.string().meta({ description: '`test`: no money was paid.' }),
  payment_ref: z.string().nullable().meta({ description: 'Id of the payment at the provider.' }),
  started_at: unixSeconds,
  paid_at: z.int().nullable().meta({ description: 'Unix seconds; null: not paid.' }),
  refunded_usd: z.number(),
  disputed_usd: z.number().meta({ description: 'Money of disputes that are open or lost.' }),
});

const receiptOf = (checkout: Checkout): z.input<typeof receiptSchema> => ({
  checkout_id: checkout.checkout_id,
  meter: checkout.meter,
  count: checkout.count,
  quantity: checkout.count * usagePackages.quantity[checkout.meter],
  amount_usd: checkout.amount_cents / 100,
  status: checkout.status,
  provider: checkout.provider,
  payment_ref: checkout.payment_ref,
  started_at: seconds(checkout.started_at_ms),
  paid_at: checkout.paid_at_ms === null ? null : seconds(checkout.paid_at_ms),
  refunded_usd: refundedCents(checkout) / 100,
  disputed_usd: checkout.disputes.reduce((sum, { status, cents }) => sum + (status === 'won' ? 0 : cents), 0) / 100,
});

const examplePackage = {
  id: '0c0f7f7e-5c1d-4c52-9d5b-0a6d3a2f9b41',
  kind: 'package' as const,
  meter: 'api_requests' as const,
  quantity: 20_000_000,
  remaining: 12_500_000,
  removed: 0,
  granted_at: 1790035200,
  purchased_at: 1790035200,
  expires_at: 1797811200,
  expired: false,
  note: '',
};

/** GET /v1/account/packages and /v1/account/receipts. */
export function createPackageRoutes(deps: {
  provider: PaymentProvider | null;
  capacity: CapacityView;
}): readonly Route[] {
  const common = { method: 'get', apiGroup: 'v1', tag: 'Account', auth: 'session' } as const;
  const offers =
    deps.provider === null
      ? []
      : accountMeters.map((meter) => ({
          meter,
          quantity: usagePackages.quantity[meter],
          amount_usd: usagePackages.priceCents / 100,
          lifetime_days: usagePackages.lifetimeMs / 86_400_000,
        }));
  return [
    defineRoute({
      ...common,
      path: '/v1/account/packages',
      summary: 'Usage packages and courtesy capacity of the account',
      description:
        'Capacity beyond the allowance of the plan, newest first, and what can be bought. Used in this order: allowance, packages, courtesy capacity; of each the earliest expiry first.',
      success: {
        description: 'Packages and offers',
        schema: z.object({
          billing: z.enum(['test', 'stripe']).nullable().meta({ description: 'null: nothing is sold here.' }),
          offers: z.array(offerSchema),
          max_count: z.int().meta({ description: 'Packages per checkout.' }),
          packages: z.array(packageSchema),
        }),
        example: {
          billing: 'stripe',
          offers: [{ meter: 'api_requests', quantity: 10_000_000, amount_usd: 20, lifetime_days: 90 }],
          max_count: 100,
          packages: [examplePackage],
        },
      },
      handler(_input, { session, nowMs }) {
        const { accountId } = requireSession(session);
        const grants = [...deps.capacity.grantsOf(accountId)].sort((a, b) => b.granted_at_ms - a.granted_at_ms);
        return {
          body: {
            billing: deps.provider?.name ?? null,
            offers,
            max_count: usagePackages.maxPerCheckout,
            packages: grants.slice(0, MAX_ROWS).map((grant) => {
              const expired = grant.expires_at_ms <= nowMs;
              return {
                id: grant.grant_id,
                kind: grant.kind,
                meter: grant.meter,
                quantity: grant.quantity,
                remaining: expired ? 0 : grant.remaining,
                removed: grant.removed,
                granted_at: seconds(grant.granted_at_ms),
                purchased_at: grant.kind === 'package' ? seconds(grant.granted_at_ms) : null,
                expires_at: seconds(grant.expires_at_ms),
                expired,
                note: grant.note,
              };
            }),
          },
        };
      },
    }),
    defineRoute({
      ...common,
      path: '/v1/account/receipts',
      summary: 'Purchases of the account',
      description: 'Newest first, with checkouts that were not paid.',
      success: {
        description: 'The purchases',
        schema: z.object({ receipts: z.array(receiptSchema) }),
        example: {
          receipts: [
            {
              checkout_id: examplePackage.id,
              meter: 'api_requests',
              count: 2,
              quantity: 20_000_000,
              amount_usd: 40,
              status: 'paid',
              provider: 'stripe',
              payment_ref: 'pi_3QxYz2AbCdEfGh1J0kLmNoPq',
              started_at: 1790035140,
              paid_at: 1790035200,
              refunded_usd: 0,
              disputed_usd: 0,
            },
          ],
        },
      },
      handler(_input, { session }) {
        const { accountId } = requireSession(session);
        const checkouts = [...deps.capacity.checkoutsOf(accountId)].sort((a, b) => b.started_at_ms - a.started_at_ms);
        return { body: { receipts: checkouts.slice(0, MAX_ROWS).map(receiptOf) } };
      },
    }),
  ];
}
