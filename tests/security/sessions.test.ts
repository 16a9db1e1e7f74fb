import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPasswordHasher } from '../../api/auth/password-hasher.js';
import { type ApiHarness, type ApiResponse, startApi } from '../support/api.js';
import { mailedToken, postJson, signedIn, signInByLink } from '../support/sign-in.js';

const MINUTE_MS = 60_000;
const PASSWORD = 'correct horse battery';
const UNKNOWN = 'nobody@desk.example';

let api: ApiHarness;
beforeAll(async () => {
  api = await startApi({ nowMs: Date.UTC(2027, 4, 22) });
});
afterAll(() => api.stop());
beforeEach(() => {
  // The limits of an address are those of 15 minutes.
  api.clock.nowMs += 16 * MINUTE_MS;
});

let users = 0;
const newEmail = () => {
  users += 1;
  return `user-${users}@desk.example`;
};
const known = async () => {
  const email = newEmail();
  return { email, user: await signInByLink(api, email, PASSWORD) };
};
/** What a client can see of a response, without the request's id and the time. */
const visible = ({ status, headers, body }: ApiResponse) => ({
  status,
  body,
  headers: [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name)),
});

describe('responses do not tell whether an address has an account', () => {
  it.each(['/v1/auth/sign-up', '/v1/auth/link', '/v1/auth/reset'])('%s', async (path) => {
    const { email } = await known();
    const before = api.mails.length;
    const ofKnown = visible(await postJson(api, path, { email }));
    const ofUnknown = visible(await postJson(api, path, { email: UNKNOWN }));
    expect(ofUnknown).toEqual(ofKnown);
    expect(ofKnown.status).toBe(202);
    // Only the mailbox tells.
    expect(api.mails.length - before).toBe(path === '/v1/auth/reset' ? 1 : 2);
  });

  it('/v1/auth/sign-in, where an unknown user, one without a password and a wrong password cost one verification each', async () => {
    const { email } = await known();
    const withoutPassword = newEmail();
    await signInByLink(api, withoutPassword);
    const seen = [];
    for (const one of [email, withoutPassword, UNKNOWN])
      seen.push(visible(await postJson(api, '/v1/auth/sign-in', { email: one, password: 'a wrong password' })));
    expect(seen[0]).toMatchObject({ status: 401, body: { error: 'Email or password is wrong.' } });
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[2]).toEqual(seen[0]);
  });

  it('by work: without a hash the same memory and passes are computed', async () => {
    const passwords = createPasswordHasher();
    const hash = await passwords.hash(PASSWORD);
    expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const cpuMs = async (passwordHash: string | null) => {
      const before = process.cpuUsage();
      for (let n = 0; n < 8; n += 1) expect(await passwords.verify('another', passwordHash)).toBe(false);
      return process.cpuUsage(before).user / 1000;
    };
    await cpuMs(null);
    const [without, present] = [await cpuMs(null), await cpuMs(hash)];
    // Far from the factor of thousands that a missing hash would be.
    expect(without / present).toBeGreaterThan(0.2);
    expect(await passwords.verify(PASSWORD, hash)).toBe(true);
  });
});

