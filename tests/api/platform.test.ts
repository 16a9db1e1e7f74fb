import { request as rawRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tableGroups } from '../../api/readiness/table-groups.js';
import { RetryableError } from '../../infra/errors.js';
import { hashKey, newRawKey } from '../../schemas/api-keys.js';
import { type ApiHarness, startApi } from '../support/api.js';

/** 2027-05-22T15:40:00Z. */
const NOW = Date.UTC(2027, 4, 22, 15, 40);
const CANDLES = '/v1/crypto/candles?symbol=BTC';

let api: ApiHarness;

beforeAll(async () => {
  api = await startApi({ nowMs: NOW, trustedProxies: ['127.0.0.1'] });
});
afterAll(() => api.stop());

const responseOf = async (path: string, key: string | null = null, headers: Record<string, string> = {}) => {
  const { status, body } = await api.get(path, key, headers);
  return { status, body };
};

describe('API keys', () => {
  const V1_MISSING = {
    status: 401,
    body: { error: 'Missing or invalid API key. Use x-api-key header or ?key= param.' },
  };

  it('requires a key and distinguishes malformed from unknown ones', async () => {
    expect(await responseOf(CANDLES)).toEqual(V1_MISSING);
    expect(await responseOf(CANDLES, 'nonsense')).toEqual(V1_MISSING);
    expect(await responseOf(CANDLES, `odds_live_${'A'.repeat(32)}`)).toEqual(V1_MISSING);
    expect(await responseOf(CANDLES, newRawKey())).toEqual({
      status: 403,
      body: { error: 'Invalid or inactive API key.' },
    });
    expect(await responseOf('/v3/trades')).toEqual({
      status: 401,
      body: { error: 'missing or invalid API key: use the x-api-key header, Authorization: Bearer or ?key=' },
    });
    expect(await responseOf('/v3/trades', newRawKey())).toEqual({
      status: 403,
      body: { error: 'invalid or inactive API key' },
    });
  });

  it('reads the key from header, bearer token or query, the first present one', async () => {
    const key = await api.key('free');
    const other = newRawKey();
    const status = async (path: string, headers: Record<string, string>) => (await api.get(path, null, headers)).status;
    expect(await status(CANDLES, { 'x-api-key': key })).toBe(200);
    expect(await status(CANDLES, { authorization: `Bearer ${key}` })).toBe(200);
    expect(await status(CANDLES, { authorization: `bearer ${key}` })).toBe(200);
    expect(await status(`${CANDLES}&key=${key}`, {})).toBe(200);
    expect(await status(`${CANDLES}&key=${key}`, { authorization: 'Basic dTpw' })).toBe(200);
    expect(await status(`${CANDLES}&key=${key}`, { 'x-api-key': other })).toBe(403);
    expect(await status(`${CANDLES}&key=${key}`, { authorization: `Bearer ${other}` })).toBe(403);
    expect(await status(CANDLES, { 'x-api-key': key, authorization: `Bearer ${other}` })).toBe(200);
    expect(await status(`${CANDLES}&key=${key}`, { 'x-api-key': '' })).toBe(401);
    expect(await status(`${CANDLES}&key=${key}`, { authorization: 'Bearer' })).toBe(401);
    expect(await status(`${CANDLES}&key=${key}&key=${key}`, {})).toBe(401);
  });

  it('rejects a key once its revocation is in the account state', async () => {
    const key = await api.key('starter');
    const sibling = await api.siblingKey(key);
    expect((await api.get(CANDLES, key)).status).toBe(200);
    const accountId = api.metered.at(-1)?.caller.accountId ?? '';
    await api.send({ 'oddstream.RevokeKey': { account_id: accountId, key_hash: hashKey(key) } });
    expect(await responseOf(CANDLES, key)).toEqual({ status: 403, body: { error: 'Invalid or inactive API key.' } });
    expect((await api.get(CANDLES, sibling)).status).toBe(200);
  });

  it('returns 402 with tier and upgrade_url on /v3 for the free plan', async () => {
    const key = await api.key('free');
    const reply = await api.get('/v3/trades', key);
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 402,
      body: { error: 'paid plan required', tier: 'free', upgrade_url: 'http://api.test/docs#plans' },
    });
    expect(reply.headers.get('x-ratelimit-limit')).toBe('60');
    for (const plan of ['starter', 'growth', 'enterprise'] as const) {
      expect((await api.get('/v3/trades', await api.key(plan))).status).toBe(200);
    }
  });
});

