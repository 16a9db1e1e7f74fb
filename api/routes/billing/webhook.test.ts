import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../../infra/errors.js';
import { type Logger, silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import type { Account, AccountCommand } from '../../../schemas/types.gen.js';
import type { PaymentEvent } from '../../billing/port.js';
import { createStripeWebhookRoute } from './webhook.js';

const event: PaymentEvent = {
  id: 'evt_1',
  type: 'checkout.session.completed',
  occurredAtMs: 1_800_000_000_000,
  kind: 'paid',
  subject: { accountId: 'a', checkoutId: 'c' },
  paymentRef: 'pi_1',
  amountCents: 2_000,
};
const account: Account = {
  account_id: 'a',
  plan: 'free',
  label: '',
  created_at_ms: 0,
  active_keys: 0,
  custom_limits: null,
  ledger_entries: 0,
  deleted_at_ms: null,
  terms_since_ms: 0,
};
type Send = Parameters<typeof createStripeWebhookRoute>[0]['send'];

const deliver = async (send: Send, options: { deletedAtMs?: number; logger?: Logger } = {}) => {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const { deletedAtMs = null, logger = silentLogger() } = options;
  const route = createStripeWebhookRoute({
    parse: async () => event,
    send,
    waitForOutcome: async () => null,
    account: () => ({ ...account, deleted_at_ms: deletedAtMs }),
    logger,
    metrics,
  });
  const context = {
    endpoint: '/v1/billing/webhook',
    requestId: '',
    clientIp: '',
    headers: { 'stripe-signature': 's' },
    rawQuery: new URLSearchParams(),
    rawBody: Buffer.from('{}'),
    closed: () => new AbortController().signal,
    nowMs: 0,
    elapsedMs: () => 0,
    caller: null,
    session: null,
  };
  return route.handle({ query: new URLSearchParams(), params: {}, body: undefined }, context);
};

describe('the webhook of Stripe', () => {
  it('acknowledges an event only when its command is in the log, so that Stripe sends it again', async () => {
    const sent: [AccountCommand['command'], unknown][] = [];
    const failure = new RetryableError('the log is unreachable');
    await expect(deliver(() => Promise.reject(failure))).rejects.toBe(failure);
    // The outcome may be late; the command is durable.
    const reply = await deliver(async (command, options) => {
      sent.push([command, options]);
      return options?.id ?? '';
    });
    expect(reply.body).toEqual({ received: true });
    expect(sent).toEqual([
      [
        {
          'oddstream.CompleteCheckout': {
            account_id: 'a',
            checkout_id: 'c',
            payment_ref: 'pi_1',
            amount_cents: 2_000,
            paid_at_ms: 1_800_000_000_000,
          },
        },
        { id: 'stripe:evt_1', author: 'provider:stripe' },
      ],
    ]);
  });

  it('tells the operator of money for an account that was deleted meanwhile', async () => {
    const lines: string[] = [];
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        lines.push(chunk.toString());
        done();
      },
    });
    const logger = pino(destination);
    const send: Send = async (_command, options) => options?.id ?? '';
    await deliver(send, { logger });
    expect(lines).toEqual([]);
    expect((await deliver(send, { logger, deletedAtMs: 1 })).body).toEqual({ received: true });
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { level: 40, event: 'evt_1', payment: 'pi_1', msg: 'payment for a deleted account: refund it' },
    ]);
  });
});
