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
import { type AnyEvent, createCodec } from '../../schemas/codec.js';
import type { CatalogEvent, CatalogMarket } from '../../schemas/types.gen.js';
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
  closed: false,
  startDate: '2025-12-01T00:00:00Z',
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
const PATIENT_MS = 60_000;
/** Timeout of clients: short where only it ends a request. */
const timeoutFor = (mode: string) => (['a byte at a time', 'no response'].includes(mode) ? 1_000 : PATIENT_MS);
const rpc = (timeoutMs = PATIENT_MS) => createRpcClient({ url: nodeProxy.url, metrics, logger, timeoutMs });
const catalogueClient = (timeoutMs = PATIENT_MS) =>
  createGammaClient({
    baseUrl: gammaProxy.url,
    logger,
    metrics,
    perSecond: 10_000,
    burst: 10_000,
    attempts: 1,
    timeoutMs,
  });
const never = new AbortController().signal;

describe('block reader', () => {
  it.each([...hostileResponses.keys()])('rejects %s with an RpcError and reads the next response', async (mode) => {
    const client = rpc(timeoutFor(mode));
    const reader = createBlockReader({ client, filter });
    nodeProxy.response = hostileResponses.get(mode) ?? null;
    const outcomes = await Promise.allSettled([
      reader.header('latest'),
      reader.headers([1, 2]),
      reader.byHash(node.blocks[1]!.hash),
    ]);
    nodeProxy.response = null;
    for (const outcome of outcomes) expect(outcome).toEqual({ status: 'rejected', reason: expect.any(RpcError) });
    expect((await reader.header('latest'))?.number).toBe(4);
    client.close();
  });

  it.each([...nodeChanges.keys()])('accepts no invalid field of a response with %s', async (mode) => {
    const client = rpc();
    const reader = createBlockReader({ client, filter });
    const honest = await reader.byNumber(2);
    expect(honest?.logs).toHaveLength(2);
    nodeProxy.change = nodeChanges.get(mode) ?? null;
    const [outcome] = await Promise.allSettled([reader.byNumber(2)]);
    nodeProxy.change = null;
    // The parent is checked where blocks are joined.
    const isAccepted = mode === 'a parent that does not exist';
    expect(outcome).toEqual(
      isAccepted
        ? { status: 'fulfilled', value: { ...honest, parentHash: `0x${'9'.repeat(64)}` } }
        : { status: 'rejected', reason: expect.any(RpcError) },
    );
    expect(await reader.byNumber(2)).toEqual(honest);
    client.close();
  });
});

/** Valid JSON, of which the readers of pages check the shape. */
const validJson: ReadonlySet<string> = new Set([
  ...['null', 'a number', 'a text', 'a list of nothing', 'an empty object', 'keys of the prototype'],
  ...['a document nested too deeply', 'an object nested too deeply'],
  ...['an error without a message', 'a response to another request'],
]);

/** What a change of the catalogue does to the load of two events with a market each. */
interface Effect {
  /** Reason of every rejected row. Default: none is rejected. */
  readonly rejected?: RegExp;
  /** The load fails and is repeated. */
  readonly fails?: true;
  /** Replaced fields; null: no row is written. */
  readonly event?: Partial<CatalogEvent> | null;
  readonly market?: Partial<CatalogMarket> | null;
}
const megabyte = 'x'.repeat(1_000_000);
const effects: ReadonlyMap<string, Effect> = new Map<string, Effect>([
  ['events that are an object', { fails: true }],
  ['events of nothing', { rejected: /^event: (not an object|id is missing)$/, event: null, market: null }],
  ['the same cursor for ever', {}],
  ['a cursor that is an object', {}],
  ['ids that are objects', { rejected: /^(event|tag): id is missing$/, event: null, market: null }],
  ['slugs of a megabyte', { event: { slug: megabyte }, market: { slug: megabyte } }],
  ['condition ids that are none', { rejected: /: conditionId is not/, market: null }],
  ['token ids that are none', { rejected: /: clobTokenIds contains/, market: null }],
  ['token ids as numbers', { rejected: /: clobTokenIds contains/, market: null }],
  ['prices that are none', { rejected: /: outcomePrices contains/, market: null }],
  ['outcomes that are no list', { rejected: /: outcomes is not a list/, market: null }],
  ['volumes beyond every number', { market: { volume: 0 } }],
  ['volumes beyond all money', { market: { volume: 0 } }],
  ['prices above 1', { rejected: /: outcomePrices contains/, market: null }],
  ['dates of the year 9999', { event: { end_ms: null } }],
  ['dates that are none', { event: { start_ms: null } }],
  ['flags that are text', { event: { closed: false } }],
  ['titles with control characters', { event: { title: '\u0000\u001b[2J' } }],
  ['titles that are half a character', { event: { title: '\ufffd' } }],
  ['markets that are not a list', { rejected: /^event markets is not a list/, market: null }],
  ['tags that are not a list', { rejected: /^event tags is not a list/ }],
  ['questions that are missing', { market: { question: '' } }],
]);