describe('rate limits', () => {
  const rate = (headers: Headers) =>
    ['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`x-ratelimit-${name}`)));

  it('count a sliding minute per account over all its keys, with Retry-After', async () => {
    api.clock.nowMs = NOW + 250;
    const key = await api.key('free');
    expect(rate((await api.get(CANDLES, key)).headers)).toEqual([60, 59, NOW / 1000 + 61]);
    api.clock.nowMs = NOW + 10_000;
    for (let n = 0; n < 59; n += 1) await api.get(CANDLES, key);
    const limited = await api.get(CANDLES, key);
    expect({ status: limited.status, body: limited.body }).toEqual({
      status: 429,
      body: { error: `Rate limit exceeded. Retry after ${NOW / 1000 + 61}.`, reset_at: NOW / 1000 + 61 },
    });
    expect(rate(limited.headers)).toEqual([60, 0, NOW / 1000 + 61]);
    expect(limited.headers.get('retry-after')).toBe('51');
    // The oldest request leaves the window and frees capacity; rejected requests are not counted.
    api.clock.nowMs = NOW + 60_249;
    expect((await api.get(CANDLES, key)).status).toBe(429);
    api.clock.nowMs = NOW + 60_250;
    expect((await api.get(CANDLES, key)).status).toBe(200);
    expect((await api.get(CANDLES, key)).status).toBe(429);
    // Other accounts are not affected.
    expect((await api.get(CANDLES, await api.key('free'))).status).toBe(200);
    api.clock.nowMs = NOW;
  });

  it('set headers on every authenticated response, also on 400 and 404, not on 405', async () => {
    const key = await api.key('starter');
    const sibling = await api.siblingKey(key);
    expect(rate((await api.get('/v1/crypto/candles', key)).headers).slice(0, 2)).toEqual([1000, 999]);
    expect(rate((await api.get('/v1/event/none', sibling)).headers).slice(0, 2)).toEqual([1000, 998]);
    expect((await api.request('/v1/crypto/candles', { method: 'DELETE' })).headers.get('x-ratelimit-limit')).toBeNull();
  });

  it('count heavy paths in both buckets and report the lower remaining count', async () => {
    const key = await api.key('growth');
    expect(rate((await api.get('/v3/trades', key)).headers).slice(0, 2)).toEqual([1500, 1499]);
    expect(rate((await api.get(CANDLES, key)).headers).slice(0, 2)).toEqual([2000, 1998]);
    for (let sent = 0; sent < 600; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => api.get(CANDLES, key)));
    }
    // 2000 - 602 - this one = 1397 standard, 1500 - 2 = 1498 heavy.
    expect(rate((await api.get('/v3/trades', key)).headers).slice(0, 2)).toEqual([2000, 1397]);
  });

  it('name the heavy bucket if it is full', async () => {
    const key = await api.key('enterprise');
    // Rejected by validation, but counted in both buckets.
    for (let sent = 0; sent < 1500; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, () => api.get('/v3/trades?side=x', key)));
    }
    const limited = await api.get('/v3/trades', key);
    expect({ status: limited.status, body: limited.body }).toEqual({
      status: 429,
      body: { error: 'rate limit exceeded', reset_at: NOW / 1000 + 60, scope: 'v3_heavy' },
    });
    expect(rate(limited.headers)).toEqual([1500, 0, NOW / 1000 + 60]);
    expect(limited.headers.get('retry-after')).toBe('60');
    expect(rate((await api.get(CANDLES, key)).headers)).toEqual([4000, 2499, NOW / 1000 + 60]);
  });

  it('give a 429 of a limit per key the headers of that limit, not of the account', async () => {
    const key = await api.key('starter');
    const path = `/v2/copy-pnl/0x${'a1'.repeat(20)}`;
    const first = await api.get(path, key);
    expect([first.status, ...rate(first.headers)]).toEqual([200, 1000, 999, NOW / 1000 + 60]);
    api.clock.nowMs = NOW + 1_200;
    // One request per 5 s.
    const limited = await api.get(path, key);
    expect([limited.status, ...rate(limited.headers)]).toEqual([429, 1, 0, NOW / 1000 + 5]);
    expect(limited.body).toMatchObject({ reset_at: NOW / 1000 + 5, retryAfterMs: 3_800 });
    expect(limited.headers.get('retry-after')).toBe('4');
    api.clock.nowMs = NOW + 5_000;
    const next = await api.get(path, key);
    expect([next.status, ...rate(next.headers)]).toEqual([200, 1000, 997, NOW / 1000 + 60]);
    api.clock.nowMs = NOW;
  });

  it('report each completed authenticated request to metering once', async () => {
    const key = await api.key('free');
    const from = api.metered.length;
    await api.get(CANDLES, key);
    await api.get('/v1/crypto/candles', key);
    await api.get('/v3/trades', key);
    await api.get(CANDLES, newRawKey());
    await api.get('/healthz');
    await expect.poll(() => api.metered.length - from).toBe(3);
    expect(api.metered.slice(from).map(({ route, status, billable }) => [route, status, billable])).toEqual([
      ['/v1/crypto/candles', 200, true],
      ['/v1/crypto/candles', 400, true],
      ['/v3/trades', 402, false],
    ]);
  });
});

