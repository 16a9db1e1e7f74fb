import { expect } from 'vitest';
import type { Plan } from '../../schemas/types.gen.js';
import type { ApiHarness, ApiResponse } from './api.js';

/** A signed-in browser. */
export interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
  get(path: string): Promise<ApiResponse>;
  /** Sends JSON with the CSRF token. */
  send(method: string, path: string, body?: unknown): Promise<ApiResponse>;
}

export const postJson = (
  api: ApiHarness,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<ApiResponse> =>
  api.request(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });

/** Name and value of the cookie that a response sets. */
export const cookieOf = (response: ApiResponse): string =>
  (response.headers.get('set-cookie') ?? '').split(';')[0] ?? '';

/** The browser after a successful sign-in. */
export function signedIn(api: ApiHarness, response: ApiResponse): SignedIn {
  expect([response.status, response.body]).toEqual([200, { csrf_token: expect.any(String) }]);
  const cookie = cookieOf(response);
  const csrf = (response.body as { csrf_token: string }).csrf_token;
  return {
    cookie,
    csrf,
    get: (path) => api.request(path, { headers: { cookie } }),
    send: (method, path, body) =>
      api.request(path, {
        method,
        headers: { cookie, 'x-csrf-token': csrf, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

/** Token of the newest mailed link. */
export function mailedToken(api: ApiHarness): string {
  const link = api.mails.at(-1)?.link ?? '';
  return new URL(link).hash.slice(1);
}

/** Creates a user, or signs one in, through a mailed link. */
export async function signInByLink(api: ApiHarness, email: string, password?: string): Promise<SignedIn> {
  expect((await postJson(api, '/v1/auth/link', { email })).status).toBe(202);
  return signedIn(api, await postJson(api, '/v1/auth/use-link', { token: mailedToken(api), password }));
}

/** The same, with another plan than the free one. */
export async function signInWithPlan(api: ApiHarness, email: string, plan: Plan) {
  const user = await signInByLink(api, email);
  const { account_id: accountId } = (await user.get('/v1/account')).body as { account_id: string };
  await api.send({ 'oddstream.SetPlan': { account_id: accountId, plan } });
  return { user, accountId };
}
