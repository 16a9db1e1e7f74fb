import { createHmac, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request that the fake has received. */
export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly authorization: string | undefined;
  readonly idempotencyKey: string | undefined;
  readonly body: URLSearchParams;
}

interface FakeSession {
  readonly id: string;
  readonly metadata: Record<string, string>;
  readonly amount_total: number;
  payment_intent: string | null;
  status: 'open' | 'complete' | 'expired';
}

interface FakeRefund {
  readonly id: string;
  readonly object: 'refund';
  readonly amount: number;
  readonly currency: 'usd';
  readonly payment_intent: string | null;
  status: 'succeeded' | 'failed';
}

/** A webhook request: the exact body, and its headers. */
export interface SignedEvent {
  readonly id: string;
  readonly body: string;
  readonly headers: Record<string, string>;
}

/** Signature header as documented by Stripe: HMAC-SHA-256 of `<t>.<body>`. */
export const stripeSignature = (body: string | Buffer, secret: string, timeS: number): string => {
  const signed = createHmac('sha256', secret).update(`${timeS}.`).update(body).digest('hex');
  return `t=${timeS},v1=${signed}`;
};

/** The part of Stripe's API that the product uses, on 127.0.0.1, and the events that Stripe would send. */
export async function startFakeStripe(options: { secretKey: string; webhookSecret: string; nowMs: () => number }) {
  const requests: StripeRequest[] = [];
  const sessions = new Map<string, FakeSession>();
  const byIdempotencyKey = new Map<string, string>();
  const payments = new Map<string, Record<string, string>>();
  const refunds: FakeRefund[] = [];
  const state = { fails: false };
  const nowS = () => Math.floor(options.nowMs() / 1000);

  const metadataOf = (body: URLSearchParams, prefix: string) =>
    Object.fromEntries(
      [...body].flatMap(([name, value]) => {
        const [, key] = name.match(new RegExp(`^${prefix.replace(/[[\]]/g, '\\$&')}\\[(\\w+)\\]$`)) ?? [];
        return key === undefined ? [] : [[key, value]];
      }),
    );
  const createSession = (body: URLSearchParams): FakeSession => {
    const unit = Number(body.get('line_items[0][price_data][unit_amount]'));
    const session = {
      id: `cs_test_${randomUUID().replaceAll('-', '')}`,
      metadata: metadataOf(body, 'metadata'),
      amount_total: unit * Number(body.get('line_items[0][quantity]')),
      payment_intent: null,
      status: 'open' as const,
    };
    payments.set(session.id, metadataOf(body, 'payment_intent_data[metadata]'));
    sessions.set(session.id, session);
    return session;
  };
  const sessionObject = (session: FakeSession, paid: boolean, currency = 'usd') => ({
    id: session.id,
    object: 'checkout.session',
    amount_total: session.amount_total,
    currency,
    mode: 'payment',
    metadata: session.metadata,
    payment_intent: session.payment_intent,
    payment_status: paid ? 'paid' : 'unpaid',
    status: session.status,
    url: session.status === 'open' ? `https://checkout.stripe.test/c/pay/${session.id}` : null,
  });

  const respond = (request: StripeRequest): { status: number; body: unknown } => {
    if (state.fails) return { status: 503, body: { error: { type: 'api_error', message: 'Try again.' } } };
    if (request.authorization !== `Bearer ${options.secretKey}`)
      return { status: 401, body: { error: { type: 'invalid_request_error', message: 'Invalid API Key provided' } } };
    if (request.method === 'POST' && request.path === '/v1/checkout/sessions') {
      const key = request.idempotencyKey ?? '';
      const known = sessions.get(byIdempotencyKey.get(key) ?? '');
      const session = known ?? createSession(request.body);
      byIdempotencyKey.set(key, session.id);
      return { status: 200, body: sessionObject(session, false) };
    }
    const opened = sessions.get(request.path.match(/^\/v1\/checkout\/sessions\/(\w+)$/)?.[1] ?? '');
    if (request.method === 'GET' && opened !== undefined)
      return { status: 200, body: sessionObject(opened, opened.payment_intent !== null) };
    if (request.method === 'GET' && request.path === '/v1/refunds')
      return {
        status: 200,
        body: {
          object: 'list',
          has_more: false,
          data: refunds.filter((refund) => refund.payment_intent === request.query.get('payment_intent')),
        },
      };
    const [, id] = request.path.match(/^\/v1\/payment_intents\/(\w+)$/) ?? [];
    const metadata = payments.get(id ?? '');
    if (request.method === 'GET' && metadata !== undefined)
      return { status: 200, body: { id, object: 'payment_intent', currency: 'usd', metadata } };
    return {
      status: 404,
      body: { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such object' } },
    };
  };
  const server = createServer((incoming, outgoing) => {
    let text = '';
    incoming.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    incoming.on('end', () => {
      const [path = '', query = ''] = (incoming.url ?? '').split('?');
      const request: StripeRequest = {
        method: incoming.method ?? '',
        path,
        query: new URLSearchParams(query),
        authorization: incoming.headers.authorization,
        idempotencyKey: incoming.headers['idempotency-key'] as string | undefined,
        body: new URLSearchParams(text),
      };
      requests.push(request);
      const { status, body } = respond(request);
      outgoing.writeHead(status, { 'content-type': 'application/json' });
      outgoing.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  let events = 0;
  /** An event about an object, signed as of now. */
  const event = (type: string, object: unknown, id = `evt_${++events}_${randomUUID().slice(0, 8)}`): SignedEvent => {
    const created = nowS();
    const body = JSON.stringify(
      { id, object: 'event', api_version: '2018-09-24', created, data: { object }, livemode: false, type },
      null,
      2,
    );
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'stripe-signature': stripeSignature(body, options.webhookSecret, created),
    };
    return { id, body, headers };
  };
  const pay = (session: FakeSession) => {
    session.payment_intent ??= `pi_${session.id.slice(8)}`;
    session.status = 'complete';
    payments.set(session.payment_intent, payments.get(session.id) ?? {});
  };
  const stayed = ({ payment_intent: id }: FakeSession) =>
    refunds.filter(({ payment_intent, status }) => payment_intent === id && status === 'succeeded');
  const newestSession = (): FakeSession => {
    const session = [...sessions.values()].at(-1);
    if (session === undefined) throw new Error('No checkout session yet');
    return session;
  };

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** `fails`: every request gets 503. */
    state,
    event,
    newestSession,
    /** The user pays on Stripe's page. `amount`, `currency`: another than the session's. */
    completed(session: FakeSession, other: { amount?: number; currency?: string; paid?: boolean } = {}): SignedEvent {
      pay(session);
      const object = sessionObject(session, other.paid ?? true, other.currency);
      return event('checkout.session.completed', { ...object, amount_total: other.amount ?? session.amount_total });
    },
    delayedPayment: (session: FakeSession) =>
      event('checkout.session.async_payment_succeeded', sessionObject(session, true)),
    expired(session: FakeSession): SignedEvent {
      session.status = 'expired';
      return event('checkout.session.expired', sessionObject(session, false));
    },
    /** The event of a total of refunds. What is missing to it is refunded; a total that is smaller is an old event. */
    refunded(session: FakeSession, cents: number, metadata: Record<string, string> = session.metadata): SignedEvent {
      pay(session);
      const missing = cents - stayed(session).reduce((sum, { amount }) => sum + amount, 0);
      if (missing > 0)
        refunds.push({
          id: `re_${refunds.length}`,
          object: 'refund',
          amount: missing,
          currency: 'usd',
          payment_intent: session.payment_intent,
          status: 'succeeded',
        });
      return event('charge.refunded', {
        id: `ch_${session.id.slice(8)}`,
        object: 'charge',
        amount: session.amount_total,
        amount_refunded: cents,
        currency: 'usd',
        metadata,
        payment_intent: session.payment_intent,
        refunded: cents === session.amount_total,
      });
    },
    /** The newest refund does not reach the buyer: Stripe puts the money back. */
    refundFailed(session: FakeSession, type: string): SignedEvent {
      const refund = stayed(session).at(-1);
      if (refund === undefined) throw new Error('No refund yet');
      refund.status = 'failed';
      return event(type, { ...refund });
    },
    dispute: (session: FakeSession, id: string, type: 'created' | 'closed', status: string, cents: number) =>
      event(`charge.dispute.${type}`, {
        id,
        object: 'dispute',
        amount: cents,
        currency: 'usd',
        charge: `ch_${session.id.slice(8)}`,
        metadata: {},
        payment_intent: session.payment_intent,
        status,
      }),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
export type FakeStripe = Awaited<ReturnType<typeof startFakeStripe>>;