describe('POST /v1/keys', () => {
  const post = (
    body: string | null,
    ip: string,
    headers: Record<string, string> = { 'content-type': 'application/json' },
  ) => api.request('/v1/keys', { method: 'POST', body, headers: { ...headers, 'x-forwarded-for': ip } });

  it('creates a free key that is valid at once, one per address and UTC day', async () => {
    const created = await post('{"name":"desk-bot"}', '203.0.113.7');
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      api_key: expect.stringMatching(/^odds_live_[0-9a-f]{32}$/),
      name: 'desk-bot',
      rate_limit_per_minute: 60,
      message: 'Store this key securely — it cannot be retrieved again.',
    });
    expect((await api.get(CANDLES, (created.body as { api_key: string }).api_key)).status).toBe(200);
    const again = await post('{}', '203.0.113.7');
    expect({ status: again.status, body: again.body }).toEqual({
      status: 429,
      body: { error: 'Too many key generation requests. Max 1 per day.', reset_at: Date.UTC(2027, 4, 23) / 1000 },
    });
    expect(again.headers.get('retry-after')).toBe(String((Date.UTC(2027, 4, 23) - NOW) / 1000));
    // Raw keys and addresses never enter the log.
    const logged = api.log.all('accounts.commands').map((record) => record.value?.toString('latin1') ?? '');
    expect(logged.some((text) => text.includes((created.body as { api_key: string }).api_key))).toBe(false);
    expect(logged.some((text) => text.includes('203.0.113.7'))).toBe(false);
  });

  it('accepts exactly one of many concurrent requests, and one more the next day', async () => {
    const all = await Promise.all(Array.from({ length: 8 }, () => post('{}', '203.0.113.8')));
    expect(all.map((reply) => reply.status).sort()).toEqual([201, 429, 429, 429, 429, 429, 429, 429]);
    api.clock.nowMs = NOW + 86_400_000;
    expect((await post('{}', '203.0.113.8')).status).toBe(201);
    api.clock.nowMs = NOW;
  });

  it('counts an IPv6 network as one client', async () => {
    expect((await post(null, '2001:db8:1:2::1')).status).toBe(201);
    expect((await post(null, '2001:db8:1:2:ffff::9')).status).toBe(429);
    expect((await post(null, '2001:db8:1:3::1')).status).toBe(201);
  });

  it.each<[string, string | null, number, unknown]>([
    ['198.51.100.1', null, 201, 'unnamed'],
    ['198.51.100.2', '{"name":null}', 201, 'unnamed'],
    ['198.51.100.3', '{"name":"  "}', 201, 'unnamed'],
    ['198.51.100.4', '{"name":"日本 🗝"}', 201, '日本 🗝'],
    ['198.51.100.5', '{"name":5}', 400, 'Invalid name. Use a string.'],
    ['198.51.100.5', `{"name":"${'x'.repeat(101)}"}`, 400, 'Invalid name. Max 100 characters.'],
    ['198.51.100.5', '{"name":"a\\u0000b"}', 400, 'Invalid name. Control characters are not allowed.'],
    ['198.51.100.5', '{"name":', 400, 'Request body is not valid JSON.'],
    ['198.51.100.5', '[]', 400, 'Request body must be a JSON object.'],
    ['198.51.100.5', '"x"', 400, 'Request body is not valid JSON.'],
    ['198.51.100.5', JSON.stringify({ name: 'y'.repeat(20_000) }), 413, 'Request body too large. Max 16384 bytes.'],
  ])('from %s responds to body %#', async (ip, body, status, text) => {
    const reply = await post(body, ip);
    expect(reply.status).toBe(status);
    expect((reply.body as { name?: string; error?: string })[status === 201 ? 'name' : 'error']).toBe(text);
  });

  it.each(['gzip', 'deflate', 'br', 'zstd', 'nonsense'])(
    'returns 400 for a body that is not valid %s',
    async (encoding) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      const reply = await post('{"name":"plain"}', '198.51.100.5', headers);
      expect([reply.status, reply.body]).toEqual([400, { error: 'Request body cannot be read.' }]);
    },
  );

  it.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ;charset=utf-8'])(
    'accepts a body of %s',
    async (type) => {
      const reply = await post('{"name":5}', '198.51.100.9', { 'content-type': type });
      expect([reply.status, reply.body]).toEqual([400, { error: 'Invalid name. Use a string.' }]);
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonx', ''])(
    'returns 415 for a body of type "%s" and creates no key',
    async (type) => {
      const before = api.log.all('accounts.commands').length;
      const reply = await post('{"name":"curl"}', '198.51.100.9', { 'content-type': type });
      expect([reply.status, reply.body]).toEqual([
        415,
        { error: "Unsupported content type. Send 'application/json' in the Content-Type header." },
      ]);
      expect(api.log.all('accounts.commands')).toHaveLength(before);
    },
  );
});

