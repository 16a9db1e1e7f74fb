import { afterEach, describe, expect, it } from 'vitest';
import { RetryableError } from '../../../infra/errors.js';
import type { Hex } from '../source.js';
import { type FakeNode, hash, type Request, type startFakeNode } from './fake-node.fixture.js';
import { closeAll, EXCHANGE, historyOf, logsIn, node, sourceOf, spanOf } from './rpc-source.fixture.js';

afterEach(closeAll);

describe('history over a node with limits', () => {
  const logsAt = (number: number) => (number % 7 === 0 ? 0 : number % 5);
  const cases: [
    string,
    (
      request: Request,
      fake: () => FakeNode,
    ) => ReturnType<NonNullable<Parameters<typeof startFakeNode>[0]['override']>>,
  ][] = [
    ['no limit', () => undefined],
    [
      'a suggested range (Infura)',
      (request, fake) => {
        if (spanOf(request) === null || logsIn(request, fake) <= 40) return undefined;
        const from = Number((request.params as readonly { fromBlock: Hex }[])[0]!.fromBlock);
        const message = `query returned more than 10000 results. Try with this block range [0x${from.toString(16)}, 0x${(from + 15).toString(16)}].`;
        return { error: { code: -32005, message } };
      },
    ],
    [
      'a fixed range named in the text (QuickNode)',
      (request) =>
        (spanOf(request) ?? 0) > 10
          ? { error: { code: -32614, message: 'eth_getLogs is limited to a 10 range' } }
          : undefined,
    ],
    [
      'a fixed range not named (halving)',
      (request) =>
        (spanOf(request) ?? 0) > 6 ? { error: { code: -32000, message: 'block range is too wide' } } : undefined,
    ],
    [
      'a timeout at the node (dRPC)',
      (request) =>
        (spanOf(request) ?? 0) > 1
          ? {
              error: {
                code: 30,
                message: 'Request timeout on the free tier, please upgrade your tier to the paid one',
              },
            }
          : undefined,
    ],
    [
      'a deadline of the node',
      (request) =>
        (spanOf(request) ?? 0) > 3 ? { error: { code: -32000, message: 'context deadline exceeded' } } : undefined,
    ],
    [
      'a limit with an unknown text',
      (request) => ((spanOf(request) ?? 0) > 9 ? { error: { code: -32099, message: 'no' } } : undefined),
    ],
    ['HTTP 504', (request) => ((spanOf(request) ?? 0) > 9 ? { status: 504 } : undefined)],
    ['HTTP 413', (request) => ((spanOf(request) ?? 0) > 9 ? { status: 413 } : undefined)],
    ['HTTP 400', (request) => ((spanOf(request) ?? 0) > 9 ? { status: 400 } : undefined)],
    ['HTTP 500', (request) => ((spanOf(request) ?? 0) > 9 ? { status: 500 } : undefined)],
  ];
  it.each(cases)('%s: reads every log once, in order', async (_name, bend) => {
    let fake: FakeNode | null = null;
    fake = await node({ length: 600, logsAt, override: (request) => bend(request, () => fake!) });
    const { source } = sourceOf(fake, { ranges: { startBlocks: 50, maxBlocks: 200, targetLogs: 100, inFlight: 3 } });
    const blocks = await historyOf(source, 3, 590);
    const expected = fake.blocks.slice(3, 591).filter(({ logs }) => logs > 0);
    expect(blocks.map(({ number, logs }) => [number, logs.length])).toEqual(
      expected.map(({ number, logs }) => [number, logs]),
    );
    expect(blocks[0]).toMatchObject({ hash: expected[0]!.hash, parentHash: expected[0]!.parentHash, txCount: 3 });
    expect(blocks[0]!.logs[0]!.address).toBe(EXCHANGE);
  });

  it('stays below a limit of the node, and exceeds it only later', async () => {
    const fake = await node({
      length: 1000,
      override: (request) =>
        (spanOf(request) ?? 0) > 20
          ? { error: { code: -32000, message: 'exceed maximum block range: 20' } }
          : undefined,
    });
    const { source } = sourceOf(fake, {
      ranges: { startBlocks: 100, maxBlocks: 500, successesBeforeLimitRetry: 30, inFlight: 1 },
    });
    await historyOf(source, 0, 999);
    const spans = fake.seen.map(spanOf).filter((span) => span !== null);
    expect(spans[0]).toBe(100);
    expect(spans.filter((span) => span > 20).length).toBeLessThan(6);
    expect(spans.filter((span) => span === 20).length).toBeGreaterThan(40);
  });

  it('grows ranges while responses are small and shrinks them towards the log target', async () => {
    const fake = await node({ length: 2000, logsAt: (number) => (number < 1000 ? 0 : 10) });
    const { source } = sourceOf(fake, { ranges: { startBlocks: 10, maxBlocks: 400, targetLogs: 200, inFlight: 1 } });
    await historyOf(source, 0, 1999);
    const spans = fake.seen.map(spanOf).filter((span) => span !== null);
    expect(Math.max(...spans)).toBe(400);
    expect(spans.at(-2)).toBe(20);
  });

  it('waits and resumes after 429, 502 and a lost response', async () => {
    let count = 0;
    const fake = await node({
      length: 100,
      logsAt,
      override: (request) => {
        if (spanOf(request) === null) return undefined;
        count += 1;
        if (count % 4 === 1) return { status: 429, headers: { 'retry-after': '0' } };
        if (count % 4 === 2) return { status: 502 };
        return undefined;
      },
    });
    const { source, metrics } = sourceOf(fake, { ranges: { startBlocks: 20, inFlight: 2 } });
    const blocks = await historyOf(source, 0, 99);
    expect(blocks.map(({ number }) => number)).toEqual(
      fake.blocks.filter(({ logs }) => logs > 0).map(({ number }) => number),
    );
    const text = await metrics.registry.metrics();
    expect(text).toMatch(/chain_rpc_errors_total\{method="eth_getLogs",kind="rate_limited".*\} [1-9]/);
  });

  it('reads the logs of a range again until the node has its last block', async () => {
    let headOfNode = 49;
    const fake = await node({
      length: 100,
      logsAt,
      override: ({ method, params }) => {
        const [first] = params as readonly (Hex | { fromBlock: Hex; toBlock: Hex })[];
        if (method === 'eth_getLogs' && typeof first === 'object' && Number(first.toBlock) > headOfNode)
          return { result: [] };
        if (method !== 'eth_getBlockByNumber' || Number(first) <= headOfNode) return undefined;
        headOfNode += 20;
        return { result: null };
      },
    });
    const { source } = sourceOf(fake, { ranges: { startBlocks: 100, inFlight: 1 } });
    expect((await historyOf(source, 0, 99)).map(({ number }) => number)).toEqual(
      fake.blocks.filter(({ logs }) => logs > 0).map(({ number }) => number),
    );
  });

  it('requests the same range again while its end is beyond the head of the node (geth)', async () => {
    let early = 0;
    const fake = await node({
      length: 100,
      logsAt,
      override: (request) => {
        if (spanOf(request) === null || early === 4) return undefined;
        early += 1;
        return { error: { code: -32602, message: 'block range extends beyond current head block' } };
      },
    });
    const { source } = sourceOf(fake, { ranges: { startBlocks: 100, inFlight: 1 } });
    expect((await historyOf(source, 0, 99)).map(({ number }) => number)).toEqual(
      fake.blocks.filter(({ logs }) => logs > 0).map(({ number }) => number),
    );
    expect(fake.seen.map(spanOf).filter((span) => span !== null)).toEqual([100, 100, 100, 100, 100]);
  });

  it('rejects with RetryableError when the node rejects the request, without its URL', async () => {
    const fake = await node({
      length: 10,
      override: (request) => (spanOf(request) === null ? undefined : { status: 401 }),
    });
    const { source } = sourceOf(fake);
    const error = await historyOf(source, 0, 9).catch((caught: Error) => caught);
    expect(error).toBeInstanceOf(RetryableError);
    expect(String(error)).not.toContain('secret-key');
  });

  it.each([
    ['method not found', { error: { code: -32601, message: 'the method eth_getLogs does not exist' } }],
    ['invalid params', { error: { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' } }],
    ['no key', { error: { code: -32600, message: 'Must be authenticated!' } }],
    ['HTTP 401', { status: 401 }],
    ['HTTP 403', { status: 403 }],
  ])('rejects at the first response of a node with a wrong configuration: %s', async (_name, reply) => {
    const fake = await node({ length: 100, override: (request) => (spanOf(request) === null ? undefined : reply) });
    const { source } = sourceOf(fake);
    await expect(historyOf(source, 0, 99)).rejects.toThrow(RetryableError);
    expect(fake.seen.map(spanOf).filter((span) => span !== null)).toEqual([100]);
  });

  it('rejects with the error of the node when it rejects a single block, with no attempt at another', async () => {
    const fake = await node({
      length: 100,
      override: (request) =>
        spanOf(request) === null ? undefined : { error: { code: -32000, message: 'history is pruned' } },
    });
    const { source } = sourceOf(fake);
    await expect(historyOf(source, 0, 99)).rejects.toThrow('history is pruned');
    expect(fake.seen.map(spanOf).filter((span) => span !== null)).toEqual([100, 50, 25, 12, 6, 3, 1]);
  });

  it('requests all logs of its contracts for any event, and drops skipped ones', async () => {
    const written = () => [1, 2, 3].map((n) => ({ address: EXCHANGE, topics: [hash(n)], data: '0x' as const }));
    const fake = await node({ length: 3, written });
    const { source } = sourceOf(fake, {}, undefined, ({ topics }) => topics[0] === hash(2));
    const blocks = await historyOf(source, 0, 2);
    expect(blocks.map(({ logs }) => logs.map(({ topics }) => topics[0]))).toEqual(blocks.map(() => [hash(1), hash(3)]));
    const logRequests = fake.seen.filter(({ method }) => method === 'eth_getLogs');
    expect(logRequests.length).toBeGreaterThan(0);
    for (const { params } of logRequests) expect(params[0]).not.toHaveProperty('topics');
  });

  it('sends single requests to a node without batches', async () => {
    const fake = await node({ length: 30, logsAt: () => 1, noBatches: true });
    const { source } = sourceOf(fake);
    expect(await historyOf(source, 0, 29)).toHaveLength(30);
  });

  it.each([
    [400, [7, 7, 7, 7, 2]],
    [413, [7, 7, 7, 7, 2]],
    // May have had another reason than the size, so that the size grows again.
    [500, [7, 8, 9, 6]],
  ])('divides a batch that the node rejects with %i, and sends smaller ones from then on', async (status, next) => {
    const fake = await node({ length: 60, logsAt: () => 1, batchLimit: { calls: 10, status } });
    const { source } = sourceOf(fake, { ranges: { startBlocks: 30, maxBlocks: 30, inFlight: 1 } });
    expect(await historyOf(source, 0, 59)).toHaveLength(60);
    // A range with its last header, its headers, the next range, its headers in parts.
    expect(fake.batches).toEqual([2, 30, 15, 7, 8, 15, 7, 8, 2, ...next]);
  });

  it('sends single requests to a node that rejects every batch with 400', async () => {
    const fake = await node({ length: 30, logsAt: () => 1, batchLimit: { calls: 1, status: 400 } });
    const { source } = sourceOf(fake, { ranges: { startBlocks: 10, maxBlocks: 10 } });
    expect(await historyOf(source, 0, 29)).toHaveLength(30);
    expect(fake.batches).toEqual([2]);
  });

  it('requests little from a node that is down', async () => {
    let isDown = false;
    const fake = await node({
      length: 60,
      logsAt: () => 1,
      override: ({ method }) => {
        isDown ||= method === 'eth_getLogs' && fake.batches.length > 0;
        return isDown ? { status: 500 } : undefined;
      },
    });
    const { source } = sourceOf(fake, { retryPolicy: { attempts: 1, baseMs: 1, maxMs: 1 } });
    await expect(historyOf(source, 0, 59)).rejects.toThrow(RetryableError);
    expect(fake.seen.length).toBeLessThan(20);
  });
});
