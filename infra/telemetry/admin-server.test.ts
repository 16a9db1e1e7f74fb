import { request as rawRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type AdminServer, type Readiness, startAdminServer } from './admin-server.js';
import { createMetrics } from './metrics.js';

const servers: AdminServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(readiness: () => Promise<Readiness> | Readiness, port = 0) {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const server = await startAdminServer({ host: '127.0.0.1', port, metrics, readiness, allowedHosts: ['processors'] });
  servers.push(server);
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`);
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
  };
  return { metrics, server, get };
}

describe('the admin server', () => {
  it('is alive before it is ready, and names the checks that fail', async () => {
    let state: Readiness = { ready: false, checks: { tables: { ok: false, detail: 'loading' } } };
    const { get } = await serve(async () => state);
    expect(await get('/healthz')).toMatchObject({ status: 200, text: 'ok' });
    const waiting = await get('/readyz?verbose');
    expect([waiting.status, JSON.parse(waiting.text)]).toEqual([503, state]);
    state = { ready: true, checks: { tables: { ok: true } } };
    expect((await get('/readyz')).status).toBe(200);
    expect((await get('/nothing')).status).toBe(404);
  });

  it('responds 500 when the readiness check throws, and keeps serving', async () => {
    const { get } = await serve(() => {
      throw new Error('the log is unreachable');
    });
    const response = await get('/readyz');
    expect([response.status, response.text]).toEqual([500, expect.stringContaining('the log is unreachable')]);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('shows metrics in the Prometheus format, with the process as a label', async () => {
    const { get, metrics } = await serve(() => ({ ready: true, checks: {} }));
    metrics.counter('things_total', 'Things', ['kind']).inc({ kind: 'a' }, 3);
    metrics.counter('things_total', 'Things', ['kind']).inc({ kind: 'a' });
    const response = await get('/metrics');
    expect(response.type).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(response.text).toContain('# HELP oddstream_things_total Things');
    expect(response.text).toContain('oddstream_things_total{kind="a",process="test"} 4');
  });

  it('reports passing checks with every scrape, also when the checks throw', async () => {
    let broken = false;
    let checks: Readiness['checks'] = { tables: { ok: false, detail: 'loading' }, stream: { ok: true } };
    const { get } = await serve(() => {
      if (broken) throw new Error('the log is unreachable');
      return { ready: false, checks };
    });
    const verdicts = async () =>
      [...(await get('/metrics')).text.matchAll(/^oddstream_ready_check\{check="(\w+)".*\} (\d)$/gm)].map(
        (match) => `${match[1]} ${match[2]}`,
      );
    expect((await verdicts()).sort()).toEqual(['answered 1', 'stream 1', 'tables 0']);
    broken = true;
    expect((await verdicts()).sort()).toEqual(['answered 0', 'stream 0', 'tables 0']);
    // The task moved to another process.
    broken = false;
    checks = { stream: { ok: true } };
    expect((await verdicts()).sort()).toEqual(['answered 1', 'stream 1']);
  });

  it('tells checks that load from those that fail', async () => {
    let checks: Readiness['checks'] = {
      history: { ok: false, loading: true },
      chain: { ok: false, detail: 'not connected' },
      log: { ok: true },
    };
    const { get } = await serve(() => ({ ready: false, checks }));
    const loading = async () =>
      [...(await get('/metrics')).text.matchAll(/^oddstream_ready_check_loading\{check="(\w+)".*\} (\d)$/gm)].map(
        (match) => `${match[1]} ${match[2]}`,
      );
    expect((await loading()).sort()).toEqual(['chain 0', 'history 1', 'log 0']);
    checks = { history: { ok: false, detail: 'the tables are unreachable' }, log: { ok: true } };
    expect((await loading()).sort()).toEqual(['history 0', 'log 0']);
  });

  /** fetch sets Host and Sec-Fetch-* itself. */
  const statusOf = (port: number, headers: Record<string, string>, options: { method?: string; path?: string } = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      rawRequest({ host: '127.0.0.1', port, path: '/metrics', ...options, headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode));
      })
        .on('error', reject)
        .end();
    });

  it.each<[string, Record<string, string>, number]>([
    ['a scrape by address', { host: '10.1.2.3:9102' }, 200],
    ['a probe by IPv6 address', { host: '[fd00::7]:9102' }, 200],
    ['a scrape by a name of ALLOWED_HOSTS', { host: 'processors:9102' }, 200],
    ['a person at the same machine', { host: 'localhost:9102', 'sec-fetch-site': 'none' }, 200],
    ['a page under a rebound name', { host: 'attacker.example:9102' }, 403],
    [
      'a page under a rebound name, as its own site',
      { host: 'attacker.example', 'sec-fetch-site': 'same-origin' },
      403,
    ],
    ['a name that ends in an allowed one', { host: 'evil-processors:9102' }, 403],
    ['a page of another site', { host: '127.0.0.1:9102', origin: 'https://attacker.example' }, 403],
    ['an image of another site', { host: '127.0.0.1:9102', 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of another port', { host: 'localhost:9102', 'sec-fetch-site': 'same-site' }, 403],
    ['a sandboxed page', { host: 'localhost:9102', origin: 'null' }, 403],
    ['a malformed host', { host: 'a b' }, 403],
  ])('checks the headers of %s', async (_client, headers, status) => {
    const { server, get } = await serve(() => ({ ready: true, checks: {} }));
    for (const path of ['/metrics', '/healthz', '/readyz'])
      expect(await statusOf(server.port, headers, { path }), path).toBe(status);
    const counted = /admin_rejected_total\{reason="host_or_origin".*\} (\d+)/.exec((await get('/metrics')).text)?.[1];
    expect(counted).toBe(status === 403 ? '3' : undefined);
  });

  it('accepts only GET and HEAD', async () => {
    const { server } = await serve(() => ({ ready: true, checks: {} }));
    const host = { host: 'localhost' };
    expect(await statusOf(server.port, host, { method: 'HEAD' })).toBe(200);
    expect(await statusOf(server.port, host, { method: 'POST' })).toBe(405);
    expect(await statusOf(server.port, host, { method: 'DELETE', path: '/nothing' })).toBe(404);
  });

  it.each([
    ['1.1', 400],
    ['1.0', 403],
  ])('rejects a request of HTTP/%s without Host with %i', async (version, status) => {
    const { server } = await serve(() => ({ ready: true, checks: {} }));
    const socket = connect(server.port, '127.0.0.1');
    let received = '';
    socket.on('data', (data) => {
      received += data.toString();
    });
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(`GET /metrics HTTP/${version}\r\n\r\n`);
    await closed;
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(received).toMatch(/\r\n\r\n\{"error":"The Host header is missing\."\}$/);
  });

  it('ends a connection that sends a body without end', async () => {
    const { server } = await serve(() => ({ ready: true, checks: {} }));
    const socket = connect(server.port, '127.0.0.1');
    socket.on('error', () => undefined);
    let sent = 0;
    const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`;
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write('POST /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    const more = () => {
      while (!socket.destroyed && sent < 512 * 1024 * 1024) {
        sent += chunk.length;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on('drain', more);
    more();
    await closed;
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('rejects when its port is taken', async () => {
    const { server } = await serve(() => ({ ready: true, checks: {} }));
    await expect(serve(() => ({ ready: true, checks: {} }), server.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
