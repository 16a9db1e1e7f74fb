import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createGammaClient, GammaRejectedError } from '../../ingest/catalog/gamma/client.js';
import { createGammaSource } from '../../ingest/catalog/gamma/gamma-source.js';
import { type FakeGamma, startFakeGamma } from '../../ingest/catalog/testing/fake-gamma.js';
import { createBlockReader } from '../../ingest/chain/rpc/blocks.js';
import { type FakeNode, startFakeNode } from '../../ingest/chain/rpc/fake-node.fixture.js';
import { createRpcClient } from '../../ingest/chain/rpc/http-client.js';
import { RpcError } from '../../ingest/chain/rpc/rpc-error.js';
import {
  catalogueChanges,
  type HostileProxy,
  hostileResponses,
  nodeChanges,
  startHostileProxy,
} from './hostile-responses.js';

const metrics = createMetrics({ process: 'test', defaults: false });
const logger = silentLogger();
const filter = { addresses: [], topics: [], skips: () => false };
let node: FakeNode;
let gamma: FakeGamma;
let nodeProxy: HostileProxy;
let gammaProxy: HostileProxy;
beforeAll(async () => {
  node = await startFakeNode({ length: 5, logsAt: () => 2 });
  gamma = await startFakeGamma();
  gamma.tags = [{ id: '1', slug: 'crypto', label: 'Crypto' }];
  gamma.events = [event(1), event(2)];
  nodeProxy = await startHostileProxy(node.rpcUrl);
  gammaProxy = await startHostileProxy(gamma.url);
});
afterAll(async () => {
  await Promise.all([nodeProxy.stop(), gammaProxy.stop(), node.close(), gamma.stop()]);
});

const event = (n: number) => ({
  id: String(n),
  slug: `event-${n}`,
  title: `Event ${n}`,
  endDate: '2026-01-01T00:00:00Z',
  markets: [
    {
      id: `1${n}`,
      conditionId: `0x${String(n).repeat(64)}`,
      slug: `market-${n}`,
      question: 'Which?',
      outcomes: '["Yes","No"]',
      outcomePrices: '["0.4","0.6"]',
      clobTokenIds: '["11","12"]',
      volume: '5',
    },
  ],
  tags: [{ id: '1', slug: 'crypto', label: 'Crypto' }],
});
const rpc = () => createRpcClient({ url: nodeProxy.url, metrics, logger, timeoutMs: 400 });
const catalogueClient = () =>
  createGammaClient({
    baseUrl: gammaProxy.url,
    logger,
    metrics,
    perSecond: 10_000,
    burst: 10_000,
    attempts: 1,
    timeoutMs: 400,
  });
const never = new AbortController().signal;

describe('block reader', () => {
  it.each([...hostileResponses.keys()])('rejects %s with an RpcError and reads the next response', async (mode) => {
    const client = rpc();
    const reader = createBlockReader({ client, filter });
    nodeProxy.response = hostileResponses.get(mode) ?? null;
    const outcomes = await Promise.allSettled([
      reader.header('latest'),
      reader.headers([1, 2]),
      reader.byHash(node.blocks[1]!.hash),
    ]);
    nodeProxy.response = null;
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect([mode, outcome.reason]).toEqual([mode, expect.any(RpcError)]);
      else expect([mode, outcome.value]).toEqual([mode, null]);
    }
    expect((await reader.header('latest'))?.number).toBe(4);
    client.close();
  });

  it.each([...nodeChanges.keys()])('accepts no invalid field of a response with %s', async (mode) => {
    const client = rpc();
    const reader = createBlockReader({ client, filter });
    const honest = await reader.byNumber(2);
    nodeProxy.change = nodeChanges.get(mode) ?? null;
    const [outcome] = await Promise.allSettled([reader.byNumber(2)]);
    nodeProxy.change = null;
    if (outcome.status === 'rejected') expect([mode, outcome.reason]).toEqual([mode, expect.any(RpcError)]);
    // What passes is checked where blocks are joined: by number, hash and parent, and logs by index.
    else expect(Object.keys(outcome.value ?? {})).toEqual(Object.keys(honest ?? {}));
    expect(await reader.byNumber(2)).toEqual(honest);
    client.close();
  });
});

describe('catalog client and source', () => {
  it.each([...hostileResponses.keys()])('rejects %s with a known error and reads the next response', async (mode) => {
    const client = catalogueClient();
    gammaProxy.response = hostileResponses.get(mode) ?? null;
    const [outcome] = await Promise.allSettled([client.get('/tags', [['limit', '5']], never)]);
    gammaProxy.response = null;
    if (outcome.status === 'rejected')
      expect([mode, outcome.reason instanceof RetryableError || outcome.reason instanceof GammaRejectedError]).toEqual([
        mode,
        true,
      ]);
    expect(await client.get('/tags', [['limit', '5']], never)).toEqual(gamma.tags);
  });

  it.each([...catalogueChanges.keys()])('writes no row with %s that does not fit the schema', async (mode) => {
    const rejected: string[] = [];
    const source = createGammaSource({
      client: catalogueClient(),
      host: 'fake',
      logger,
      metrics,
      onRejected: (reason) => rejected.push(reason),
      nowMs: Date.now,
      times: { upDownPollMs: 5, updatedPollMs: 0, reloadMs: 3_600_000, retryDelayMs: 5 },
    });
    gammaProxy.change = catalogueChanges.get(mode) ?? null;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      gammaProxy.change = null;
    }, 150);
    const slugs = new Set<string>();
    for await (const update of source.load(stop.signal)) {
      if (update.type !== 'rows') continue;
      for (const row of update.rows) if (row.kind === 'catalog_event') slugs.add(row.value.slug);
    }
    clearTimeout(timer);
    gammaProxy.change = null;
    const again = createGammaSource({
      client: catalogueClient(),
      host: 'fake',
      logger,
      metrics,
      onRejected: () => undefined,
      nowMs: Date.now,
    });
    const honest = new Set<string>();
    for await (const update of again.load(stop.signal))
      if (update.type === 'rows')
        for (const row of update.rows) if (row.kind === 'catalog_event') honest.add(row.value.slug);
    expect([mode, [...honest].sort()]).toEqual([mode, ['event-1', 'event-2']]);
  });
});