describe('cookies', () => {
  it('are HttpOnly, SameSite=Lax, for the whole host, 14 days', async () => {
    const email = newEmail();
    await postJson(api, '/v1/auth/link', { email });
    const response = await postJson(api, '/v1/auth/use-link', { token: mailedToken(api) });
    expect(response.headers.get('set-cookie')).toMatch(
      /^odds_session=[A-Za-z0-9_-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it.each([
    ['twice', (cookie: string) => `${cookie}; ${cookie}`],
    ['in another case', (cookie: string) => cookie.toUpperCase()],
    [
      'with the hash instead of the token',
      (cookie: string) =>
        `odds_session=${createHash('sha256').update(cookie.slice('odds_session='.length)).digest('hex')}`,
    ],
    ['cut', (cookie: string) => cookie.slice(0, -1)],
    ['empty', () => 'odds_session='],
  ])('sent %s are no session', async (_what, change) => {
    const { user } = await known();
    expect((await api.request('/v1/account', { headers: { cookie: `a=b; ${user.cookie} ;c=d` } })).status).toBe(200);
    expect((await api.request('/v1/account', { headers: { cookie: change(user.cookie) } })).status).toBe(401);
  });
});

describe('requests of signed-in browsers', () => {
  const writes = () => api.service.routes.filter((route) => route.auth === 'session' && route.method !== 'get');

  it('that change something need the CSRF token of their session, on every route', async () => {
    const [{ user }, { user: other }] = [await known(), await known()];
    expect(writes().length).toBeGreaterThan(7);
    for (const { method, path } of writes())
      for (const token of [undefined, '', other.csrf, user.csrf.slice(1), user.cookie.slice(-43)]) {
        const response = await api.request(path.replace(/\{\w+\}/g, '0123456789abcdef'), {
          method: method.toUpperCase(),
          headers: {
            cookie: user.cookie,
            'content-type': 'application/json',
            ...(token === undefined ? {} : { 'x-csrf-token': token }),
          },
          body: '{}',
        });
        expect([method, path, response.status]).toEqual([method, path, 403]);
      }
    expect((await user.get('/v1/account')).status).toBe(200);
  });

  it('from pages of other origins are refused, reads too, and no route lets them read', async () => {
    const { user } = await known();
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    for (const { method, path } of api.service.routes.filter((route) => route.auth === 'session')) {
      const request = (headers: Record<string, string>, body?: string) =>
        api.request(path.replace(/\{\w+\}/g, '0123456789abcdef'), {
          method: method.toUpperCase(),
          headers: { cookie: user.cookie, ...headers },
          ...(body === undefined ? {} : { body }),
        });
      // With the CSRF token only the origin is a reason to refuse a write.
      const valid = { 'x-csrf-token': user.csrf, 'content-type': 'application/json' };
      for (const headers of foreign) {
        const response = await request({ ...valid, ...headers }, method === 'get' ? undefined : '{}');
        expect([method, path, headers, response.status]).toEqual([method, path, headers, 403]);
        expect([path, response.headers.get('access-control-allow-origin')]).toEqual([path, null]);
      }
      expect([path, (await request({})).headers.get('access-control-allow-origin')]).toEqual([path, null]);
    }
    expect((await user.get('/v1/account')).status).toBe(200);
    for (const path of ['/v1/auth/sign-in', '/v1/auth/link', '/v1/auth/use-link'])
      for (const headers of foreign) expect((await postJson(api, path, {}, headers)).status).toBe(403);
  });

  it('take no key in place of a session', async () => {
    const key = await api.key('enterprise');
    for (const { method, path } of api.service.routes.filter((route) => route.auth === 'session')) {
      const response = await api.request(path.replace(/\{\w+\}/g, '0123456789abcdef'), {
        method: method.toUpperCase(),
        headers: { 'x-api-key': key },
      });
      expect([path, response.status]).toEqual([path, 401]);
    }
  });

  it('reach the keys of their own account only', async () => {
    const [{ user }, { user: other }] = [await known(), await known()];
    const created = await user.send('POST', '/v1/account/keys', { name: 'mine' });
    const { id, api_key: key } = created.body as { id: string; api_key: string };
    expect((await other.send('DELETE', `/v1/account/keys/${id}`)).status).toBe(404);
    expect((await other.send('PATCH', `/v1/account/keys/${id}`, { name: 'theirs' })).status).toBe(404);
    expect((await other.send('POST', `/v1/account/keys/${id}/rotate`, { grace_seconds: 0 })).status).toBe(404);
    expect((await api.get('/v1/crypto/series', key)).status).toBe(200);
  });

  it('are limited per account', async () => {
    const { user } = await known();
    const statuses = new Set<number>();
    for (let n = 0; n < 241; n += 1) statuses.add((await user.get('/v1/account')).status);
    expect([...statuses]).toEqual([200, 429]);
    const limited = await user.get('/v1/account');
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '60']);
  });

  it('have bodies of at most 16 KiB, JSON only', async () => {
    const { user } = await known();
    const large = await user.send('POST', '/v1/account/keys', { name: 'x'.repeat(17_000) });
    expect(large.status).toBe(413);
    const form = await api.request('/v1/account/keys', {
      method: 'POST',
      headers: { cookie: user.cookie, 'x-csrf-token': user.csrf, 'content-type': 'text/plain' },
      body: '{"name":"x"}',
    });
    expect(form.status).toBe(415);
    for (const path of [
      '/v1/auth/sign-in',
      '/v1/auth/link',
      '/v1/auth/use-link',
      '/v1/auth/reset',
      '/v1/auth/sign-up',
    ]) {
      expect((await postJson(api, path, { email: 'x'.repeat(17_000) })).status).toBe(413);
      expect((await api.request(path, { method: 'POST', body: '{}' })).status).toBe(415);
    }
  });
});

describe('guesses', () => {
  it('are limited to 10 per email in 15 minutes, for emails without an account too, and a link still signs in', async () => {
    const { email } = await known();
    for (const one of [email, `${email}.unknown`]) {
      api.clock.nowMs += 16 * MINUTE_MS;
      const guess = (password: string) => postJson(api, '/v1/auth/sign-in', { email: one, password });
      for (let n = 0; n < 10; n += 1) expect((await guess(`guess number ${n}`)).status).toBe(401);
      const limited = await guess(PASSWORD);
      expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '900']);
      api.clock.nowMs += 14 * MINUTE_MS;
      expect((await guess(PASSWORD)).status).toBe(429);
    }
    await signInByLink(api, email);
    api.clock.nowMs += 2 * MINUTE_MS;
    expect((await postJson(api, '/v1/auth/sign-in', { email, password: PASSWORD })).status).toBe(200);
  });

  it('of one address are limited to 30 in 15 minutes over all emails, passwords and links', async () => {
    const statuses = [];
    for (let n = 0; n < 15; n += 1) {
      statuses.push((await postJson(api, '/v1/auth/sign-in', { email: newEmail(), password: 'guess' })).status);
      statuses.push((await postJson(api, '/v1/auth/use-link', { token: 'A'.repeat(43) })).status);
    }
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect((await postJson(api, '/v1/auth/sign-in', { email: newEmail(), password: 'guess' })).status).toBe(429);
    expect((await postJson(api, '/v1/auth/use-link', { token: 'A'.repeat(43) })).status).toBe(429);
  });

  it('of the present password count as guesses of the email', async () => {
    const { email, user } = await known();
    const change = { password: 'another password', current_password: 'wrong password' };
    for (let n = 0; n < 10; n += 1) expect((await user.send('POST', '/v1/account/password', change)).status).toBe(403);
    expect((await user.send('POST', '/v1/account/password', change)).status).toBe(429);
    expect((await postJson(api, '/v1/auth/sign-in', { email, password: PASSWORD })).status).toBe(429);
  });

  it('for mails are limited to 10 per address', async () => {
    for (let n = 0; n < 10; n += 1)
      expect((await postJson(api, '/v1/auth/link', { email: newEmail() })).status).toBe(202);
    expect((await postJson(api, '/v1/auth/link', { email: newEmail() })).status).toBe(429);
  });

  it('wait in a queue of 20 behind two that run; more get 503', async () => {
    const passwords = createPasswordHasher();
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => passwords.hash(PASSWORD)));
    const refused = results.filter((one) => one.status === 'rejected').map((one) => one.reason.failure.kind);
    expect(refused).toEqual(Array.from({ length: 30 - 20 - 2 }, () => 'overloaded'));
  });
});
it('a name of a key has something to see, and no half characters or marks of text direction', async () => {
  const { user } = await known();
  const rename = async (name: string) => {
    const { status, body } = await user.send('PATCH', `/v1/account/keys/${'0'.repeat(16)}`, { name });
    return [status, (body as { error: string }).error];
  };
  for (const name of ['', ' ', '\u200b', '\u00a0\u2060'])
    expect([name, ...(await rename(name))]).toEqual([name, 400, 'Invalid name. Use at least 1 character.']);
  for (const name of ['a\u0000', '\u202egnp.exe', 'a\u2066b', '\ud800', 'a\udfffb'])
    expect([name, ...(await rename(name))]).toEqual([name, 400, 'Invalid name. Control characters are not allowed.']);
  // The joiner of an emoji, and scripts from right to left, are parts of names.
  for (const name of ['\u{1f469}\u200d\u{1f680}', '\u05de\u05e4\u05ea\u05d7', ` ${'x'.repeat(100)} `])
    expect([name, ...(await rename(name))]).toEqual([name, 404, 'Key not found.']);
});

