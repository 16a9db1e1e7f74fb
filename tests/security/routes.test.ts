import uws from 'uWebSockets.js';
import { readdirSync, readFileSync } from 'node:fs';
import { request as rawRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createStripeProvider } from '../../api/billing/stripe.js';
import { createTestProvider } from '../../api/billing/test-provider.js';
import { loadConfig } from '../../infra/config/config.js';
import { adminPaths, startAdminServer } from '../../infra/telemetry/admin-server.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { servicesOf } from '../../infra/up/supervisor.js';
import { newRawKey } from '../../schemas/api-keys.js';
import { startTestGateway } from '../../stream-gateway/testing.js';
import { type ApiHarness, startApi } from '../support/api.js';
import { documentedPorts, openRouteOf, openRoutes } from './documented.js';

const root = join(import.meta.dirname, '../..');
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

interface RawResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A request with the given headers only; the path is sent as it is. */
const send = (port: number, method: string, path: string, headers: Record<string, string> = {}) =>
  new Promise<RawResponse>((resolve, reject) => {
    const request = rawRequest({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => {
        body += chunk.toString();
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', body }),
      );
    });
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve({ status: 101, type: '', body: '' });
    });
    request.on('error', reject);
    request.end();
  });

describe('ports', () => {
  it('of every process of the product are in docs/SECURITY.md, and no other', () => {
    const config = loadConfig({});
    const opened = servicesOf(config, 'dist').flatMap(({ name, adminPort, ports }) => [
      ...ports.map(({ port, variable }) => ({ setting: variable, port, process: name })),
      {
        setting: `ADMIN_PORT_${name === 'stream-gateway' ? 'GATEWAY' : name.toUpperCase()}`,
        port: adminPort,
        process: name,
      },
    ]);
    const byPort = (a: { port: number }, b: { port: number }) => a.port - b.port;
    expect([...documentedPorts].sort(byPort)).toEqual(opened.sort(byPort));
  });

  it('are opened by four servers, each covered by a test of this folder', () => {
    const listening = ['schemas', 'infra', 'ingest', 'processors', 'pages', 'api', 'stream-gateway'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
        .filter((entry) => !/\.(test|fixture|d)\.|^fake-/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .filter((file) => /\.listen\b|\bcreateServer\(|\bServer\(\{/.test(readFileSync(file, 'utf8')))
        .map((file) => file.slice(root.length + 1)),
    );
    expect(listening.sort()).toEqual([
      'api/http/server.ts',
      'infra/clickhouse/embedded/server.ts',
      'infra/http/bounded-server.ts',
      'infra/telemetry/admin-server.ts',
      // Checks an address: closed as soon as it is open.
      'infra/up/probe.ts',
      // Also for a second, random loopback port of the gateway's app, with the same routes.
      'stream-gateway/listen.ts',
    ]);
  });
});

/** Routes that only an API with test payments has. */
const TEST_PAYMENT = '/dashboard/test-payment';

/** Every route pattern of the app, with a path that matches it. */
const routesOf = (api: ApiHarness) => {
  const layers = api.service.app.router.stack;
  const paths = new Set(layers.flatMap((layer) => (layer.route === undefined ? [] : [layer.route.path])));
  return [...paths].map((path) => ({ path, target: path.replace(/:\w+/g, 'x') }));
};

/** Requests the routes with every method and without a key or session; returns how many are closed, and the documented ones among the open. */
async function walk(api: ApiHarness, routes = routesOf(api)) {
  const met = new Set<unknown>();
  const port = Number(new URL(api.url).port);
  let closed = 0;
  for (const { target } of routes) {
    for (const method of METHODS) {
      const open = openRouteOf('api', method, target);
      const { status, type } = await send(port, method, target);
      const what = `${method} ${target}`;
      if (open !== undefined) {
        met.add(open);
        // The request lacks the parameters; tests/api/overlap.test.ts covers the route with them.
        const needsParameters = api.service.routes.some((route) => route.path === target && route.auth === 'optional');
        const isRedirect = target.startsWith('/v1/auth/oidc/') && status === 303;
        expect((needsParameters && status === 400) || isRedirect ? 200 : status, what).toBeOneOf([200, 415, 503]);
        // A wildcard route serves files of pages only, never data.
        if (open.path.endsWith('*')) expect(type, what).toMatch(/^text\/(javascript|css)/);
        continue;
      }
      const known = api.service.routes.find(
        (route) =>
          route.path.replace(/\{\w+\}/g, 'x') === target &&
          route.method === (method === 'HEAD' ? 'get' : method.toLowerCase()),
      );
      // With another method a path may match another route (/v3/wallets/batch also matches {address}).
      expect(known === undefined ? [401, 404, 405] : [401], what).toContain(status);
      if (known === undefined) continue;
      closed += 1;
      expect((await send(port, method, target, { 'x-api-key': 'nonsense' })).status, what).toBe(401);
      expect([401, 403], what).toContain((await send(port, method, target, { 'x-api-key': newRawKey() })).status);
    }
  }
  return { closed, met };
}

describe('the api', () => {
  let api: ApiHarness;
  let port: number;
  beforeAll(async () => {
    // Its routes exist with a provider only.
    const provider = {
      start: async () => ({ url: 'http://provider.test/', attempt: { state: '', nonce: '', verifier: '' } }),
      finish: () => Promise.reject(new Error('no response of a provider here')),
    };
    const payments = createStripeProvider({
      secretKey: 'sk_test_of_this_test',
      webhookSecret: 'whsec_of_this_test',
      apiBase: 'http://127.0.0.1:9',
      publicUrl: 'http://api.test',
    });
    api = await startApi({ nowMs: Date.UTC(2027, 4, 22), provider, payments });
    port = Number(new URL(api.url).port);
  });
  afterAll(() => api.stop());

  const routed = () => routesOf(api);

  it('has only middleware that serves no data before and after its routes', () => {
    // Request ids, headers, host names, CORS, writes from other sites, requests without a key; then 404 and errors. A new one needs a review and a rule.
    expect(api.service.app.router.stack.filter((layer) => layer.route === undefined)).toHaveLength(8);
    const documented = Object.keys((api.service.openApi as { paths: object }).paths);
    expect(documented.length).toBeGreaterThan(50);
    const paths = new Set(routed().map(({ path }) => path.replace(/:(\w+)/g, '{$1}')));
    expect(documented.filter((path) => !paths.has(path))).toEqual([]);
  });

  it('requires a key on every route that docs/SECURITY.md does not list, with every method', async () => {
    const { closed, met } = await walk(api);
    expect(closed).toBeGreaterThan(100);
    // Every route in the document exists.
    const missing = openRoutes.filter((route) => route.port === 'api' && !met.has(route));
    expect(missing.filter(({ path }) => !path.startsWith(TEST_PAYMENT))).toEqual([]);
  });

  it('returns 403 on every route for an unknown host name, with every method, also with a key', async () => {
    const key = await api.key('enterprise');
    for (const { target } of routed())
      for (const method of METHODS) {
        const { status } = await send(port, method, target, { host: 'rebound.example:8080', 'x-api-key': key });
        expect([method, target, status]).toEqual([method, target, 403]);
      }
  });

  it('returns 403 on every route for writes from pages of other sites, and when they load pages or assets', async () => {
    const key = await api.key('enterprise');
    const foreign: readonly Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ];
    const own = { 'sec-fetch-site': 'same-origin' };
    let pages = 0;
    for (const { target } of routed()) {
      const { status, type } = await send(port, 'GET', target, own);
      const isPage = status === 200 && /^(text\/(html|javascript|css)|image)/.test(type);
      if (isPage) pages += 1;
      for (const headers of foreign) {
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
          const { status } = await send(port, method, target, { ...headers, 'x-api-key': key });
          expect([method, target, status]).toEqual([method, target, 403]);
        }
        if (isPage) expect([target, (await send(port, 'GET', target, headers)).status]).toEqual([target, 403]);
      }
    }
    // Start page, icon, reference, console, three pages of the app, and their files.
    expect(pages).toBeGreaterThan(20);
  });

  it('sends the headers that protect browsers with every response', async () => {
    for (const [path, headers] of CASES)
      expect([path, ...(await protection(api, path, headers))]).toEqual([path, 'nosniff', 'same-origin', null]);
  });

  it('accepts only JSON bodies on routes without a key', () => {
    const open = api.service.routes.filter((route) => route.auth === 'none' && route.body !== null);
    expect(open.map((route) => [route.path, route.jsonOnly])).toEqual(
      ['/v1/keys', '/v1/auth/sign-up', '/v1/auth/link', '/v1/auth/reset', '/v1/auth/sign-in', '/v1/auth/use-link'].map(
        (path) => [path, true],
      ),
    );
    const ofSessions = api.service.routes.filter((route) => route.auth === 'session' && route.body !== null);
    expect(ofSessions.length).toBeGreaterThan(4);
    expect(ofSessions.filter((route) => route.jsonOnly !== true).map((route) => route.path)).toEqual([]);
  });

  it('lists the same routes without a key in its OpenAPI document and in docs/SECURITY.md', () => {
    const { paths } = api.service.openApi as {
      paths: Record<string, Record<string, { security: readonly object[] }>>;
    };
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { security }] of Object.entries(methods))
        expect([method, path, security.length === 0 || security.some((one) => Object.keys(one).length === 0)]).toEqual([
          method,
          path,
          openRouteOf('api', method.toUpperCase(), path.replace(/\{\w+\}/g, 'x')) !== undefined,
        ]);
  });
});

