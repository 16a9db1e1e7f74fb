import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createStripeProvider } from '../../api/billing/stripe.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { type FakeStripe, type SignedEvent, startFakeStripe, stripeSignature } from '../support/fake-stripe.js';
import { type SignedIn, signInByLink } from '../support/sign-in.js';

const START_MS = Date.UTC(2027, 4, 22);
const secretKey = 'sk_test_billing';
const webhookSecret = 'whsec_billing';
const WEBHOOK = '/v1/billing/stripe/webhook';

let api: ApiHarness;
let stripe: FakeStripe;
let user: SignedIn;
beforeAll(async () => {
  stripe = await startFakeStripe({ secretKey, webhookSecret, nowMs: () => api.clock.nowMs });
  const payments = createStripeProvider({
    secretKey,
    webhookSecret,
    apiBase: stripe.url,
    publicUrl: 'http://api.test',
    maxRetries: 0,
  });
  api = await startApi({ nowMs: START_MS, payments });
});
afterAll(async () => {
  await api.stop();
  await stripe.stop();
});
let users = 0;
beforeEach(async () => {
  api.clock.nowMs += 16 * 60_000;
  stripe.state.fails = false;
  user = await signInByLink(api, `buyer-${++users}@desk.example`);
});

const deliver = ({ body, headers }: Pick<SignedEvent, 'body' | 'headers'>) =>
  api.request(WEBHOOK, { method: 'POST', headers, body });
const received = { status: 200, body: { received: true } };
const buy = async (count = 1) => {
  const response = await user.send('POST', '/v1/account/packages/checkout', { meter: 'api_requests', count });
  expect(response.status).toBe(201);
  return {
    checkout: response.body as { checkout_id: string; url: string; amount_usd: number },
    session: stripe.newestSession(),
  };
};
const bodyOf = async <T>(path: string) => (await user.get(path)).body as T;
const packages = async () =>
  (await bodyOf<{ packages: { quantity: number; remaining: number; removed: number }[] }>('/v1/account/packages'))
    .packages;
const receipts = async () => (await bodyOf<{ receipts: Record<string, unknown>[] }>('/v1/account/receipts')).receipts;
const ledger = async (query = '') =>
  bodyOf<{ entries: { kind: string; quantity: number; balance: number; seq: number }[]; next_before: number | null }>(
    `/v1/account/ledger${query}`,
  );

