import { afterEach, describe, expect, it } from 'vitest';
import { type AdminServer, type Readiness, startAdminServer } from './admin-server.js';
import { createMetrics } from './metrics.js';

const servers: AdminServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function serve(readiness: () => Promise<Readiness> | Readiness, port = 0) {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const server = await startAdminServer({ host: '127.0.0.1', port, metrics, readiness });
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

  it('answers 500 when readiness cannot be told, and goes on', async () => {
    const { get } = await serve(() => {
      throw new Error('the log is away');
    });
    const answer = await get('/readyz');
    expect([answer.status, answer.text]).toEqual([500, expect.stringContaining('the log is away')]);
    expect((await get('/healthz')).status).toBe(200);
  });

  it('shows metrics in the Prometheus format, with the process as a label', async () => {
    const { get, metrics } = await serve(() => ({ ready: true, checks: {} }));
    metrics.counter('things_total', 'Things', ['kind']).inc({ kind: 'a' }, 3);
    metrics.counter('things_total', 'Things', ['kind']).inc({ kind: 'a' });
    const answer = await get('/metrics');
    expect(answer.type).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(answer.text).toContain('# HELP oddstream_things_total Things');
    expect(answer.text).toContain('oddstream_things_total{kind="a",process="test"} 4');
  });

  it('tells with every scrape which checks pass, also when they cannot be run', async () => {
    let broken = false;
    const { get } = await serve(() => {
      if (broken) throw new Error('the log is away');
      return { ready: false, checks: { tables: { ok: false, detail: 'loading' }, stream: { ok: true } } };
    });
    const verdicts = async () =>
      [...(await get('/metrics')).text.matchAll(/^oddstream_ready_check\{check="(\w+)".*\} (\d)$/gm)].map(
        (match) => `${match[1]} ${match[2]}`,
      );
    expect((await verdicts()).sort()).toEqual(['answered 1', 'stream 1', 'tables 0']);
    broken = true;
    expect((await verdicts()).sort()).toEqual(['answered 0', 'stream 0', 'tables 0']);
  });

  it('rejects when its port is taken', async () => {
    const { server } = await serve(() => ({ ready: true, checks: {} }));
    await expect(serve(() => ({ ready: true, checks: {} }), server.port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
