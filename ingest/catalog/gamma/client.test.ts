import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RetryableError } from '../../../infra/errors.js';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import { createHydrationCounts } from '../hydration-counts.js';
import { type FakeGamma, startFakeGamma } from '../testing/fake-gamma.js';
import { createGammaClient, GammaRejectedError } from './client.js';
import { offsetPages } from './pages.js';

/** Requests need far longer than the default of one second on a busy machine. */
const eventually = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 30_000 });

let server: FakeGamma;
let stop: AbortController;
const metrics = createMetrics({ process: 'test', defaults: false });
beforeEach(async () => {
  server = await startFakeGamma();
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  await server.stop();
});

function clientOf(counts = createHydrationCounts()) {
  return createGammaClient({
    baseUrl: server.url,
    logger: silentLogger(),
    metrics,
    counts,
    perSecond: 1000,
    burst: 1000,
    backoffMs: 1,
    attempts: 3,
  });
}

describe('createGammaClient', () => {
  it('reports an unreachable service after the first failed retry, and once until it responds', async () => {
    const reachable: boolean[] = [];
    const client = createGammaClient({
      baseUrl: server.url,
      logger: silentLogger(),
      metrics,
      backoffMs: 1,
      attempts: 3,
      onReachable: (now) => reachable.push(now),
    });
    await client.get('/tags', [], stop.signal);
    expect(reachable).toEqual([]);
    const closed = createGammaClient({
      baseUrl: 'http://127.0.0.1:1',
      logger: silentLogger(),
      metrics,
      backoffMs: 1,
      attempts: 3,
      onReachable: (now) => reachable.push(now),
    });
    for (let request = 0; request < 2; request++)
      await expect(closed.get('/tags', [], stop.signal)).rejects.toThrow(RetryableError);
    expect(reachable).toEqual([false]);
  });

  it('retries transient failures and honours Retry-After', async () => {
    server.tags = [{ id: 1, slug: 'a', label: 'A' }];
    server.faults.push(
      { status: 429, body: 'slow down', headers: { 'retry-after': '0' } },
      { status: 503, body: '', headers: { 'retry-after': new Date(0).toUTCString() } },
    );
    expect(await clientOf().get('/tags', [['limit', '5']], stop.signal)).toEqual(server.tags);
    expect(server.requests).toEqual(['/tags?limit=5', '/tags?limit=5', '/tags?limit=5']);
  });

  it('throws RetryableError after its last attempt', async () => {
    for (let n = 0; n < 3; n++) server.faults.push({ status: 500, body: 'broken' });
    await expect(clientOf().get('/tags', [], stop.signal)).rejects.toThrow(RetryableError);
    expect(server.requests).toHaveLength(3);
  });

  it('retries a response that is not JSON', async () => {
    server.faults.push({ status: 200, body: '<html>' });
    expect(await clientOf().get('/tags', [['limit', '1']], stop.signal)).toEqual([]);
  });

  it('names a web page, and not its text', async () => {
    const page = '<!DOCTYPE html><title>/key</title>';
    for (let n = 0; n < 3; n++) server.faults.push({ status: 200, body: page });
    const client = clientOf();
    await expect(client.get('/tags', [], stop.signal)).rejects.toThrow(
      /^127\.0\.0\.1:\d+\/tags: SyntaxError: a web page instead of JSON \(3 attempts\)$/,
    );
    server.faults.push({ status: 403, body: page });
    await expect(client.get('/tags', [], stop.signal)).rejects.toThrow('/tags responded with status 403: a web page');
  });

  it('counts failed requests by cause: no response, status, body that is not JSON', async () => {
    server.faults.push({ status: 503, body: '' }, { status: 200, body: '<html>' }, { status: 422, body: 'bad order' });
    const counts = createHydrationCounts();
    const client = clientOf(counts);
    await expect(client.get('/tags', [], stop.signal)).rejects.toThrow(GammaRejectedError);
    const unreachable = createGammaClient({
      ...{ baseUrl: 'http://127.0.0.1:1', logger: silentLogger(), metrics, counts, backoffMs: 1, attempts: 3 },
    });
    await expect(unreachable.get('/tags', [], stop.signal)).rejects.toThrow(RetryableError);
    expect(counts).toEqual({
      ...createHydrationCounts(),
      gamma_hydration_status_errors: 2,
      gamma_hydration_parse_errors: 1,
      gamma_hydration_request_errors: 3,
    });
  });

  it('does not repeat a rejected request', async () => {
    server.faults.push({ status: 422, body: 'bad order' });
    await expect(clientOf().get('/tags', [], stop.signal)).rejects.toThrow(GammaRejectedError);
    expect(server.requests).toHaveLength(1);
  });

  it('rejects immediately when aborted during a delay', async () => {
    server.faults.push({ status: 429, body: '', headers: { 'retry-after': '3600' } });
    const pending = clientOf().get('/tags', [], stop.signal);
    await eventually(() => expect(server.requests).toHaveLength(1));
    stop.abort(new Error('stopped'));
    await expect(pending).rejects.toThrow('stopped');
  });
});

describe('offsetPages', () => {
  const idsOf = async (limit: number) => {
    const ids: unknown[] = [];
    const options = { path: '/tags', query: [], limit, maxPages: 50, signal: stop.signal };
    for await (const page of offsetPages(clientOf(), options))
      ids.push(...page.map((row) => (row as { id: string }).id));
    return ids;
  };

  it('reads a list to its end from a service that sends fewer rows than requested', async () => {
    server.maxRows = 7;
    server.tags = Array.from({ length: 20 }, (_, n) => ({ id: `${n}` }));
    expect(await idsOf(100)).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`));
    expect(server.requests).toEqual([0, 7, 14, 20].map((offset) => `/tags?limit=100&offset=${offset}`));
  });

  it('ends a list whose offset the service ignores', async () => {
    for (let n = 0; n < 3; n++) server.faults.push({ status: 200, body: '[{"id":"1"},{"id":"2"}]' });
    expect(await idsOf(2)).toEqual(['1', '2']);
    expect(server.requests).toHaveLength(2);
  });
});
