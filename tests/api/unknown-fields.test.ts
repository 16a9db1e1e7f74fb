import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestProvider } from '../../api/billing/test-provider.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { type SignedIn, signInByLink } from '../support/sign-in.js';

const WALLET = `0x${'a1'.repeat(20)}`;
const email = 'fields@desk.example';
/** A body that each route accepts, and the fields that it knows. */
const bodies: Readonly<Record<string, [body: object, known: string]>> = {
  'POST /v1/auth/sign-up': [{ email }, 'email'],
  'POST /v1/auth/link': [{ email }, 'email'],
  'POST /v1/auth/reset': [{ email }, 'email'],
  'POST /v1/auth/sign-in': [{ email, password: 'a long password' }, 'email, password'],
  'POST /v1/auth/use-link': [{ token: 'x'.repeat(43) }, 'token, password'],
  'DELETE /v1/account': [{ email }, 'email, password'],
  'POST /v1/account/password': [{ password: 'a long password' }, 'password, current_password'],
  'POST /v1/account/keys': [{ name: 'bot' }, 'name'],
  'PATCH /v1/account/keys/{id}': [{ name: 'bot' }, 'name'],
  'POST /v1/account/keys/{id}/rotate': [{ grace_seconds: 0 }, 'grace_seconds'],
  'POST /v1/account/packages/checkout': [{ meter: 'api_requests', count: 1 }, 'meter, count'],
  'POST /v1/account/packages/test-payment': [
    { checkout_id: '0c0f7f7e-5c1d-4c52-9d5b-0a6d3a2f9b41', action: 'pay' },
    'checkout_id, action',
  ],
  'POST /v1/keys': [{ name: 'bot' }, 'name'],
  'POST /v1/sql': [{ sql: 'SELECT 1' }, 'sql, format, max_rows'],
  'POST /v2/copy-pnl/batch': [{ addresses: [WALLET] }, 'addresses, from, to, include_trades'],
  'POST /v2/copy-pnl/wallets': [{ addresses: [WALLET] }, 'addresses'],
  'DELETE /v2/copy-pnl/wallets': [{ addresses: [WALLET] }, 'addresses'],
  'POST /v3/wallets/batch': [{ wallets: [WALLET] }, 'wallets'],
};

let api: ApiHarness;
let user: SignedIn;
let key: string;
beforeAll(async () => {
  api = await startApi({
    nowMs: Date.UTC(2027, 4, 22),
    payments: createTestProvider({ publicUrl: 'http://api.test' }),
  });
  user = await signInByLink(api, email);
  key = await api.key('enterprise');
});
afterAll(() => api.stop());

it('is tested with every route that has a JSON body', async () => {
  const { paths } = await api.ok<{
    paths: Record<string, Record<string, { requestBody?: { content: Record<string, { schema: object }> } }>>;
  }>('/openapi.json');
  const declared = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) =>
      requestBody === undefined
        ? []
        : [{ name: `${method.toUpperCase()} ${path}`, schema: requestBody.content['application/json']?.schema }],
    ),
  );
  expect(declared.map(({ name }) => name).sort()).toEqual(Object.keys(bodies).sort());
  for (const { name, schema } of declared)
    expect([name, schema]).toMatchObject([name, { additionalProperties: false }]);
});

it.each(Object.entries(bodies))(
  '%s rejects a field that it does not have, and names it',
  async (name, [body, known]) => {
    const [method = '', path = ''] = name.split(' ');
    const before = api.mails.length;
    // `__proto__` must be a field of the text, not of the object that is written as text.
    for (const field of ['colour', '__proto__', 'constructor']) {
      const text = `${JSON.stringify(body).slice(0, -1)},${JSON.stringify(field)}:{"name":1}}`;
      const response = await api.request(path.replace('{id}', '0'.repeat(16)), {
        method,
        headers: {
          'content-type': 'application/json',
          ...(path.startsWith('/v1/account')
            ? { cookie: user.cookie, 'x-csrf-token': user.csrf }
            : { 'x-api-key': key }),
        },
        body: text,
      });
      const error = path.startsWith('/v3/') ? `unknown field '${field}': use ` : `Unknown field '${field}'. Use `;
      expect([response.status, response.body]).toEqual([400, { error: `${error}${known}` }]);
    }
    expect(api.mails).toHaveLength(before);
  },
);