/** Headers of a response that protect browsers. */
const protection = async (api: ApiHarness, path: string, headers: Record<string, string> = {}) => {
  const response = await api.request(path, { headers });
  return ['x-content-type-options', 'referrer-policy', 'strict-transport-security'].map((name) =>
    response.headers.get(name),
  );
};
const CASES: readonly (readonly [string, Record<string, string>?])[] = [
  ['/'],
  ['/dashboard'],
  ['/dashboard/assets/main.js'],
  ['/v1/account'],
  ['/v1/crypto/series'],
  ['/healthz'],
  ['/nothing'],
  ['/v1/account', { origin: 'https://evil.example' }],
];

describe('the api with test payments', () => {
  let api: ApiHarness;
  beforeAll(async () => {
    const payments = createTestProvider({ publicUrl: 'http://api.test' });
    api = await startApi({ nowMs: Date.UTC(2027, 4, 22), payments, baseUrl: 'https://api.test' });
  });
  afterAll(() => api.stop());

  it('sends the headers that protect browsers with every response, and asks for https', async () => {
    for (const [path, headers] of CASES)
      expect([path, ...(await protection(api, path, headers))]).toEqual([
        path,
        'nosniff',
        'same-origin',
        'max-age=31536000',
      ]);
  });

  it('serves the page of test payments and its files without a session, as docs/SECURITY.md lists', async () => {
    const further = routesOf(api).filter(({ path }) => path.startsWith(TEST_PAYMENT));
    expect(further.length).toBeGreaterThan(2);
    const { met } = await walk(api, further);
    const listed = openRoutes.filter(({ path }) => path.startsWith(TEST_PAYMENT));
    expect(listed.length).toBe(2);
    expect(listed.filter((route) => !met.has(route))).toEqual([]);
  });

  it('serves the page of test payments and its files only to pages of this origin', async () => {
    const port = Number(new URL(api.url).port);
    for (const { target } of routesOf(api).filter(({ path }) => path.startsWith(TEST_PAYMENT)))
      for (const [name, value] of [
        ['origin', 'https://evil.example'],
        ['sec-fetch-site', 'cross-site'],
      ] as const)
        expect([target, (await send(port, 'GET', target, { [name]: value })).status]).toEqual([target, 403]);
  });
});