describe('a checkout', () => {
  it('is opened at Stripe with the order, and adds capacity only when Stripe confirms the payment', async () => {
    const { checkout, session } = await buy(3);
    expect(checkout).toMatchObject({ amount_usd: 60, url: expect.stringContaining(session.id) });
    const sent = stripe.requests.at(-1);
    expect(sent?.idempotencyKey).toBe(checkout.checkout_id);
    expect(Object.fromEntries(sent?.body ?? [])).toMatchObject({
      mode: 'payment',
      client_reference_id: checkout.checkout_id,
      customer_email: `buyer-${users}@desk.example`,
      'line_items[0][quantity]': '3',
      'line_items[0][price_data][currency]': 'usd',
      'line_items[0][price_data][unit_amount]': '2000',
      'payment_intent_data[metadata][checkout_id]': checkout.checkout_id,
    });
    expect(await packages()).toEqual([]);
    expect(await receipts()).toMatchObject([{ status: 'open', amount_usd: 60, count: 3, paid_at: null }]);
    const event = stripe.completed(session);
    expect(await deliver(event)).toMatchObject(received);
    const atMs = api.clock.nowMs;
    expect(await packages()).toEqual([
      {
        id: checkout.checkout_id,
        kind: 'package',
        meter: 'api_requests',
        quantity: 30_000_000,
        remaining: 30_000_000,
        removed: 0,
        granted_at: atMs / 1000,
        purchased_at: atMs / 1000,
        expires_at: atMs / 1000 + 90 * 86_400,
        expired: false,
        note: '',
      },
    ]);
    // The same event again, and the same payment by another event.
    for (const again of [event, stripe.delayedPayment(session), stripe.completed(session)])
      expect(await deliver(again)).toMatchObject(received);
    expect((await packages()).length).toBe(1);
    expect(await receipts()).toMatchObject([{ status: 'paid', payment_ref: session.payment_intent, refunded_usd: 0 }]);
    expect((await ledger()).entries).toMatchObject([
      { seq: 1, kind: 'granted', quantity: 30_000_000, balance: 30_000_000 },
    ]);
    const usage = await bodyOf<{ meters: unknown[] }>('/v1/account/usage');
    expect(usage.meters[0]).toMatchObject({
      packages_remaining: 30_000_000,
      courtesy_remaining: 0,
      packages_needed: 0,
    });
  });

  it('adds nothing for another amount or currency, nor before a delayed payment has succeeded', async () => {
    const { session } = await buy();
    for (const other of [{ amount: 1_999 }, { currency: 'eur' }, { paid: false }])
      expect(await deliver(stripe.completed(session, other))).toMatchObject(received);
    expect(await packages()).toEqual([]);
    expect(await deliver(stripe.delayedPayment(session))).toMatchObject(received);
    expect((await packages()).length).toBe(1);
  });

  it('counts money that comes after its expiry', async () => {
    const { session } = await buy();
    await deliver(stripe.expired(session));
    expect(await receipts()).toMatchObject([{ status: 'expired' }]);
    await deliver(stripe.completed(session));
    expect(await packages()).toMatchObject([{ remaining: 10_000_000 }]);
  });

  it('is refused for other counts and meters, without a CSRF token, and beyond ten open ones', async () => {
    const path = '/v1/account/packages/checkout';
    for (const body of [
      { meter: 'api_requests', count: 0 },
      { meter: 'api_requests', count: 101 },
      { meter: 'api_requests', count: 1.5 },
      { meter: 'events', count: 1 },
      { count: 1 },
    ])
      expect((await user.send('POST', path, body)).status).toBe(400);
    const noToken = await api.request(path, {
      method: 'POST',
      headers: { cookie: user.cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ meter: 'api_requests', count: 1 }),
    });
    expect(noToken.status).toBe(403);
    const before = stripe.requests.length;
    const statuses = [];
    for (let count = 1; count <= 11; count += 1)
      statuses.push((await user.send('POST', path, { meter: 'api_requests', count })).status);
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 201), 409]);
    expect(stripe.requests.length - before).toBe(10);
    api.clock.nowMs += 86_400_000;
    expect((await user.send('POST', path, { meter: 'api_requests', count: 1 })).status).toBe(201);
  });

  it('is opened once for the same order while it is open', async () => {
    const first = await buy(2);
    expect((await buy(2)).checkout).toEqual(first.checkout);
    expect((await buy(3)).checkout).not.toMatchObject({ checkout_id: first.checkout.checkout_id });
    const events = [stripe.completed(first.session)];
    // Paid at Stripe, though its event has not come yet.
    const second = await buy(2);
    expect(second.checkout.checkout_id).not.toBe(first.checkout.checkout_id);
    events.push(stripe.expired(second.session));
    for (const event of events) await deliver(event);
    const third = await buy(2);
    expect([first, second].map(({ checkout }) => checkout.checkout_id)).not.toContain(third.checkout.checkout_id);
    expect((await receipts()).map(({ status }) => status).sort()).toEqual(['expired', 'open', 'open', 'paid']);
  });

  it('answers 503 while Stripe is away, and leaves no open checkout', async () => {
    stripe.state.fails = true;
    const response = await user.send('POST', '/v1/account/packages/checkout', { meter: 'api_requests', count: 1 });
    expect(response.status).toBe(503);
    expect(JSON.stringify(response.body)).not.toContain(secretKey);
    expect(await receipts()).toEqual([]);
  });

  it('of another account is not shown', async () => {
    await deliver(stripe.completed((await buy()).session));
    user = await signInByLink(api, `other-${users}@desk.example`);
    expect([await packages(), await receipts(), (await ledger()).entries]).toEqual([[], [], []]);
  });
});

