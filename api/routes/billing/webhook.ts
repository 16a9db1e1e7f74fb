import { z } from 'zod';
import type { AccountCommands } from '../../../infra/accounts/commands.js';
import type { AccountsReadModel } from '../../../infra/accounts/read-model.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import { paymentCommand } from '../../billing/payment-command.js';
import type { PaymentProvider } from '../../billing/port.js';
import { ApiError } from '../../errors/failure.js';
import { defineRoute, type Route } from '../../http/route.js';

/** Stripe's events are some kilobytes. */
const BODY_LIMIT_BYTES = 256 * 1024;
/** How long a response waits for the outcome, which is only logged: the event is durable before. */
const OUTCOME_TIMEOUT_MS = 2_000;

/**
 * POST /v1/billing/stripe/webhook. Every failure to record an event is an error response, so that Stripe sends it again; each event has one
 * command id, so that repeats change nothing.
 */
export function createStripeWebhookRoute(deps: {
  parse: NonNullable<PaymentProvider['parseWebhook']>;
  send: AccountCommands['send'];
  waitForOutcome: AccountsReadModel['waitForOutcome'];
  account: AccountsReadModel['account'];
  logger: Logger;
  metrics: Metrics;
}): Route {
  const events = deps.metrics.counter('payment_events_total', 'Verified events of the payment provider', ['kind']);
  const invalid = deps.metrics.counter('payment_events_invalid_total', 'Webhook requests without a valid signature');
  return defineRoute({
    method: 'post',
    path: '/v1/billing/stripe/webhook',
    apiGroup: 'v1',
    tag: 'Account',
    auth: 'none',
    jsonOnly: true,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    rawBody: true,
    summary: 'Events of Stripe',
    description:
      'For Stripe only: the `stripe-signature` header must be valid for the exact body and at most 5 minutes old. Repeated events change nothing.',
    success: {
      description: 'The event is recorded, or of no concern here',
      schema: z.object({ received: z.literal(true) }),
      example: { received: true },
    },
    async handler(_input, { headers, rawBody, nowMs }) {
      const signature = headers['stripe-signature'];
      if (rawBody === null || rawBody.length === 0)
        throw new ApiError({ kind: 'bad_body', message: 'The body is empty.' });
      const event = await deps
        .parse({
          body: rawBody,
          signature: typeof signature === 'string' ? signature : undefined,
          nowMs,
        })
        .catch((error) => {
          if (error instanceof ApiError && error.failure.kind === 'bad_body') invalid.inc();
          throw error;
        });
      events.inc({ kind: event.kind });
      const command = paymentCommand(event);
      if (command !== null) {
        const id = await deps.send(command, { id: `stripe:${event.id}`, author: 'provider:stripe' });
        const outcome = await deps.waitForOutcome(id, OUTCOME_TIMEOUT_MS);
        if (event.kind === 'paid' && deps.account(event.subject.accountId)?.deleted_at_ms != null)
          deps.logger.warn({ event: event.id, payment: event.paymentRef }, 'payment for a deleted account: refund it');
        if (outcome?.accepted === false)
          deps.logger.warn({ event: event.id, type: event.type, code: outcome.code }, 'payment event was rejected');
      }
      return { body: { received: true as const } };
    },
  });
}
