import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdentityProvider } from '../../api/auth/identity-provider.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { postJson, signInByLink } from '../support/sign-in.js';

const CALLBACK = 'http://api.test/v1/auth/oidc/callback';
const CLIENT = { id: 'oddstream', secret: 'a secret of the client' };

/** A real OpenID Connect provider on loopback. Its users are `<subject> <email> <verified>`; its own pages sign in the user that is named. */
async function startProvider() {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const users = new Map<string, { email: string; email_verified: boolean }>();
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [CALLBACK],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['test'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: async () => ({ sub, ...users.get(sub) }) }),
    features: { devInteractions: { enabled: true } },
  });
  server.on('request', provider.callback());
  return {
    issuer,
    users,
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  };
}

/** A browser of one user at the provider: follows its redirects and forms with their cookies, up to the callback of the API. */
async function authorize(start: string, subject: string): Promise<string> {
  const cookies = new Map<string, string>();
  let url = start;
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 20; step += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    });
    for (const text of response.headers.getSetCookie()) {
      const [pair = ''] = text.split(';');
      const at = pair.indexOf('=');
      cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    const location = response.headers.get('location');
    if (location !== null) {
      url = new URL(location, url).href;
      form = undefined;
      if (url.startsWith(CALLBACK)) return url;
      continue;
    }
    const page = await response.text();
    const action = /<form[^>]* action="([^"]+)"/.exec(page)?.[1];
    const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
    if (action === undefined || prompt === undefined)
      throw new Error(`${response.status} ${url}: ${page.slice(0, 500)}`);
    url = new URL(action, url).href;
    form = new URLSearchParams({ prompt, ...(prompt === 'login' ? { login: subject, password: 'any' } : {}) });
  }
  throw new Error('The provider does not come to an end');
}

let provider: Awaited<ReturnType<typeof startProvider>>;
let api: ApiHarness;
beforeAll(async () => {
  provider = await startProvider();
  api = await startApi({
    nowMs: Date.now(),
    provider: createIdentityProvider(
      { issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret },
      CALLBACK,
    ),
  });
});
afterAll(async () => {
  await api?.stop();
  await provider?.close();
});
beforeEach(() => {
  api.clock.nowMs += 16 * 60_000;
});

const start = async () => {
  const response = await api.request('/v1/auth/oidc/start', { redirect: 'manual' });
  expect(response.status).toBe(303);
  const cookie = (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
  return { url: response.headers.get('location') ?? '', cookie };
};
const comeBack = async (url: string, cookie: string) => {
  const { pathname, search } = new URL(url);
  const response = await api.request(pathname + search, { redirect: 'manual', headers: { cookie } });
  const session = response.headers.getSetCookie().find((text) => text.startsWith('odds_session='));
  return { status: response.status, location: response.headers.get('location'), session: session?.split(';')[0] };
};
const signIn = async (subject: string) => {
  const { url, cookie } = await start();
  return comeBack(await authorize(url, subject), cookie);
};
const accountOf = async (session: string | undefined) => {
  const { status, body } = await api.request('/v1/account', { headers: { cookie: session ?? '' } });
  expect(status).toBe(200);
  return body as { account_id: string; email: string; has_password: boolean };
};

describe('sign-in by an OpenID Connect provider', () => {
  it('asks with PKCE, state and nonce, creates a user, and finds it again when its email has changed', async () => {
    provider.users.set('ada', { email: 'Ada@desk.example', email_verified: true });
    const { url } = await start();
    const query = new URL(url).searchParams;
    expect(url).toMatch(new RegExp(`^${provider.issuer}/`));
    expect(Object.fromEntries(query)).toEqual({
      client_id: CLIENT.id,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid email',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
    const first = await signIn('ada');
    expect([first.status, first.location]).toEqual([303, 'http://api.test/dashboard']);
    const account = await accountOf(first.session);
    expect(account).toMatchObject({ email: 'ada@desk.example', has_password: false });
    provider.users.set('ada', { email: 'lovelace@desk.example', email_verified: false });
    expect(await accountOf((await signIn('ada')).session)).toMatchObject({ account_id: account.account_id });
  });

  it('joins the user of a verified email, and never by an email that is not verified', async () => {
    const mailed = await (await signInByLink(api, 'grace@desk.example')).get('/v1/account');
    const { account_id: id } = mailed.body as { account_id: string };
    provider.users.set('mallory', { email: 'grace@desk.example', email_verified: false });
    expect(await signIn('mallory')).toEqual({
      status: 303,
      location: 'http://api.test/dashboard/sign-in?problem=unverified',
      session: undefined,
    });
    provider.users.set('grace', { email: 'grace@desk.example', email_verified: true });
    expect(await accountOf((await signIn('grace')).session)).toMatchObject({ account_id: id });
    provider.users.set('new', { email: 'unverified@desk.example', email_verified: false });
    expect((await signIn('new')).session).toBeUndefined();
  });

  it('does not take a letter beyond ASCII for the letter that its lower case is', async () => {
    await signInByLink(api, 'kay@desk.example');
    // The lower case of the Kelvin sign is the letter k.
    provider.users.set('kelvin', { email: '\u212aay@desk.example', email_verified: true });
    expect(await signIn('kelvin')).toMatchObject({ session: undefined });
    const { status } = await postJson(api, '/v1/auth/link', { email: '\u212aay@desk.example' });
    expect(status).toBe(400);
  });

  it('refuses a response without its attempt, of another attempt, with a code that was used or an error', async () => {
    provider.users.set('eve', { email: 'eve@desk.example', email_verified: true });
    const refused = { status: 303, location: 'http://api.test/dashboard/sign-in?problem=provider', session: undefined };
    const one = await start();
    const two = await start();
    const url = await authorize(one.url, 'eve');
    expect(await comeBack(url, '')).toEqual(refused);
    expect(await comeBack(url, two.cookie)).toEqual(refused);
    expect(await comeBack(url, `odds_oidc=${Buffer.from('{"state":1}').toString('base64url')}`)).toEqual(refused);
    const ok = await comeBack(url, one.cookie);
    expect(ok.location).toBe('http://api.test/dashboard');
    expect(await comeBack(url, one.cookie)).toEqual(refused);
    const state = new URL(url).searchParams.get('state');
    expect(await comeBack(`${CALLBACK}?error=access_denied&state=${state}`, one.cookie)).toEqual(refused);
    const tampered = new URL(await authorize(two.url, 'eve'));
    tampered.searchParams.set('iss', 'http://127.0.0.1:1');
    expect(await comeBack(tampered.href, two.cookie)).toEqual(refused);
  });

  it('counts once against the 30 of an address in 15 minutes, when it returns', async () => {
    const attempt = async () => {
      const { cookie } = await start();
      return (await comeBack(`${CALLBACK}?error=access_denied`, cookie)).status;
    };
    for (let n = 1; n <= 30; n += 1) expect([n, await attempt()]).toEqual([n, 303]);
    expect(await attempt()).toBe(429);
  });

  it('rejects while the provider is away', async () => {
    const away = createIdentityProvider({ issuer: 'http://127.0.0.1:1', clientId: 'x', clientSecret: 'y' }, CALLBACK);
    await expect(away.start()).rejects.toThrow();
  });
});