describe('money that goes back', () => {
  it('removes capacity in proportion, also before the completion, and returns after a won dispute', async () => {
    const { session } = await buy();
    await deliver(stripe.completed(session, { paid: false }));
    await deliver(stripe.refunded(session, 500));
    expect(await packages()).toEqual([]);
    await deliver(stripe.completed(session));
    expect(await packages()).toMatchObject([{ remaining: 7_500_000, removed: 2_500_000 }]);
    await deliver(stripe.refunded(session, 1_000, {}));
    await deliver(stripe.refunded(session, 500));
    expect(await packages()).toMatchObject([{ remaining: 5_000_000, removed: 5_000_000 }]);
    await deliver(stripe.dispute(session, 'dp_inquiry', 'created', 'warning_needs_response', 1_000));
    expect(await packages()).toMatchObject([{ remaining: 5_000_000 }]);
    await deliver(stripe.dispute(session, 'dp_1', 'created', 'needs_response', 1_000));
    expect(await packages()).toMatchObject([{ remaining: 0, removed: 10_000_000 }]);
    expect(await receipts()).toMatchObject([{ refunded_usd: 10, disputed_usd: 10 }]);
    const won = stripe.dispute(session, 'dp_1', 'closed', 'won', 1_000);
    for (const event of [won, won, stripe.dispute(session, 'dp_1', 'created', 'needs_response', 1_000)])
      await deliver(event);
    expect(await packages()).toMatchObject([{ remaining: 5_000_000, removed: 5_000_000 }]);
    await deliver(stripe.dispute(session, 'dp_2', 'closed', 'lost', 400));
    expect(await packages()).toMatchObject([{ remaining: 3_000_000 }]);
    const all = await ledger();
    expect(all.entries.map(({ kind, quantity, balance }) => [kind, quantity / 1e5, balance / 1e5]).reverse()).toEqual([
      ['granted', 100, 100],
      ['refunded', -25, 75],
      ['refunded', -25, 50],
      ['refunded', -50, 0],
      ['reinstated', 50, 50],
      ['refunded', -20, 30],
    ]);
    const first = await ledger('?limit=4');
    const second = await ledger(`?limit=4&before=${first.next_before}`);
    expect([...first.entries, ...second.entries]).toEqual(all.entries);
    expect([first.next_before, second.next_before]).toEqual([3, null]);
  });

  it.each(['refund.failed', 'charge.refund.updated', 'refund.updated'])(
    'returns capacity when a refund fails (%s), in any order of the events',
    async (type) => {
      const { session } = await buy();
      await deliver(stripe.completed(session));
      const refunded = stripe.refunded(session, 500);
      await deliver(refunded);
      const second = stripe.refunded(session, 2_000);
      await deliver(second);
      expect(await packages()).toMatchObject([{ remaining: 0, removed: 10_000_000 }]);
      await deliver(stripe.refundFailed(session, type));
      const corrected = [{ remaining: 7_500_000, removed: 2_500_000 }];
      expect(await packages()).toMatchObject(corrected);
      expect(await receipts()).toMatchObject([{ refunded_usd: 5 }]);
      // The events of before, under ids that are new here.
      for (const { body } of [second, refunded]) {
        const repeated = JSON.parse(body) as { data: { object: unknown } };
        await deliver(stripe.event('charge.refunded', repeated.data.object));
      }
      expect(await packages()).toMatchObject(corrected);
      // A refund after the failed one counts.
      await deliver(stripe.refunded(session, 1_000));
      expect(await packages()).toMatchObject([{ remaining: 5_000_000, removed: 5_000_000 }]);
      expect((await ledger()).entries.map(({ kind, quantity }) => [kind, quantity / 1e5]).reverse()).toEqual([
        ['granted', 100],
        ['refunded', -25],
        ['refunded', -75],
        ['reinstated', 75],
        ['refunded', -25],
      ]);
    },
  );

  it('asks for a retry while the refunds of a payment cannot be read', async () => {
    const { session } = await buy();
    await deliver(stripe.completed(session));
    const event = stripe.refunded(session, 2_000);
    stripe.state.fails = true;
    expect((await deliver(event)).status).toBe(503);
    stripe.state.fails = false;
    expect(await deliver(event)).toMatchObject(received);
    expect(await packages()).toMatchObject([{ remaining: 0 }]);
  });

  it('asks for a retry while the payment of a dispute cannot be looked up', async () => {
    const { session } = await buy();
    await deliver(stripe.completed(session));
    const event = stripe.dispute(session, 'dp_9', 'created', 'needs_response', 2_000);
    stripe.state.fails = true;
    expect((await deliver(event)).status).toBe(503);
    stripe.state.fails = false;
    expect(await deliver(event)).toMatchObject(received);
    expect(await packages()).toMatchObject([{ remaining: 0 }]);
  });
});

