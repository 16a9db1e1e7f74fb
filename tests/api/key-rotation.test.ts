import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { type SignedIn, signInWithPlan } from '../support/sign-in.js';

let api: ApiHarness;
let user: SignedIn;
beforeAll(async () => {
  api = await startApi({ nowMs: Date.UTC(2027, 4, 22) });
  ({ user } = await signInWithPlan(api, 'rotating@desk.example', 'starter'));
});
afterAll(() => api.stop());

interface NewKey {
  readonly id: string;
  readonly api_key: string;
}
const created = async (path: string, body: object): Promise<NewKey> => {
  const response = await user.send('POST', path, body);
  expect(response.status).toBe(201);
  return response.body as NewKey;
};
const rotate = ({ id }: NewKey, graceS: number) => created(`/v1/account/keys/${id}/rotate`, { grace_seconds: graceS });
const remaining = async (key: NewKey) =>
  Number((await api.get('/v1/crypto/series', key.api_key)).headers.get('x-ratelimit-remaining'));

it('a rotation neither resets nor doubles what was used in a window, and the old key ends with its grace', async () => {
  const first = await created('/v1/account/keys', { name: 'bot' });
  const path = `/v2/copy-pnl/0x${'a1'.repeat(20)}`;
  const status = async (key: NewKey) => (await api.get(path, key.api_key)).status;
  expect(await remaining(first)).toBe(999);
  expect(await status(first)).toBe(200);
  const second = await rotate(first, 60);
  const third = await rotate(second, 0);
  expect(await status(third)).toBe(429);
  expect(await status(first)).toBe(429);
  expect(await remaining(third)).toBe(995);
  expect(await remaining(first)).toBe(994);
  // One request in five seconds for both keys together.
  api.clock.nowMs += 5_000;
  expect([await status(third), await status(first)]).toEqual([200, 429]);
  api.clock.nowMs += 5_000;
  expect([await status(first), await status(third)]).toEqual([200, 429]);
  api.clock.nowMs += 49_999;
  expect((await api.get('/v1/crypto/series', first.api_key)).status).toBe(200);
  expect((await api.get('/v1/crypto/series', second.api_key)).status).toBe(403);
  api.clock.nowMs += 1;
  expect((await api.get('/v1/crypto/series', first.api_key)).status).toBe(403);
  expect((await api.get('/v1/crypto/series', third.api_key)).status).toBe(200);
});

it('revoking keys and creating others gives an account no more than the keys of its plan together', async () => {
  const { user: other } = await signInWithPlan(api, 'creating@desk.example', 'starter');
  const answers: (readonly [status: number, limit: string | null])[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { body } = await other.send('POST', '/v1/account/keys', { name: `bot ${n}` });
    const { id, api_key: key } = body as NewKey;
    const { status, headers } = await api.get(`/v2/copy-pnl/0x${'a1'.repeat(20)}`, key);
    answers.push([status, headers.get('x-ratelimit-limit')]);
    expect((await other.send('DELETE', `/v1/account/keys/${id}`)).status).toBe(200);
  }
  // A key may send one request in 5 s, so that the three keys of the plan may send three.
  expect(answers).toEqual([
    [200, '1000'],
    [200, '1000'],
    [200, '1000'],
    [429, '3'],
    [429, '3'],
  ]);
});

describe('a rotation while as many replaced keys still work as the plan has keys', () => {
  /** A key of the free plan, which has one, and the key that it replaces for an hour. */
  const replacedOnce = async (email: string) => {
    const { user: owner } = await signInWithPlan(api, email, 'free');
    const keyFrom = async (path: string, body: object) => (await owner.send('POST', path, body)).body as NewKey;
    const old = await keyFrom('/v1/account/keys', { name: 'bot' });
    const present = await keyFrom(`/v1/account/keys/${old.id}/rotate`, { grace_seconds: 3_600 });
    const again = (graceS: number) =>
      owner.send('POST', `/v1/account/keys/${present.id}/rotate`, { grace_seconds: graceS });
    expect(await again(3_600)).toMatchObject({
      status: 409,
      body: {
        error: 'Too many replaced keys still work. Revoke one of them, or let this key stop at once (grace_seconds 0).',
      },
    });
    return { owner, old, present, again };
  };
  const works = async ({ api_key: key }: NewKey) => (await api.get('/v1/crypto/series', key)).status === 200;

  it('is accepted after one of them is revoked', async () => {
    const { owner, old, present, again } = await replacedOnce('revoking@desk.example');
    expect((await owner.send('DELETE', `/v1/account/keys/${old.id}`)).status).toBe(200);
    const { status, body } = await again(3_600);
    expect([status, await works(old), await works(present), await works(body as NewKey)]).toEqual([
      201,
      false,
      true,
      true,
    ]);
  });

  it('is accepted without a grace period', async () => {
    const { old, present, again } = await replacedOnce('at-once@desk.example');
    const { status, body } = await again(0);
    expect([status, await works(old), await works(present), await works(body as NewKey)]).toEqual([
      201,
      true,
      false,
      true,
    ]);
  });
});

it.each([
  ['post', '/v1/account/keys/{id}/rotate', ['404', '409']],
  ['patch', '/v1/account/keys/{id}', ['404']],
  ['delete', '/v1/account/keys/{id}', ['404']],
  ['post', '/v1/account/keys', ['409']],
])('/openapi.json has the 404 and 409 of %s %s', async (method, path, expected) => {
  const { paths } = await api.ok<{ paths: Record<string, Record<string, { responses: object }>> }>(
    '/openapi.json',
    null,
  );
  const statuses = Object.keys(paths[path]?.[method]?.responses ?? {});
  expect(statuses.filter((status) => status === '404' || status === '409')).toEqual(expected);
});
