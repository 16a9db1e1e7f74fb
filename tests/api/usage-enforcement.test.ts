import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { signInWithPlan } from '../support/sign-in.js';

const CREATED_MS = Date.UTC(2026, 10, 16, 9);
const PERIOD_END_S = Date.UTC(2026, 11, 16) / 1000;
const M = 1_000_000;
const meter = 'api_requests' as const;
let api: ApiHarness;
beforeAll(async () => {
  api = await startApi({ nowMs: CREATED_MS, enforceUsage: true });
});
afterAll(() => api.stop());

const settle = (account_id: string, used: number) =>
  api.send({ 'oddstream.SettleUsage': { account_id, meter, period_start_ms: Date.UTC(2026, 10, 16), used } });

describe('enforced allowances', () => {
  it('reject requests of an account that has used up its plan, packages and courtesy capacity, in each format, unbilled', async () => {
    const { user, accountId } = await signInWithPlan(api, 'used-up@desk.example', 'starter');
    const created = await user.send('POST', '/v1/account/keys', { name: 'desk' });
    const { api_key: key } = created.body as { api_key: string };
    const sibling = await api.siblingKey(key);
    const other = await api.key('starter');
    await settle(accountId, 10 * M - 1);
    expect((await api.get('/v1/crypto/series', key)).status).toBe(200);
    await settle(accountId, 10 * M);
    const before = api.metered.filter(({ billable }) => billable).length;
    for (const [path, body] of [
      ['/v1/crypto/series', {}],
      ['/v3/trades', { scope: 'monthly_allowance' }],
      ['/v2/copy-pnl/wallets', {}],
      ['/clobv2/neg-risk/events', {}],
    ] as const)
      for (const one of [key, sibling]) {
        const rejected = await api.get(path, one);
        expect(rejected, path).toMatchObject({
          status: 429,
          body: { error: 'The requests of your plan and all packages are used up for this service month.', ...body },
        });
        expect(Number(rejected.headers.get('retry-after')), path).toBe(PERIOD_END_S - CREATED_MS / 1000);
        const limits = ['limit', 'remaining', 'reset'].map((name) => rejected.headers.get(`x-ratelimit-${name}`));
        expect(limits.map(Number), path).toEqual([10 * M, 0, PERIOD_END_S]);
      }
    expect((await api.get('/v3/trades', key)).body).toMatchObject({ reset_at: PERIOD_END_S });
    expect(api.metered.filter(({ billable }) => billable).length).toBe(before);
    expect((await api.get('/v1/crypto/series', other)).status).toBe(200);
    expect(await user.get('/v1/account/usage')).toMatchObject({ status: 200, body: { enforcement: true } });
  });

  it('end with courtesy capacity, a larger plan and the next service month', async () => {
    const status = async (key: string) => (await api.get('/v1/crypto/series', key)).status;
    const key = await api.key('starter');
    const account_id = 'account-2';
    await settle(account_id, 10 * M);
    expect(await status(key)).toBe(429);
    const courtesy = { grant_id: 'g', meter, quantity: M, expires_at_ms: CREATED_MS + 40 * 86_400_000, note: '' };
    await api.send({ 'oddstream.GrantCourtesy': { account_id, ...courtesy } });
    expect(await status(key)).toBe(200);
    await settle(account_id, 11 * M);
    expect(await status(key)).toBe(429);
    await api.send({ 'oddstream.SetPlan': { account_id, plan: 'growth' } });
    expect(await status(key)).toBe(200);
    await api.send({ 'oddstream.SetPlan': { account_id, plan: 'starter' } });
    expect(await status(key)).toBe(429);
    api.clock.nowMs = PERIOD_END_S * 1000;
    expect(await status(key)).toBe(200);
  });
});
