import { createHash } from 'node:crypto';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCodec } from '../../schemas/codec.js';
import { topics } from '../../schemas/topics.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { cookieOf, mailedToken, postJson } from '../support/sign-in.js';

const PASSWORD = 'correct horse battery';
const lines: string[] = [];
const destination = new Writable({
  write(chunk: Buffer, _encoding, done) {
    lines.push(chunk.toString());
    done();
  },
});

let api: ApiHarness;
beforeAll(async () => {
  const logger = pino({ level: 'trace' }, destination);
  api = await startApi({ nowMs: Date.UTC(2027, 4, 22), baseUrl: 'https://api.test', logger });
});
afterAll(() => api.stop());

it('over https the cookie is Secure with the prefix __Host-, and one without it is no session', async () => {
  await postJson(api, '/v1/auth/link', { email: 'first@desk.example' });
  const response = await postJson(api, '/v1/auth/use-link', { token: mailedToken(api) });
  expect(response.headers.get('set-cookie')).toMatch(
    /^__Host-odds_session=[A-Za-z0-9_-]{43}; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  const cookie = cookieOf(response);
  const status = async (text: string) => (await api.request('/v1/account', { headers: { cookie: text } })).status;
  expect(await status(cookie)).toBe(200);
  expect(await status(cookie.replace('__Host-', ''))).toBe(401);
});

it('tokens, passwords and keys are in no line of the program log and in the event log as hashes only', async () => {
  const email = 'second@desk.example';
  await postJson(api, '/v1/auth/link', { email });
  const link = mailedToken(api);
  const response = await postJson(api, '/v1/auth/use-link', { token: link, password: PASSWORD });
  const cookie = cookieOf(response);
  const session = cookie.split('=')[1] ?? '';
  const csrf = (response.body as { csrf_token: string }).csrf_token;
  const headers = { cookie, 'x-csrf-token': csrf, 'content-type': 'application/json' };
  const created = await api.request('/v1/account/keys', { method: 'POST', headers, body: '{"name":"desk"}' });
  const key = (created.body as { api_key: string }).api_key;
  // Failures of every kind are logged with what the program knows of the request.
  api.faults.tables = new Error('the tables are away');
  expect((await api.request('/v1/account/usage', { headers: { cookie } })).status).toBe(500);
  expect((await api.get('/v1/crypto/ticks?symbol=BTC&from=1&to=2', key)).status).toBe(500);
  api.faults.tables = null;
  await postJson(api, '/v1/auth/sign-in', { email, password: `${PASSWORD}, wrong` });
  await postJson(api, '/v1/auth/sign-in', { email, password: PASSWORD });

  const program = lines.join('');
  expect(program).toContain('the tables are away');
  for (const secret of [link, session, csrf, key, PASSWORD]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(program).not.toContain(secret);
  }

  const codec = createCodec();
  let events = '';
  for (const topic of [topics.accountsCommands.name, topics.accountsState.name])
    for await (const batch of api.log.read({
      topic,
      partition: 0,
      from: 'earliest',
      follow: false,
      signal: new AbortController().signal,
    }))
      for (const { key: entity, value } of batch.records)
        events += `${entity} ${value === null ? '' : JSON.stringify(codec.decode(value))}\n`;
  for (const secret of [link, session, key]) {
    expect(events).not.toContain(secret);
    expect(events).toContain(createHash('sha256').update(secret).digest('hex'));
  }
  expect(events).not.toContain(PASSWORD);
  expect(events).not.toContain(csrf);
  expect(events).toMatch(/\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(api.mails.flatMap(({ link: url }) => [new URL(url).search, new URL(url).pathname])).not.toContain(link);
});
