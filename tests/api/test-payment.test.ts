import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestProvider } from '../../api/billing/test-provider.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { signInByLink } from '../support/sign-in.js';

describe('the test provider', () => {
  let api: ApiHarness;
  beforeAll(async () => {
    api = await startApi({
      nowMs: Date.UTC(2027, 4, 22),
      payments: createTestProvider({ publicUrl: 'http://api.test' }),
    });
  });
  afterAll(() => api.stop());

  it('has a page that says that no money is paid, confirms a checkout of its own user once, and cancels one', async () => {
    const user = await signInByLink(api, 'tester@desk.example');
    const other = await signInByLink(api, 'other@desk.example');
    const buy = async () =>
      (await user.send('POST', '/v1/account/packages/checkout', { meter: 'onchain_event_bytes', count: 2 })).body as {
        checkout_id: string;
        url: string;
      };
    const { checkout_id, url } = await buy();
    expect(url).toBe(`http://api.test/dashboard/test-payment#${checkout_id}`);
    const page = await api.request('/dashboard/test-payment', { headers: { accept: 'text/html' } });
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('No money is paid here')]);
    expect(page.headers.get('content-security-policy')).not.toContain('unsafe');
    const end = (who: typeof user, action: string, id = checkout_id) =>
      who.send('POST', '/v1/account/packages/test-payment', { checkout_id: id, action });
    expect((await end(other, 'pay')).status).toBe(404);
    expect((await end(user, 'refund')).status).toBe(400);
    for (let n = 0; n < 2; n += 1)
      expect(await end(user, 'pay')).toMatchObject({ status: 200, body: { checkout_id, status: 'paid' } });
    expect((await end(user, 'cancel')).status).toBe(409);
    const second = await buy();
    expect((await end(user, 'cancel', second.checkout_id)).body).toMatchObject({ status: 'expired' });
    expect((await user.get('/v1/account/packages')).body).toMatchObject({
      billing: 'test',
      packages: [{ id: checkout_id, quantity: 200_000_000_000, remaining: 200_000_000_000 }],
    });
    expect((await user.get('/v1/account')).body).toMatchObject({ billing: 'test' });
    // Stripe is not configured.
    expect((await api.request('/v1/billing/stripe/webhook', { method: 'POST' })).status).toBe(404);
  });
});

describe('without a provider', () => {
  let api: ApiHarness;
  beforeAll(async () => {
    api = await startApi({ nowMs: Date.UTC(2027, 4, 22) });
  });
  afterAll(() => api.stop());

  it('without a payment provider nothing is sold, no price is shown, and the page does not exist', async () => {
    const user = await signInByLink(api, 'tester@desk.example');
    expect((await user.get('/v1/account/packages')).body).toEqual({
      billing: null,
      offers: [],
      max_count: 100,
      packages: [],
    });
    const order = { meter: 'api_requests', count: 1 };
    expect((await user.send('POST', '/v1/account/packages/checkout', order)).status).toBe(404);
    const id = '0c0f7f7e-5c1d-4c52-9d5b-0a6d3a2f9b41';
    const end = await user.send('POST', '/v1/account/packages/test-payment', { checkout_id: id, action: 'pay' });
    expect(end.status).toBe(404);
    expect((await api.request('/dashboard/test-payment', {})).status).toBe(404);
  });
});
