import type { Request, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { plans } from '../../schemas/plans.js';
import { ApiError } from '../errors/failure.js';
import { createApp } from '../http/app.js';
import { defineRoute, type Route } from '../http/route.js';
import { listen } from '../http/server.js';
import { countIfKeyed, limitKeyless } from './keyless.js';

const VALID = 'odds_live_0123456789abcdef0123456789abcdef';
const CALLER = {
  accountId: 'a',
  keyHash: 'h',
  poolKeyHash: 'h',
  limitKeyHash: 'h',
  plan: 'free',
  terms: plans.free,
} as const;

function setUp(perMinute: number) {
  let nowMs = 1_000_000;
  const keys = {
    lookup: (key: string) => (key === VALID ? CALLER : null),
  };
  const isApiPath = (path: string) => path.startsWith('/v1/');
  const handler = limitKeyless({ keys, nowMs: () => nowMs, isApiPath, perMinute, assetsPerMinute: 2 * perMinute });
  /** Undefined: accepted. `hasRoute`: a route limits the request by its account. */
  const send = (ip: string, headers: Record<string, string> = {}, url = '/docs', hasRoute = true): unknown => {
    const response = { locals: {} } as Response;
    try {
      void handler(
        { ip, headers, originalUrl: url, path: url.split('?')[0] } as unknown as Request,
        response,
        () => undefined,
      );
      if (!hasRoute) countIfKeyed(response);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  return { send, wait: (ms: number) => (nowMs += ms) };
}

describe('limitKeyless', () => {
  it('rejects requests of one address beyond the limit per minute and accepts them in the next window', async () => {
    const { send, wait } = setUp(3);
    for (let i = 0; i < 3; i++) expect(send('192.0.2.1')).toBeUndefined();
    const refused = send('192.0.2.1');
    expect(refused).toBeInstanceOf(ApiError);
    expect((refused as ApiError).failure).toMatchObject({
      kind: 'rate_limited',
      limitPerMinute: 3,
      retryAtMs: 1_060_000,
    });
    expect(send('192.0.2.2')).toBeUndefined();
    wait(60_001);
    expect(send('192.0.2.1')).toBeUndefined();
  });

  it('counts an IPv6 network as one client and a mapped IPv4 address as that address', async () => {
    const { send } = setUp(1);
    expect(send('2001:db8:1:2::1')).toBeUndefined();
    expect(send('2001:db8:1:2:ffff::9')).toBeInstanceOf(ApiError);
    expect(send('2001:db8:1:3::1')).toBeUndefined();
    expect(send('192.0.2.7')).toBeUndefined();
    expect(send('::ffff:192.0.2.7')).toBeInstanceOf(ApiError);
  });

  it('counts scripts and style sheets with a version in their address separately', async () => {
    const { send } = setUp(2);
    for (let i = 0; i < 4; i++) expect(send('192.0.2.1', {}, '/v/8cGk2d/app/app.js')).toBeUndefined();
    const refused = send('192.0.2.1', {}, '/v/8cGk2d/app/app.js');
    expect((refused as ApiError).failure).toMatchObject({ kind: 'rate_limited', limitPerMinute: 4 });
    for (let i = 0; i < 2; i++) expect(send('192.0.2.1', {}, '/v1/status')).toBeUndefined();
    expect((send('192.0.2.1') as ApiError).failure).toMatchObject({ limitPerMinute: 2 });
  });

  it('does not count requests that the limit of an account counts, and counts those with a wrong key', async () => {
    const { send } = setUp(1);
    for (let i = 0; i < 5; i++) expect(send('192.0.2.1', { 'x-api-key': VALID }, '/v1/x')).toBeUndefined();
    for (let i = 0; i < 5; i++) expect(send('192.0.2.1', {}, `/v1/x?q=what?&key=${VALID}`)).toBeUndefined();
    expect(send('192.0.2.1', { 'x-api-key': 'wrong' }, '/v1/x')).toBeUndefined();
    expect(send('192.0.2.1', {}, '/v1/status?key=wrong')).toBeInstanceOf(ApiError);
  });

  it('counts requests with a valid key to pages, to routes without a key and to unknown paths', async () => {
    const { send } = setUp(1);
    expect(send('192.0.2.1', { 'x-api-key': VALID }, '/app/market/x')).toBeUndefined();
    expect(send('192.0.2.1', { 'x-api-key': VALID }, '/app/market/y')).toBeInstanceOf(ApiError);
    expect(send('192.0.2.2', {}, `/v1/status?key=${VALID}`, false)).toBeUndefined();
    expect(send('192.0.2.2', {}, `/v1/status?key=${VALID}`, false)).toBeInstanceOf(ApiError);
    expect(send('192.0.2.2', {}, `/v1/x?key=${VALID}`)).toBeUndefined();
  });
});

describe('createApp', () => {
  const NOW_MS = 1_800_000_000_000;
  const bodyOf = {
    '/v1/x': { error: 'Rate limit exceeded. Retry after 1800000060.', reset_at: 1_800_000_060 },
    '/v2/x/y': { error: 'rate limit exceeded', reset_at: 1_800_000_060 },
    '/v3/x': { error: 'rate limit exceeded', reset_at: 1_800_000_060 },
    '/docs': { error: 'Rate limit exceeded. Retry after 1800000060.', reset_at: 1_800_000_060 },
  };

  const startApp = (routes: readonly Route[] = []) =>
    listen(
      createApp({
        routes,
        keys: { lookup: (key) => (key === VALID ? CALLER : null) },
        keylessPerMinute: 2,
        usedUpUntil: null,
        admitSession: () => Promise.reject(new Error('not for requests without a session')),
        limiter: { admit: () => Promise.reject(new Error('not for requests without a key')) },
        meter: () => undefined,
        progress: { current: () => null },
        logger: silentLogger(),
        metrics: createMetrics({ process: 'api' }),
        nowMs: () => NOW_MS,
        trustedProxies: ['127.0.0.1'],
        allowedHosts: [],
        serverOrigin: 'http://127.0.0.1',
        upgradeUrl: 'http://127.0.0.1/docs#plans',
      }),
      { host: '127.0.0.1', port: 0 },
    );

  it.each(Object.entries(bodyOf))(
    'responds to %s beyond the limit of an address with 429, per proxied client',
    async (path, body) => {
      const server = await startApp();
      const get = (client: string) =>
        fetch(`http://127.0.0.1:${server.port}${path}`, { headers: { 'x-forwarded-for': client } });
      try {
        for (const end of ['1', '2']) expect((await get(`2001:db8:1:2::${end}`)).status).toBe(404);
        const rejected = await get('2001:db8:1:2::3');
        expect([rejected.status, rejected.headers.get('retry-after'), await rejected.json()]).toEqual([
          429,
          '60',
          body,
        ]);
        expect((await get('2001:db8:1:3::1')).status).toBe(404);
        const withKey = () =>
          fetch(`http://127.0.0.1:${server.port}${path}?key=${VALID}`, {
            headers: { 'x-forwarded-for': '2001:db8:1:4::1' },
          });
        expect([(await withKey()).status, (await withKey()).status, (await withKey()).status]).toEqual([404, 404, 429]);
      } finally {
        await server.close(500);
      }
    },
  );

  it('counts paths with a malformed escape, also with a valid key', async () => {
    const route = defineRoute({
      method: 'get',
      path: '/v1/x/{id}',
      apiGroup: 'v1',
      tag: 'Test',
      summary: 'Test',
      auth: 'key',
      params: z.object({ id: z.string() }),
      success: { description: 'Nothing', schema: z.object({}), example: {} },
      handler: () => ({ body: {} }),
    });
    const server = await startApp([route]);
    const statusOf = async () => (await fetch(`http://127.0.0.1:${server.port}/v1/x/%zz?key=${VALID}`)).status;
    try {
      expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([400, 400, 429]);
    } finally {
      await server.close(500);
    }
  });
});
