import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ApiHarness, startApi } from '../support/api.js';
import { mailedToken, postJson, signedIn, signInByLink } from '../support/sign-in.js';

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2027, 4, 22);
const PASSWORD = 'correct horse battery';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApi({ nowMs: START_MS });
});
afterAll(() => api.stop());
/** The limits of an address are those of 15 minutes. */
beforeEach(() => {
  api.clock.nowMs += 16 * MINUTE_MS;
});

const emailOf = (name: string) => `${name}-${Math.random().toString(36).slice(2)}@desk.example`;
const link = (email: string) => postJson(api, '/v1/auth/link', { email });
const signIn = (email: string, password: string) => postJson(api, '/v1/auth/sign-in', { email, password });

describe('a mailed link', () => {
  it('creates a free account at its first use, signs in, and works once', async () => {
    const email = emailOf('first');
    const response = await postJson(api, '/v1/auth/sign-up', { email: ` ${email.toUpperCase()} ` });
    expect(response.status).toBe(202);
    const mail = api.mails.at(-1);
    expect(mail?.to).toBe(email);
    expect(mail?.link).toMatch(/^http:\/\/api\.test\/dashboard\/link#[A-Za-z0-9_-]{43}$/);
    expect(mail?.text).toContain(mail?.link);
    const token = mailedToken(api);
    const user = signedIn(api, await postJson(api, '/v1/auth/use-link', { token }));
    const account = await user.get('/v1/account');
    expect(account.body).toMatchObject({
      email,
      plan: 'free',
      created_at: api.clock.nowMs / 1000,
      has_password: false,
      session_expires_at: api.clock.nowMs / 1000 + 14 * 86_400,
      csrf_token: user.csrf,
      billing: null,
    });
    const again = await postJson(api, '/v1/auth/use-link', { token });
    expect([again.status, again.body, again.headers.get('set-cookie')]).toEqual([
      401,
      { error: 'This link does not work any more. Request a new one.' },
      null,
    ]);
    // Another link signs into the same account.
    const later = await signInByLink(api, email);
    expect((await later.get('/v1/account')).body).toMatchObject({
      account_id: (account.body as { account_id: string }).account_id,
    });
  });

  it('of two that are used at once for a new address makes one account', async () => {
    const email = emailOf('race');
    const tokens = [];
    for (let n = 0; n < 2; n += 1) {
      await link(email);
      tokens.push(mailedToken(api));
    }
    const responses = await Promise.all(tokens.map((token) => postJson(api, '/v1/auth/use-link', { token })));
    const accounts = await Promise.all(responses.map((response) => signedIn(api, response).get('/v1/account')));
    const ids = accounts.map(({ body }) => (body as { account_id: string }).account_id);
    expect(new Set(ids).size).toBe(1);
    const same = await Promise.all(
      [1, 2, 3].map(async () => {
        return link(email);
      }),
    );
    expect(same.map(({ status }) => status)).toEqual([202, 202, 202]);
    const token = mailedToken(api);
    const uses = await Promise.all([1, 2, 3].map(() => postJson(api, '/v1/auth/use-link', { token })));
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  });

  it('is not mailed for a request with a field that the route does not have', async () => {
    const before = api.mails.length;
    for (const path of ['/v1/auth/sign-up', '/v1/auth/link', '/v1/auth/reset']) {
      const { status, body } = await postJson(api, path, { email: emailOf('field'), password: 'a long password' });
      expect([path, status, body]).toEqual([path, 400, { error: "Unknown field 'password'. Use email" }]);
    }
    expect(api.mails).toHaveLength(before);
    const token = 'x'.repeat(43);
    expect((await postJson(api, '/v1/auth/use-link', { token, pasword: 'a long password' })).body).toEqual({
      error: "Unknown field 'pasword'. Use token, password",
    });
    const long = await postJson(api, '/v1/auth/sign-in', { email: 'a@b.example', password: '', ['y'.repeat(99)]: 1 });
    expect(long.body).toEqual({ error: `Unknown field '${'y'.repeat(80)}'. Use email, password` });
    expect((await postJson(api, '/v1/auth/link', [])).body).toEqual({ error: 'Request body must be a JSON object.' });
  });

  it('expires after an hour', async () => {
    const email = emailOf('late');
    await link(email);
    const token = mailedToken(api);
    api.clock.nowMs += 60 * MINUTE_MS;
    expect((await postJson(api, '/v1/auth/use-link', { token })).status).toBe(401);
  });

  it('is mailed at most five times an hour to an address, which the response does not tell', async () => {
    const email = emailOf('many');
    const before = api.mails.length;
    const bodies = [];
    for (let n = 0; n < 7; n += 1) bodies.push((await link(email)).body);
    expect(new Set(bodies.map((body) => JSON.stringify(body))).size).toBe(1);
    expect(api.mails.length - before).toBe(5);
    api.clock.nowMs += 61 * MINUTE_MS;
    await link(email);
    expect(api.mails.length - before).toBe(6);
  });

  it.each(['', 'x', 'a@b', 'a b@c.de', 'a@b.de, c@d.de', 'a@b.de\r\nbcc: c@d.de', `${'a'.repeat(250)}@b.de`])(
    'is not sent to %j',
    async (email) => {
      const before = api.mails.length;
      expect((await link(email)).status).toBe(400);
      expect(api.mails.length).toBe(before);
    },
  );
});

describe('a password', () => {
  it('is chosen with a link, signs in, and is changed with the present one; all other sessions end', async () => {
    const email = emailOf('secret');
    const first = await signInByLink(api, email, PASSWORD);
    const second = signedIn(api, await signIn(email.toUpperCase(), PASSWORD));
    expect((await second.get('/v1/account')).body).toMatchObject({ has_password: true, email });
    api.clock.nowMs += 16 * MINUTE_MS;
    const change = (body: object) => second.send('POST', '/v1/account/password', body);
    expect((await change({ password: 'another long one' })).status).toBe(403);
    expect((await change({ password: 'another long one', current_password: 'wrong horse' })).status).toBe(403);
    expect((await change({ password: 'short', current_password: PASSWORD })).status).toBe(400);
    expect((await first.get('/v1/account')).status).toBe(200);
    expect((await change({ password: 'another long one', current_password: PASSWORD })).status).toBe(200);
    expect((await first.get('/v1/account')).status).toBe(401);
    expect((await second.get('/v1/account')).status).toBe(200);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
    expect((await signIn(email, 'another long one')).status).toBe(200);
  });

  it('is reset by a mailed link, which ends every session and every other link', async () => {
    const email = emailOf('forgot');
    const first = await signInByLink(api, email, PASSWORD);
    await link(email);
    const otherLink = mailedToken(api);
    expect((await postJson(api, '/v1/auth/reset', { email })).status).toBe(202);
    expect(api.mails.at(-1)?.link).toMatch(/\/dashboard\/reset#/);
    const token = mailedToken(api);
    const withoutPassword = await postJson(api, '/v1/auth/use-link', { token });
    expect([withoutPassword.status, withoutPassword.headers.get('set-cookie')]).toEqual([400, null]);
    const next = signedIn(api, await postJson(api, '/v1/auth/use-link', { token, password: 'a brand new one' }));
    expect((await first.get('/v1/account')).status).toBe(401);
    expect((await next.get('/v1/account')).status).toBe(200);
    expect((await postJson(api, '/v1/auth/use-link', { token: otherLink })).status).toBe(401);
    expect((await signIn(email, PASSWORD)).status).toBe(401);
    expect((await signIn(email, 'a brand new one')).status).toBe(200);
  });

  it('is the same password in every Unicode spelling', async () => {
    const email = emailOf('unicode');
    await signInByLink(api, email, 'caf\u00e9 au lait');
    expect((await signIn(email, 'cafe\u0301 au lait')).status).toBe(200);
  });
});

describe('a session', () => {
  it('ends after 14 days, at sign-out, and with all others by sign-out everywhere', async () => {
    const email = emailOf('ends');
    const [a, b, c] = [await signInByLink(api, email), await signInByLink(api, email), await signInByLink(api, email)];
    const out = await a.send('POST', '/v1/auth/sign-out');
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      200,
      'odds_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ]);
    expect((await a.get('/v1/account')).status).toBe(401);
    expect((await b.get('/v1/account')).status).toBe(200);
    expect((await b.send('POST', '/v1/account/sign-out-everywhere')).status).toBe(200);
    expect((await b.get('/v1/account')).status).toBe(401);
    expect((await c.get('/v1/account')).status).toBe(401);
    const d = await signInByLink(api, email);
    api.clock.nowMs += 14 * 86_400_000 - 1;
    expect((await d.get('/v1/account')).status).toBe(200);
    api.clock.nowMs += 1;
    expect((await d.get('/v1/account')).status).toBe(401);
  });

  it('is one of at most 20 of a user: the oldest ends', async () => {
    const email = emailOf('devices');
    await signInByLink(api, email, PASSWORD);
    const sessions = [];
    for (let n = 0; n < 21; n += 1) {
      api.clock.nowMs += 16 * MINUTE_MS;
      sessions.push(signedIn(api, await signIn(email, PASSWORD)));
    }
    const statuses = await Promise.all(sessions.map(async (one) => (await one.get('/v1/account')).status));
    expect(statuses).toEqual([401, ...Array.from({ length: 20 }, () => 200)]);
  });
});

it('OpenAPI has the 429 of every route that signs in, as the throttle answers', async () => {
  type Responses = Record<string, { headers: object; content: Record<string, { example: unknown }> }>;
  const { paths } = api.service.openApi as unknown as { paths: Record<string, { post: { responses: Responses } }> };
  for (const name of ['sign-in', 'sign-up', 'link', 'reset', 'use-link']) {
    const limited = paths[`/v1/auth/${name}`]?.post.responses['429'];
    expect([name, Object.keys(limited?.headers ?? {})]).toEqual([name, ['x-request-id', 'retry-after']]);
    expect(limited?.content['application/json']?.example).toEqual({
      error: 'Too many attempts. Try again at 2027-05-22 15:40 UTC.',
      reset_at: Date.UTC(2027, 4, 22, 15, 40) / 1000,
    });
  }
  for (let n = 0; n < 10; n += 1) await link(emailOf('many'));
  const { status, headers, body } = await link(emailOf('many'));
  expect([status, headers.get('retry-after')]).toEqual([429, '900']);
  expect(body).toEqual({
    error: expect.stringMatching(/^Too many attempts\. Try again at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/),
    reset_at: Math.floor(api.clock.nowMs / 1000) + 900,
  });
});
