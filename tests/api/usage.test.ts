import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';

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
    const key = await api.key('starter');
    const account = 'account-1';
    api.clock.nowMs = NOW_MS;
    await used(account, 'onchain_event_bytes', '2026-11-15 23:00:00', 7, 'before');
    await used(account, 'onchain_event_bytes', '2026-11-16 00:00:00', 1_000, 'x');
    await used(account, 'onchain_event_bytes', '2026-11-16 00:00:00', 9_000, 'x');
    await used(account, 'onchain_event_bytes', '2026-11-16 00:00:00', 4_000, 'x');
    await used(account, 'onchain_event_bytes', '2026-11-20 11:00:00', 9_000, 'y');
    await used(account, 'api_requests', '2026-11-20 11:00:00', 3, 'z');
    await used('other-account', 'api_requests', '2026-11-20 11:00:00', 1_000, 'z');
    const first = await api.get('/v1/account/usage', key);
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
    const sibling = await api.get('/v1/account/usage', await api.siblingKey(key));
    expect(sibling.body).toEqual(first.body);
  });

  it('has no allowance limit for enterprise, and requires a key', async () => {
    const response = await api.get('/v1/account/usage', await api.key('enterprise'));
    expect(response).toMatchObject({ status: 200, body: { plan: 'enterprise' } });
    const { meters } = response.body as { meters: { included: number | null; unlimited: boolean }[] };
    expect(meters.map(({ included, unlimited }) => [included, unlimited])).toEqual(Array(3).fill([null, true]));
    expect((await api.get('/v1/account/usage')).status).toBe(401);
  });
});