/** fetch sets Host and Sec-Fetch-* itself. */
const rawResponse = (options: { path: string; method?: string; headers: Record<string, string>; body?: string }) =>
  new Promise<{ status: number | undefined; body: string; headers: Record<string, unknown> }>((resolve, reject) => {
    const { hostname, port } = new URL(api.url);
    const { body: sent, ...rest } = options;
    rawRequest({ hostname, port, ...rest }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode, body, headers: response.headers }));
    })
      .on('error', reject)
      .end(sent);
  });

describe('requests by web pages', () => {
  const FOREIGN = { error: 'Requests of web pages from another origin are not allowed here.' };

  it('under an unknown host name are rejected, with or without a key', async () => {
    const key = await api.key('enterprise');
    for (const path of ['/', '/docs', '/openapi.json', '/healthz', '/v1/status', '/v3/trades', '/nothing']) {
      const headers = { host: 'attacker.example:8080', 'sec-fetch-site': 'same-origin', 'x-api-key': key };
      const { status, body, headers: given } = await rawResponse({ path, headers });
      expect([path, status, JSON.parse(body), given['access-control-allow-origin']]).toEqual([
        path,
        403,
        {
          error: "Host 'attacker.example' is not served here. Add it to ALLOWED_HOSTS if it is a name of this server.",
        },
        undefined,
      ]);
    }
  });

  it.each(['localhost:8080', 'app.localhost', '127.0.0.1', '192.0.2.7:80', '[::1]:8080', 'api.test', 'API.test.:443'])(
    'with host %s are accepted',
    async (host) => {
      expect((await rawResponse({ path: '/healthz', headers: { host } })).status).toBe(200);
    },
  );

  it.each<[string, Record<string, string>, unknown]>([
    ['a page of another site', { origin: 'https://page.example' }, FOREIGN],
    ['a sandboxed page', { origin: 'null' }, FOREIGN],
    ['a page of another port of this machine', { origin: 'http://localhost:3000' }, FOREIGN],
    [
      'a browser that says the site only',
      { 'sec-fetch-site': 'cross-site' },
      { error: 'Requests of web pages from another site are not allowed here.' },
    ],
  ])('cannot create a key: %s', async (_who, headers, error) => {
    const before = api.log.all('accounts.commands').length;
    const valid = { host: 'localhost:8080', 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.60' };
    const sent = { path: '/v1/keys', method: 'POST', body: '{}' };
    const reply = await rawResponse({ ...sent, headers: { ...valid, ...headers } });
    expect([reply.status, JSON.parse(reply.body)]).toEqual([403, error]);
    expect(api.log.all('accounts.commands')).toHaveLength(before);
  });

  it("of the server's origin create keys, also behind a proxy that rewrites Host", async () => {
    const post = (host: string, origin: string, ip: string) => {
      const headers = { host, origin, 'content-type': 'application/json', 'x-forwarded-for': ip };
      return rawResponse({ path: '/v1/keys', method: 'POST', body: '{}', headers });
    };
    expect((await post('localhost:8080', 'http://localhost:8080', '198.51.100.61')).status).toBe(201);
    expect((await post('10.0.0.9:8080', 'http://api.test', '198.51.100.62')).status).toBe(201);
  });

  it('of other origins may link to pages, but not load or read them', async () => {
    const page = (headers: Record<string, string>) =>
      rawResponse({ path: '/app', headers: { host: 'localhost:8080', ...headers } });
    const cross = { 'sec-fetch-site': 'cross-site' };
    expect((await page({ ...cross, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' })).status).toBe(200);
    expect((await page({ ...cross, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' })).status).toBe(403);
    expect((await page({ ...cross, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' })).status).toBe(403);
    expect((await page({ origin: 'https://page.example' })).status).toBe(403);
    const sameOrigin = await page({ 'sec-fetch-site': 'same-origin' });
    expect([sameOrigin.status, sameOrigin.headers['access-control-allow-origin']]).toEqual([200, undefined]);
  });

  it('of other origins may read the API with a key, and its documents', async () => {
    const headers = {
      host: 'localhost:8080',
      origin: 'https://page.example',
      'sec-fetch-site': 'cross-site',
      'x-api-key': await api.key('enterprise'),
    };
    for (const path of ['/v3/trades', '/openapi.json', '/asyncapi.json', '/healthz']) {
      const reply = await rawResponse({ path, headers });
      expect([path, reply.status, reply.headers['access-control-allow-origin']]).toEqual([path, 200, '*']);
    }
  });
});

describe('/healthz, /readyz and /v1/status', () => {
  it('/healthz returns ok', async () => {
    const reply = await api.get('/healthz');
    expect([reply.status, reply.body, reply.headers.get('content-type')]).toEqual([
      200,
      'ok',
      'text/plain; charset=utf-8',
    ]);
  });

  it('/readyz is 200 if source, log and tables are reachable, otherwise names the unreachable ones', async () => {
    const base = {
      node_connected: true,
      redis_connected: true,
      log_connected: true,
      tables_connected: true,
      history_loaded: true,
      tables: tableGroups.map((table) => expect.objectContaining({ table, state: 'loaded', percent: 100 })),
    };
    expect(await responseOf('/readyz')).toEqual({
      status: 503,
      body: { ...base, node_connected: false, error: 'chain source not started' },
    });
    await api.reportSource({ connected: false });
    expect(await responseOf('/readyz')).toMatchObject({ status: 503, body: { error: 'chain source disconnected' } });
    await api.reportSource({ connected: true });
    expect(await responseOf('/readyz')).toEqual({ status: 200, body: base });
    api.faults.reachable = false;
    expect(await responseOf('/readyz')).toEqual({
      status: 503,
      body: { ...base, redis_connected: false, tables_connected: false, error: 'tables unreachable' },
    });
    api.faults.reachable = true;
    api.clock.nowMs = NOW + 20_001;
    expect(await responseOf('/readyz')).toMatchObject({
      status: 503,
      body: { node_connected: false, error: 'chain source silent' },
    });
    api.clock.nowMs = NOW;
  });

  it('/v1/status reports the progress per source, and that the data is recorded and shifted', async () => {
    const key = await api.key('free');
    await api.reportSource({ recorded_from_ms: Date.UTC(2027, 3, 12), pending: 3 });
    await api.reportSource({ source: 'catalog', head: null, finalized: null, last_event_ms: NOW - 7500 });
    await api.reportGateway('one', { connections: 7, firehoses: 4 });
    await api.reportGateway('two', { connections: 5, firehoses: 0 });
    await api.reportSource({ source: 'oracle', head: null, finalized: null, last_event_ms: null, progress: null });
    expect((await responseOf('/v1/status')).status).toBe(401);
    const { status, body } = await api.get('/v1/status', key);
    expect(status).toBe(200);
    const fresh = { stale: null, stale_since: null, reread: null, gap: null };
    expect(body).toEqual({
      node_connected: true,
      order_books: null,
      tables_connected: true,
      uptime_seconds: 0,
      stream_length: 0,
      events_stream_length: 0,
      stream_epoch: null,
      stream: null,
      pending_txs: 3,
      ws_subscribers: 12,
      firehose_connections: 4,
      redis_memory: 'none',
      state: {
        market_count: 0,
        wallet_count: 0,
        metadata_count: 0,
        events_buffered: 0,
        events_processed: 0,
        latest_block: 0,
      },
      metadata_observability: {
        connected: true,
        last_event_age_seconds: 7.5,
        traded_tokens: 0,
        described_tokens: 0,
        ws_settlement_missing_full: 0,
        ws_settlement_missing_title: 0,
        ws_status_missing_full: 0,
        ws_status_missing_title: 0,
        hydration_queued: 0,
        hydration_retries: 0,
        hydration_failures: 0,
        gamma_hydration_success: 0,
        gamma_hydration_no_markets: 0,
        gamma_hydration_unusable: 0,
        gamma_hydration_request_errors: 0,
        gamma_hydration_status_errors: 0,
        gamma_hydration_parse_errors: 0,
      },
      history: { complete_from_block: null, complete_from: null },
      raw_history: { from_block: null, from: null },
      alarms: [],
      mode: 'recorded',
      notice:
        'Recorded data, not live (catalog, chain, oracle). The history keeps its true times; the recorded day is replayed as live tail, shifted in time (catalog by 40 days, chain by 40 days, oracle by 40 days).',
      sources: [
        expect.objectContaining({ source: 'catalog', connected: true }),
        {
          source: 'chain',
          mode: 'recorded',
          phase: 'live',
          progress: 1,
          connected: true,
          health: 'connected',
          detail: 'playing',
          head: 110,
          finalized: 100,
          lag: 10,
          last_event_age_seconds: 1.5,
          last_event_at: new Date(NOW - 1500).toISOString().replace('.000Z', 'Z'),
          ...fresh,
          shift_days: 40,
          recorded_from: '2027-04-12T00:00:00Z',
        },
        {
          source: 'oracle',
          mode: 'recorded',
          phase: 'live',
          progress: null,
          connected: true,
          health: 'connected',
          detail: 'playing',
          head: null,
          finalized: null,
          lag: null,
          last_event_age_seconds: null,
          last_event_at: null,
          ...fresh,
          shift_days: 40,
          recorded_from: null,
        },
      ],
      tables: tableGroups.map((table) => ({
        table,
        state: 'loaded',
        position: 1,
        target: 1,
        percent: 100,
        complete_through_block: null,
        complete_through: null,
        lag_seconds: 0,
      })),
    });
  });

  it('/v1/status/public returns sources without their details, tables, alarms and versions without a key', async () => {
    await api.reportSource({ recorded_from_ms: Date.UTC(2027, 3, 12), detail: 'reading http://10.1.2.3/secret' });
    const { status, body } = await responseOf('/v1/status/public');
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toMatch(/10\.1\.2\.3|detail|subscribers/);
    expect(body).toMatchObject({
      checked_at: new Date(NOW).toISOString(),
      versions: { product: expect.stringMatching(/^\d+\.\d+\.\d+/), api: '1.0.0' },
      tables_connected: true,
      mode: 'recorded',
      alarms: [],
      sources: expect.arrayContaining([
        expect.objectContaining({ source: 'chain', lag: 10, last_event_age_seconds: 1.5, stale: null }),
      ]),
      tables: tableGroups.map((table) => expect.objectContaining({ table, state: 'loaded', lag_seconds: 0 })),
    });
    api.clock.nowMs = NOW + 80_000;
    api.faults.tables = new RetryableError('down');
    expect(await responseOf('/v1/status/public')).toMatchObject({
      status: 200,
      body: { tables_connected: false, alarms: null },
    });
    api.faults.tables = null;
    api.clock.nowMs = NOW;
  });

  it('/v1/status responds while the tables are unreachable', async () => {
    const key = await api.key('free');
    api.clock.nowMs = NOW + 40_000;
    api.faults.tables = new RetryableError('down');
    expect(await responseOf('/v1/status', key)).toMatchObject({
      status: 200,
      body: { tables_connected: false, state: { market_count: null, latest_block: null } },
    });
    api.faults.tables = null;
    api.clock.nowMs = NOW;
  });
});

describe('error responses', () => {
  it('are 503 with Retry-After while the tables are unreachable, 500 for a bug, in the format of the API group', async () => {
    const key = await api.key('enterprise');
    api.faults.tables = new RetryableError('connection refused to 10.1.2.3');
    const unavailable = await api.get('/v3/trades', key);
    expect([unavailable.status, unavailable.body, unavailable.headers.get('retry-after')]).toEqual([
      503,
      { error: 'temporarily unavailable, retry shortly' },
      '2',
    ]);
    expect(await responseOf('/v1/event/some', key)).toEqual({
      status: 503,
      body: { error: 'Service temporarily unavailable. Retry shortly.' },
    });
    api.faults.tables = new Error('SELECT secret FROM somewhere');
    expect(await responseOf('/v3/trades', key)).toEqual({ status: 500, body: { error: 'internal error' } });
    expect(await responseOf('/v1/event/some', key)).toEqual({ status: 500, body: { error: 'Internal server error.' } });
    api.faults.tables = null;
    await expect
      .poll(() => api.metered.slice(-4).map((request) => request.billable))
      .toEqual([false, false, false, false]);
    expect((await api.get('/v1/event/some', key)).status).toBe(404);
  });

  it.each([
    ['/nothing', 404, { error: 'Not found.' }],
    ['/v1/nothing', 404, { error: 'Not found.' }],
    ['/v3/nothing', 404, { error: 'Not found.' }],
    ['/v1/crypto/CANDLES', 404, { error: 'Not found.' }],
    ['/v1/event/%zz', 400, { error: 'Malformed percent-encoding in the path.' }],
    ['/v1/event/%E0%A4%A', 400, { error: 'Malformed percent-encoding in the path.' }],
    ['/v1/event/', 404, { error: 'Not found.' }],
    ['/docs/../package.json', 404, { error: 'Not found.' }],
    ['/docs/%2e%2e%2fpackage.json', 404, { error: 'Not found.' }],
  ])('%s returns %i as JSON', async (path, status, body) => {
    // fetch would normalize the path.
    const reply = await new Promise<{
      status: number | undefined;
      text: string;
      type: string | undefined;
      id: unknown;
    }>((resolve, reject) => {
      const { hostname, port } = new URL(api.url);
      rawRequest({ hostname, port, path }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => {
          text += chunk.toString();
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode,
            text,
            type: response.headers['content-type'],
            id: response.headers['x-request-id'],
          }),
        );
      })
        .on('error', reject)
        .end();
    });
    expect({ status: reply.status, body: JSON.parse(reply.text) }).toEqual({ status, body });
    expect(reply.type).toBe('application/json; charset=utf-8');
    expect(reply.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('are 405 with Allow for another method on a known path', async () => {
    const reply = await api.request('/v1/crypto/candles', { method: 'POST' });
    expect([reply.status, reply.body, reply.headers.get('allow')]).toEqual([
      405,
      { error: 'Method not allowed. Use GET or HEAD.' },
      'GET, HEAD',
    ]);
    const keys = await api.request('/v1/keys', { method: 'GET' });
    expect([keys.status, keys.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('are 4xx for very long and malformed queries', async () => {
    const key = await api.key('starter');
    for (const query of [
      'symbol=%zz',
      'symbol=%E0%A4%A',
      'symbol[]=BTC',
      'symbol=%00',
      `symbol=${'A'.repeat(8000)}`,
      '__proto__=1&symbol=x',
      'constructor=1',
    ]) {
      expect((await api.get(`/v1/crypto/candles?${query}`, key)).status).toBe(400);
    }
  });
});

describe('response headers', () => {
  it('contain a request id, the caller’s if it is valid, and no server name', async () => {
    const reply = await api.get('/healthz', null, { 'x-request-id': 'trace-1.a_B' });
    expect(reply.headers.get('x-request-id')).toBe('trace-1.a_B');
    expect(reply.headers.get('x-powered-by')).toBeNull();
    expect(reply.headers.get('server')).toBeNull();
    const odd = await api.get('/healthz', null, { 'x-request-id': 'a b;c' });
    expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('allow pages of any origin to read, and only to read', async () => {
    const get = await api.get('/healthz', null, { origin: 'https://page.example' });
    expect(get.headers.get('access-control-allow-origin')).toBe('*');
    expect(get.headers.get('access-control-expose-headers')).toContain('x-ratelimit-remaining');
    const preflight = await api.request('/v3/trades', {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example' },
    });
    expect([
      preflight.status,
      preflight.headers.get('access-control-allow-methods'),
      preflight.headers.get('access-control-allow-headers'),
    ]).toEqual([204, 'GET, HEAD', 'x-api-key, authorization, content-type, x-request-id']);
    const created = await api.request('/v1/keys', {
      method: 'POST',
      headers: { origin: 'https://page.example', 'x-forwarded-for': '192.0.2.44' },
    });
    expect(created.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('are the same for HEAD as for GET', async () => {
    const reply = await api.request('/v1/crypto/series', {
      method: 'HEAD',
      headers: { 'x-api-key': await api.key('free') },
    });
    expect([reply.status, reply.body, reply.headers.get('x-ratelimit-limit')]).toEqual([200, '', '60']);
  });
});

describe('pages', () => {
  it('/openapi.json documents every route, and each example matches its schema', async () => {
    const { body } = await api.get('/openapi.json');
    const document = body as {
      openapi: string;
      paths: Record<
        string,
        Record<
          string,
          {
            responses: Record<string, unknown>;
            security: unknown[];
            parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
          }
        >
      >;
    };
    expect(document.openapi).toBe('3.1.0');
    expect(
      Object.entries(document.paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
        .sort(),
    ).toEqual(api.service.routes.map((route) => `${route.method} ${route.path}`).sort());
    const trades = document.paths['/v3/trades']?.get;
    expect(Object.keys(trades?.responses ?? {})).toEqual(['200', '400', '401', '402', '403', '429', '500', '503']);
    expect(trades?.security).toHaveLength(3);
    // Requests without a key are limited by address, bodies by size, and other origins may not read what a session reads.
    for (const route of api.service.routes) {
      const { responses } = document.paths[route.path]?.[route.method] ?? { responses: {} };
      expect(Object.keys(responses), `${route.method} ${route.path}`).toEqual(
        expect.arrayContaining([
          '429',
          ...(route.body === null && route.rawBody !== true ? [] : ['413']),
          ...(route.auth === 'session' ? ['403'] : []),
        ]),
      );
    }
    expect(document.paths['/healthz']?.get?.responses['429']).toMatchObject({
      description: 'Too many requests of this client address.',
      headers: { 'retry-after': {} },
    });
    expect(trades?.parameters.map((parameter) => parameter.name)).toEqual([
      'after',
      'before',
      'order',
      'limit',
      'offset',
      'cursor',
      'token_id',
      'condition_id',
      'market_slug',
      'event_slug',
      'event_id',
      'order_hash',
      'min_amount_usd',
      'min_amount',
      'builder',
      'side',
      'sort_by',
      'group_by',
      'matches_only',
      ...['start', 'start_time', 'end', 'end_time', 'market', 'slug'],
    ]);
    expect(trades?.parameters.find((parameter) => parameter.name === 'limit')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer' },
    });
    expect(
      document.paths['/v1/crypto/ticks']?.get?.parameters.map((parameter) => [parameter.name, parameter.required]),
    ).toEqual([
      ['symbol', true],
      ['from', true],
      ['to', true],
      ['limit', false],
    ]);
    expect(document.paths['/v1/event/{slug}']?.get?.parameters).toMatchObject([
      { name: 'slug', in: 'path', required: true },
    ]);
    for (const route of api.service.routes) {
      for (const spec of [route.success, ...Object.values(route.otherResponses ?? {})]) {
        expect(spec.schema.parse(spec.example), route.path).toEqual(spec.example);
      }
    }
  });

  it('/docs and its assets load from this server only', async () => {
    const docs = await api.get('/docs');
    expect(docs.status).toBe(200);
    expect(docs.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const text = String(docs.body);
    expect(text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
    const assets = [...text.matchAll(/(?:src|href)="((?:\/v\/[\w-]+)?\/docs\/[^"#]+)"/g)].map(
      (match) => match[1] ?? '',
    );
    expect(assets.map((asset) => asset.replace(/^\/v\/[\w-]+/, ''))).toEqual(
      expect.arrayContaining([
        ...[
          '/docs/swagger-ui.css',
          '/docs/docs.css',
          '/docs/swagger-ui-bundle.js',
          '/docs/reference.js',
          '/docs/search.js',
        ],
        ...['/docs/sql', '/docs/socket', '/docs/reference.md'],
      ]),
    );
    for (const asset of assets) expect((await api.get(asset)).status, asset).toBe(200);
    expect(docs.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it.each([
    '/',
    '/docs',
    '/docs/sql',
    '/app',
    '/app/market/1',
    '/app/copy',
    '/console',
    '/sql',
    '/status',
    '/dashboard',
  ])('%s names the version of each of its scripts and style sheets, which browsers keep', async (page) => {
    const found = new Set<string>();
    const follow = async (path: string): Promise<void> => {
      if (found.has(path)) return;
      found.add(path);
      const { status, headers, body } = await api.get(path);
      expect([path, status]).toEqual([path, 200]);
      const isPackage = !path.startsWith('/v/');
      expect([path, headers.get('cache-control')]).toEqual([
        path,
        `public, max-age=${isPackage ? 86_400 : 31_536_000}`,
      ]);
      if (isPackage) return;
      for (const [, specifier = ''] of String(body).matchAll(/(?:from|import|import\()\s*'((?:\.\/|\/)[^']+)'/g))
        await follow(new URL(specifier, `http://host${path}`).pathname);
    };
    const { headers, body } = await api.get(page, null, { accept: 'text/html' });
    expect(headers.get('cache-control')).toBe('no-cache');
    for (const [, path = ''] of String(body).matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)) await follow(path);
    expect(found.size).toBeGreaterThan(1);
    const [versioned = ''] = [...found].filter((path) => path.startsWith('/v/'));
    for (const path of [versioned.replace(/^\/v\/[\w-]+/, ''), versioned.replace(/^\/v\/[\w-]+/, '/v/other')])
      expect([path, (await api.get(path)).headers.get('cache-control')]).toEqual([path, 'no-cache']);
  });

  it.each([[{ 'if-match': '"other"' }, 412, 'The file does not meet the If-Match or If-Unmodified-Since header.']])(
    'an unmet precondition returns its status: %j',
    async (headers, status, error) => {
      for (const path of ['/console/main.js', '/app/assets/api.js', '/docs/swagger-ui.css']) {
        const reply = await api.get(path, null, headers as Record<string, string>);
        expect([path, reply.status, reply.body]).toEqual([path, status, { error }]);
      }
    },
  );

  it('/favicon.ico returns the icon', async () => {
    const icon = await api.get('/favicon.ico');
    expect(icon.status).toBe(200);
    expect(icon.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
  });

  it('/ returns HTML to browsers and JSON to programs', async () => {
    expect((await api.get('/', null, { accept: 'text/html' })).body).toContain('/docs');
    expect((await api.get('/')).body).toMatchObject({ docs: '/docs', status: '/v1/status' });
  });
});