it('requests that the deletion of their account overtakes are not signed in', async () => {
  const { email, user } = await known();
  const [deleted, set] = await Promise.all([
    user.send('DELETE', '/v1/account', { email }),
    user.send('POST', '/v1/account/password', { password: `${PASSWORD}, another` }),
  ]);
  expect([deleted.status, set.status]).toEqual([200, 401]);
});

it('an account is deleted with its email and password only, and its keys and sessions end', async () => {
  const { email, user } = await known();
  const second = signedIn(api, await postJson(api, '/v1/auth/sign-in', { email, password: PASSWORD }));
  const { api_key: key } = (await user.send('POST', '/v1/account/keys', { name: 'mine' })).body as { api_key: string };
  api.clock.nowMs += 16 * MINUTE_MS;
  expect((await user.send('DELETE', '/v1/account', { email: UNKNOWN, password: PASSWORD })).status).toBe(400);
  expect((await user.send('DELETE', '/v1/account', { email })).status).toBe(403);
  expect((await user.send('DELETE', '/v1/account', { email, password: 'wrong password' })).status).toBe(403);
  expect((await api.get('/v1/crypto/series', key)).status).toBe(200);
  const deleted = await user.send('DELETE', '/v1/account', { email, password: PASSWORD });
  expect([deleted.status, deleted.headers.get('set-cookie')]).toEqual([200, expect.stringContaining('Max-Age=0')]);
  expect((await api.get('/v1/crypto/series', key)).status).toBe(403);
  for (const one of [user, second]) expect((await one.get('/v1/account')).status).toBe(401);
  expect((await postJson(api, '/v1/auth/sign-in', { email, password: PASSWORD })).status).toBe(401);
  // The address is free for a new account.
  const again = await signInByLink(api, email);
  expect((await again.get('/v1/account')).body).toMatchObject({ email, has_password: false });
});
