import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { signInByLink, signInWithPlan } from '../support/sign-in.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
let api: ApiHarness;
beforeAll(async () => {
  api = await startApi({ nowMs: Date.UTC(2026, 9, 16, 9) });
});
afterAll(() => api.stop());

const used = (account: string, meter: string, hour: string, quantity: number, id: string) =>
  api.clickhouse.insertBytes(
    'usage',
    'JSONEachRow',
    Buffer.from(
      JSON.stringify({
        id,
        account_id: account,
        meter,
        hour,
        quantity,
        counted_at: hour,
        process_id: 'p',
        _partition: 0,
        _offset: 0,
      }),
    ),
  );

describe('GET /v1/account/usage', () => {
  it('sums the service month of the account from the maximum total per id', async () => {
    const email = 'month@desk.example';
    const { accountId: account } = await signInWithPlan(api, email, 'starter');
    api.clock.nowMs = NOW_MS;
    const user = await signInByLink(api, email);
    await used(account, 'onchain_event_bytes', '2026-11-15 23:00:00', 7, 'before');
    await used(account, 'onchain_event_bytes', '2026-11-16 00:00:00', 1_000, 'x');
    await used(account, 'onchain_event_bytes', '2026-11-16 00:00:00', 9_000, 'x');
    await used(account, 'onchain_event_bytes', '2026-11-16 00:00:00', 4_000, 'x');
    await used(account, 'onchain_event_bytes', '2026-11-20 11:00:00', 9_000, 'y');
    await used(account, 'api_requests', '2026-11-20 11:00:00', 3, 'z');
    await used('other-account', 'api_requests', '2026-11-20 11:00:00', 1_000, 'z');
    const first = await user.get('/v1/account/usage');
    const none = { packages_remaining: 0, courtesy_remaining: 0 };
    expect(first).toMatchObject({
      status: 200,
      body: {
        period: { start: Date.UTC(2026, 10, 16) / 1000, end: Date.UTC(2026, 11, 16) / 1000 },
        plan: 'starter',
        enforcement: false,
        meters: [
          // 4.5 of 30 days have passed.
          {
            meter: 'api_requests',
            used: 3,
            included: 10_000_000,
            unlimited: false,
            avg_per_day: 1,
            projected: 20,
            ...none,
          },
          {
            meter: 'orderbook_chainlink_bytes',
            used: 0,
            included: 250_000_000_000,
            unlimited: false,
            avg_per_day: 0,
            projected: 0,
            ...none,
          },
          {
            meter: 'onchain_event_bytes',
            used: 18_000,
            included: 250_000_000_000,
            unlimited: false,
            avg_per_day: 4_000,
            projected: 120_000,
            ...none,
          },
        ],
      },
    });
    const second = await signInByLink(api, email);
    expect((await second.get('/v1/account/usage')).body).toEqual(first.body);
  });

  it('subtracts usage beyond the allowance from packages, then from courtesy capacity, before it is settled', async () => {
    const { user, accountId: account_id } = await signInWithPlan(api, 'packages@desk.example', 'starter');
    const [meter, M] = ['api_requests' as const, 1_000_000];
    const order = { checkout_id: 'c', meter, count: 1, amount_cents: 2_000, provider: 'test', provider_ref: '' };
    await api.send({ 'oddstream.StartCheckout': { account_id, ...order } });
    const payment = { checkout_id: 'c', payment_ref: 'p', amount_cents: 2_000, paid_at_ms: NOW_MS };
    await api.send({ 'oddstream.CompleteCheckout': { account_id, ...payment } });
    const courtesy = { grant_id: 'g', meter, quantity: 3 * M, expires_at_ms: NOW_MS + 86_400_000, note: '' };
    await api.send({ 'oddstream.GrantCourtesy': { account_id, ...courtesy } });
    const meters = async () =>
      ((await user.get('/v1/account/usage')).body as { meters: Record<string, unknown>[] }).meters[0];
    await used(account_id, meter, '2026-11-20 12:00:00', 12.5 * M, 'beyond');
    // The first day of 30: 375 million are projected, of which 10 + 10 + 3 are there.
    expect(await meters()).toMatchObject({
      packages_remaining: 7.5 * M,
      courtesy_remaining: 3 * M,
      projected: 375 * M,
      packages_needed: 36,
    });
    await used(account_id, meter, '2026-11-20 12:00:00', 21 * M, 'beyond');
    expect(await meters()).toMatchObject({ packages_remaining: 0, courtesy_remaining: 2 * M });
    const settlement = { meter, period_start_ms: Date.UTC(2026, 10, 20), used: 15 * M };
    await api.send({ 'oddstream.SettleUsage': { account_id, ...settlement } });
    expect(await meters()).toMatchObject({ packages_remaining: 0, courtesy_remaining: 2 * M });
    await used(account_id, meter, '2026-11-20 12:00:00', 40 * M, 'beyond');
    expect(await meters()).toMatchObject({ packages_remaining: 0, courtesy_remaining: 0 });
  });

  it('has no allowance limit for enterprise, and requires a session: a key is none', async () => {
    const { user, accountId } = await signInWithPlan(api, 'large@desk.example', 'enterprise');
    const response = await user.get('/v1/account/usage');
    expect(response).toMatchObject({ status: 200, body: { plan: 'enterprise' } });
    const { meters } = response.body as { meters: { included: number | null; unlimited: boolean }[] };
    expect(meters.map(({ included, unlimited }) => [included, unlimited])).toEqual(Array(3).fill([null, true]));
    expect((await api.get('/v1/account/usage')).status).toBe(401);
    const created = await user.send('POST', '/v1/account/keys', { name: 'desk' });
    const { api_key: key } = created.body as { api_key: string };
    expect((await api.get('/v1/crypto/series', key)).status).toBe(200);
    expect(await api.get('/v1/account/usage', key)).toMatchObject({
      status: 401,
      body: { error: 'Not signed in. Sign in at /dashboard.' },
    });
    expect(JSON.stringify(response.body)).not.toContain(accountId);
  });
});
