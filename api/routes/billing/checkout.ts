import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { CapacityView } from '../../../infra/accounts/capacity-view.js';
import { usagePackages } from '../../../schemas/packages.js';
import type { Checkout } from '../../../schemas/types.gen.js';
import { type Decide, unexpectedRejection } from '../../accounts/decide.js';
import { userAuthor } from '../../auth/sessions.js';
import type { PaymentProvider } from '../../billing/port.js';
import { ApiError, notFound } from '../../errors/failure.js';
import { jsonBody } from '../../http/json-body.js';
import { defineRoute, type Route } from '../../http/route.js';
import { requireSession } from '../auth/sessions.js';
import { meterField } from './packages.js';

const { maxPerCheckout: MAX_COUNT, maxOpenCheckouts: MAX_OPEN, priceCents } = usagePackages;
const NOT_SOLD = 'Packages are not sold here.';
const TOO_MANY = `Too many open checkouts: at most ${MAX_OPEN}. Order the same as in one of them to return to it, or wait: an unpaid one ends after 24 hours.`;

/** POST /v1/account/packages/checkout, and the end of a checkout of the test provider. */
export function createCheckoutRoutes(deps: {
  provider: PaymentProvider | null;
  decide: Decide;
  capacity: CapacityView;
}): readonly Route[] {
  const { provider, decide, capacity } = deps;
  const common = { method: 'post', apiGroup: 'v1', tag: 'Account', auth: 'session', jsonOnly: true } as const;
  const notConfigured = {
    404: {
      description: 'Packages are not sold here',
      schema: z.object({ error: z.string() }),
      example: { error: NOT_SOLD },
    },
  };
  const openCheckouts = (accountId: string, nowMs: number): readonly Checkout[] =>
    capacity
      .checkoutsOf(accountId)
      .filter(({ status, started_at_ms: at }) => status === 'open' && at > nowMs - usagePackages.checkoutLifetimeMs);
  return [
    defineRoute({
      ...common,
      path: '/v1/account/packages/checkout',
      summary: 'Buy usage packages',
      description:
        'Opens a checkout at the payment provider, or returns the open one of the same order; send the browser to `url`. Capacity is added when the provider has confirmed the payment.',
      body: jsonBody({
        meter: meterField,
        count: z
          .int({ error: 'Invalid count. Use a whole number.' })
          .min(1, 'Invalid count. Min 1')
          .max(MAX_COUNT, `Invalid count. Max ${MAX_COUNT}`),
      }),
      success: {
        status: 201,
        description: 'The checkout',
        schema: z.object({ checkout_id: z.string(), url: z.string(), amount_usd: z.number() }),
        example: {
          checkout_id: '0c0f7f7e-5c1d-4c52-9d5b-0a6d3a2f9b41',
          url: 'https://checkout.stripe.com/c/pay/cs_live_a1b2c3',
          amount_usd: 40,
        },
      },
      otherResponses: {
        ...notConfigured,
        409: {
          description: 'Too many open checkouts',
          schema: z.object({ error: z.string() }),
          example: { error: TOO_MANY },
        },
      },
      async handler({ body: { meter, count } }, context) {
        const session = requireSession(context.session);
        if (provider === null) throw notFound(NOT_SOLD);
        const amountCents = count * priceCents;
        const open = openCheckouts(session.accountId, context.nowMs);
        const same = open.find(
          (one) =>
            one.provider === provider.name &&
            one.meter === meter &&
            one.count === count &&
            one.amount_cents === amountCents,
        );
        const sameUrl = same === undefined ? null : await provider.urlOfCheckout(same.provider_ref);
        if (same !== undefined && sameUrl !== null)
          return { body: { checkout_id: same.checkout_id, url: sameUrl, amount_usd: amountCents / 100 } };
        if (open.length >= MAX_OPEN) throw new ApiError({ kind: 'conflict', message: TOO_MANY });
        const checkoutId = randomUUID();
        const { ref, url } = await provider.createCheckout({
          checkoutId,
          accountId: session.accountId,
          email: session.email,
          meter,
          count,
          unitCents: priceCents,
        });
        // No payment precedes the record of the checkout: its URL is returned after the outcome.
        const outcome = await decide(
          {
            'oddstream.StartCheckout': {
              account_id: session.accountId,
              checkout_id: checkoutId,
              meter,
              count,
              amount_cents: amountCents,
              provider: provider.name,
              provider_ref: ref,
            },
          },
          { author: userAuthor(session.userId) },
        );
        if (outcome.code === 'checkout_limit') throw new ApiError({ kind: 'conflict', message: TOO_MANY });
        if (!outcome.accepted) throw unexpectedRejection('StartCheckout', outcome);
        return { body: { checkout_id: checkoutId, url, amount_usd: amountCents / 100 } };
      },
    }),
    defineRoute({
      ...common,
      path: '/v1/account/packages/test-payment',
      summary: 'End a checkout of the test provider',
      description: 'Only where payments are configured as `test`: confirms or cancels a checkout without money.',
      body: jsonBody({
        checkout_id: z.uuid('Invalid checkout_id. Use the id of a checkout.'),
        action: z.enum(['pay', 'cancel']),
      }),
      success: {
        description: 'What became of the checkout',
        schema: z.object({ checkout_id: z.string(), status: z.enum(['paid', 'expired']) }),
        example: { checkout_id: '0c0f7f7e-5c1d-4c52-9d5b-0a6d3a2f9b41', status: 'paid' },
      },
      otherResponses: notConfigured,
      async handler({ body: { checkout_id: id, action } }, { session, nowMs }) {
        const { accountId } = requireSession(session);
        if (provider?.name !== 'test') throw notFound('Test payments are not configured here.');
        const checkout = capacity
          .checkoutsOf(accountId)
          .find((one) => one.checkout_id === id && one.provider === 'test');
        if (checkout === undefined) throw notFound('Checkout not found.');
        if (action === 'cancel' && checkout.status === 'paid')
          throw new ApiError({ kind: 'conflict', message: 'The checkout is paid.' });
        const ids = { account_id: accountId, checkout_id: id };
        const command =
          action === 'cancel'
            ? { 'oddstream.ExpireCheckout': ids }
            : {
                'oddstream.CompleteCheckout': {
                  ...ids,
                  payment_ref: `test-${id}`,
                  amount_cents: checkout.amount_cents,
                  paid_at_ms: nowMs,
                },
              };
        const outcome = await decide(command, { author: 'provider:test' });
        if (!outcome.accepted) throw unexpectedRejection('The test payment', outcome);
        return { body: { checkout_id: id, status: action === 'pay' ? ('paid' as const) : ('expired' as const) } };
      },
    }),
  ];
}