describe('catalog client and source', () => {
  it.each([...hostileResponses.keys()])('rejects %s unless it is JSON, and reads the next response', async (mode) => {
    const client = catalogueClient(timeoutFor(mode));
    gammaProxy.response = hostileResponses.get(mode) ?? null;
    const [outcome] = await Promise.allSettled([client.get('/tags', [['limit', '5']], never)]);
    gammaProxy.response = null;
    expect(outcome.status).toBe(validJson.has(mode) ? 'fulfilled' : 'rejected');
    if (outcome.status === 'rejected')
      expect([mode, outcome.reason instanceof RetryableError || outcome.reason instanceof GammaRejectedError]).toEqual([
        mode,
        true,
      ]);
    expect(await client.get('/tags', [['limit', '5']], never)).toEqual(gamma.tags);
  });

  it.each([...catalogueChanges.keys()])('writes no row with %s that does not fit the schema', async (mode) => {
    const { rejected: reason, fails = false, event: eventFields, market: marketFields } = effects.get(mode) as Effect;
    const rejected: string[] = [];
    const codec = createCodec();
    const sourceOf = (onRejected: (reason: string) => void) =>
      createGammaSource({
        client: catalogueClient(),
        host: 'fake',
        logger,
        metrics,
        onRejected,
        nowMs: Date.now,
        times: { retryDelayMs: 5 },
      });
    gammaProxy.change = catalogueChanges.get(mode) ?? null;
    const rows: AnyEvent[] = [];
    let failed = false;
    for await (const update of sourceOf((why) => rejected.push(why)).load(never)) {
      if (update.type === 'rows')
        for (const row of update.rows) rows.push(codec.decode(codec.encode(row.kind, row.value)));
      else if (update.type === 'connected' && !update.connected) {
        failed = true;
        gammaProxy.change = null;
      }
    }
    gammaProxy.change = null;
    expect([mode, failed]).toEqual([mode, fails]);
    expect(rejected.length > 0).toBe(reason !== undefined);
    for (const why of rejected) expect(why).toMatch(reason as RegExp);
    const written = (kind: AnyEvent['kind']) => rows.filter((row) => row.kind === kind).map(({ value }) => value);
    expect(written('catalog_event')).toMatchObject(
      eventFields === null ? [] : [1, 2].map((n) => eventRow(n, eventFields)),
    );
    expect(written('catalog_market')).toMatchObject(
      marketFields === null ? [] : [1, 2].map((n) => marketRow(n, marketFields)),
    );

    const honest: string[] = [];
    for await (const update of sourceOf(() => undefined).load(never))
      if (update.type === 'rows')
        for (const row of update.rows) if (row.kind === 'catalog_event') honest.push(row.value.slug);
    expect([mode, honest]).toEqual([mode, ['event-1', 'event-2']]);
  });
});

function eventRow(n: number, changed: Partial<CatalogEvent> = {}): Partial<CatalogEvent> {
  const [start_ms, end_ms] = [Date.UTC(2025, 11, 1), Date.UTC(2026, 0, 1)];
  return { id: String(n), slug: `event-${n}`, title: `Event ${n}`, closed: false, start_ms, end_ms, ...changed };
}

function marketRow(n: number, changed: Partial<CatalogMarket> = {}): Partial<CatalogMarket> {
  const condition_id = `0x${String(n).repeat(64)}`;
  const lists = { outcomes: ['Yes', 'No'], token_ids: ['11', '12'], outcome_prices: ['0.4', '0.6'] };
  return { id: `1${n}`, condition_id, slug: `market-${n}`, question: 'Which?', volume: 5, ...lists, ...changed };
}