it('admin ports serve exactly the routes in docs/SECURITY.md', async () => {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const readiness = () => ({ ready: true, checks: {} });
  const admin = await startAdminServer({ host: '127.0.0.1', port: 0, metrics, readiness, allowedHosts: [] });
  try {
    const listed = openRoutes.filter((route) => route.port === 'admin').map((route) => route.path);
    expect([...adminPaths].sort()).toEqual(listed.sort());
    for (const path of adminPaths)
      for (const method of METHODS)
        expect((await send(admin.port, method, path)).status, `${method} ${path}`).toBe(
          openRouteOf('admin', method, path) === undefined ? 405 : 200,
        );
    for (const path of ['/', '/metrics/', '/debug/pprof', '/heap', '/healthz/x', '/__proto__', '/constructor'])
      expect((await send(admin.port, 'GET', path)).status, path).toBe(404);
  } finally {
    await admin.close();
  }
});

describe('the event socket', () => {
  afterEach(() => vi.restoreAllMocks());

  it('rejects requests without a key on all of its routes, except that for load balancers', async () => {
    const routes: { method: string; path: string }[] = [];
    const open = uws.App;
    vi.spyOn(uws, 'App').mockImplementation((options) => {
      // The library aborts the process if the argument is undefined.
      const app = options === undefined ? open() : open(options);
      for (const method of [
        'get',
        'post',
        'options',
        'del',
        'patch',
        'put',
        'head',
        'connect',
        'trace',
        'any',
        'ws',
      ] as const) {
        const add = app[method].bind(app) as (path: string, handler: unknown) => typeof app;
        Object.assign(app, {
          [method]: (path: string, handler: unknown) => {
            routes.push({ method, path });
            return add(path, handler);
          },
        });
      }
      return app;
    });
    const gateway = await startTestGateway();
    try {
      expect(routes.filter(({ method }) => method === 'ws').map(({ path }) => path)).toContain('/ws');
      const upgrade = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
      };
      // The gateway's request to itself, which gets no response: its path is random and secret.
      const own = routes.filter(({ path }) => /^\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(path));
      expect(own).toHaveLength(1);
      for (const { method, path } of routes.filter((route) => !own.includes(route))) {
        const requested = path.replace(/\*$/, 'anything');
        // Its responses to HEAD have bodies, which Node's client treats as malformed.
        for (const name of method === 'any' ? METHODS.filter((name) => name !== 'HEAD') : ['GET'])
          for (const headers of [{}, upgrade]) {
            const { status } = await send(gateway.server.port, name, requested, headers);
            const what = `${name} ${requested} ${Object.keys(headers).length === 0 ? 'plain' : 'upgrade'}`;
            const isOpen = requested === '/healthz' && name === 'GET';
            expect(openRouteOf('event socket', name, requested) !== undefined, what).toBe(isOpen);
            expect(isOpen ? [200] : [401, 404, 426], what).toContain(status);
            if (path === '/ws' && name === 'GET' && headers === upgrade) expect(status).toBe(401);
          }
      }
    } finally {
      await gateway.server.close();
    }
  });
});