describe('the webhook', () => {
  const nowS = () => Math.floor(api.clock.nowMs / 1000);
  const json = 'application/json';
  const post = (body: string | Buffer, signature?: string, headers: Record<string, string> = {}) =>
    api.request(WEBHOOK, {
      method: 'POST',
      headers: {
        'content-type': json,
        ...(signature === undefined ? {} : { 'stripe-signature': signature }),
        ...headers,
      },
      body,
    });

  it('verifies the published test vector of a signature', async () => {
    const body = `${JSON.stringify(
      {
        id: 'evt_123',
        object: 'event',
        account: 'acct_123',
        api_version: '2017-05-25',
        created: 1533204620,
        data: {
          object: {
            id: 'cus_123',
            object: 'customer',
            created: 123456789,
            email: 'test@stripe.com',
            livemode: false,
            metadata: {},
          },
        },
        livemode: false,
        pending_webhooks: 1,
        request: { id: 'req_123', idempotency_key: 'idempotency-key-123' },
        type: 'customer.created',
      },
      null,
      2,
    )}\n`;
    const { parseWebhook } = createStripeProvider({
      secretKey,
      webhookSecret: 'webhook_secret',
      apiBase: stripe.url,
      publicUrl: '',
    });
    const signature = 't=1533204620,v1=2220f87ef101a04665f11cdf770523143f875572008577fa0f20882ddb9cc3c7';
    const parse = (text: string, nowMs: number) => parseWebhook?.({ body: Buffer.from(text), signature, nowMs });
    expect(await parse(body, 1_533_204_620_000 + 300_000)).toEqual({
      id: 'evt_123',
      type: 'customer.created',
      occurredAtMs: 1_533_204_620_000,
      kind: 'ignored',
    });
    const changed = [
      `\ufeff${body}`,
      body.replaceAll('\n', '\r\n'),
      body.trimEnd(),
      body.replace('cus_123', 'cus_124'),
    ];
    for (const text of changed)
      await expect(parse(text, 1_533_204_620_000)).rejects.toMatchObject({ failure: { kind: 'bad_body' } });
    await expect(parse(body, 1_533_204_620_000 + 301_000)).rejects.toMatchObject({ failure: { kind: 'bad_body' } });
  });

  it('refuses every other signature and body with 400, and changes nothing', async () => {
    const { session } = await buy();
    const { body } = stripe.completed(session);
    const good = stripeSignature(body, webhookSecret, nowS());
    const [time = '', v1 = ''] = good.split(',');
    const foreign = stripeSignature(body, 'whsec_other', nowS()).split(',')[1] ?? '';
    const refused: Record<string, [string | Buffer, string | undefined, Record<string, string>?]> = {
      'no header': [body, undefined],
      'an empty header': [body, ''],
      'no timestamp': [body, v1],
      'no signature': [body, time],
      'another scheme': [body, `${time},${v1.replace('v1', 'v0')}`],
      'no number as timestamp': [body, `t=now,${v1}`],
      'another timestamp': [body, `t=${nowS() + 1},${v1}`],
      'a stale timestamp': [body, stripeSignature(body, webhookSecret, nowS() - 301)],
      'a foreign secret': [body, stripeSignature(body, 'whsec_other', nowS())],
      'several foreign ones': [body, `${time},${foreign},${foreign}`],
      'a short signature': [body, `${time},v1=ab`],
      'a byte order mark': [`\ufeff${body}`, good],
      'CRLF line ends': [body.replaceAll('\n', '\r\n'), good],
      'UTF-16': [Buffer.from(body, 'utf16le'), good],
      'UTF-16 that is signed': [
        Buffer.from(body, 'utf16le'),
        stripeSignature(Buffer.from(body, 'utf16le'), webhookSecret, nowS()),
      ],
      'bytes that are no text': [
        Buffer.from([0xff, 0xfe, 0x80]),
        stripeSignature(Buffer.from([0xff, 0xfe, 0x80]), webhookSecret, nowS()),
      ],
      'no JSON that is signed': ['hello', stripeSignature('hello', webhookSecret, nowS())],
      'an empty body': ['', stripeSignature('', webhookSecret, nowS())],
    };
    for (const [what, [bytes, signature, headers]] of Object.entries(refused))
      expect((await post(bytes, signature, headers)).status, what).toBe(400);
    expect((await post(body, good, { 'content-type': 'text/plain' })).status).toBe(415);
    expect((await post(body, good, { 'content-encoding': 'gzip' })).status).toBe(400);
    const large = `${body}${' '.repeat(256 * 1024)}`;
    expect((await post(large, stripeSignature(large, webhookSecret, nowS()))).status).toBe(413);
    expect(await packages()).toEqual([]);
    // Several signatures of which one is ours, as while a secret is replaced.
    expect(await post(body, `${time},${foreign},${v1}`)).toMatchObject(received);
    expect((await packages()).length).toBe(1);
  });

  it('acknowledges events that are of no concern: other kinds, other products, unknown checkouts', async () => {
    const session = {
      id: 'cs_test_other',
      object: 'checkout.session',
      payment_status: 'paid',
      amount_total: 2_000,
      currency: 'usd',
    };
    const events = [
      stripe.event('foo.created', { object: 'foo', integer: 42 }),
      stripe.event('ping', null),
      stripe.event('checkout.session.completed', { ...session, metadata: {} }),
      stripe.event('checkout.session.completed', {
        ...session,
        metadata: { account_id: 'nobody', checkout_id: 'none' },
      }),
      stripe.event('charge.dispute.created', {
        id: 'dp_x',
        object: 'dispute',
        amount: 1,
        status: 'needs_response',
        payment_intent: 'pi_unknown',
      }),
    ];
    for (const event of events) expect(await deliver(event)).toMatchObject(received);
  });
});
