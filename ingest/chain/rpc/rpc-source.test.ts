import { afterEach, describe, expect, it } from 'vitest';
import { FatalError, RetryableError } from '../../../infra/errors.js';
import { silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import type { Hex, LiveEvent, RpcLog, SourceBlock } from '../source.js';
import { type FakeNode, hash, type Request, startFakeNode } from './fake-node.fixture.js';
import { createRpcSource, type NetworkState, type RpcSourceOptions } from './rpc-source.js';

const EXCHANGE: Hex = '0xe111180000d2663c0091e4f400237545b87b996b';
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function node(options: Parameters<typeof startFakeNode>[0]): Promise<FakeNode> {
  const started = await startFakeNode(options);
  cleanups.push(() => started.close());
  return started;
}
function sourceOf(
  fake: FakeNode,
  options: Partial<RpcSourceOptions> = {},
  startBlock?: number,
  skips: (log: RpcLog) => boolean = () => false,
  network?: NetworkState,
) {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const source = createRpcSource({
    rpcUrl: fake.rpcUrl,
    wsUrl: fake.wsUrl,
    startBlock,
    filter: { addresses: [EXCHANGE], topics: [hash(1)], skips },
    pendingTo: [EXCHANGE],
    chainId: 137,
    network,
    logger: silentLogger(),
    metrics,
    options: { retryPolicy: { attempts: 4, baseMs: 1, maxMs: 2 }, ...options },
  });
  cleanups.push(() => source.close());
  return { source, metrics };
}
const never = new AbortController().signal;
async function historyOf(source: ReturnType<typeof sourceOf>['source'], fromBlock: number, toBlock: number) {
  const blocks: SourceBlock[] = [];
  for await (const block of source.history({ fromBlock, toBlock }, never)) blocks.push(block);
  return blocks;
}
const spanOf = ({ method, params }: Request): number | null => {
  const filter = (params as readonly { fromBlock?: Hex; toBlock?: Hex }[])[0];
  if (method !== 'eth_getLogs' || filter?.fromBlock === undefined) return null;
  return Number(filter.toBlock) - Number(filter.fromBlock) + 1;
};
const logsIn = (request: Request, fake: () => FakeNode): number => {
  const filter = (request.params as readonly { fromBlock?: Hex; toBlock?: Hex }[])[0];
  const blocks = fake().blocks.slice(Number(filter?.fromBlock), Number(filter?.toBlock) + 1);
  return blocks.reduce((sum, block) => sum + block.logs, 0);
};
/** Live events into a list one can wait on. */
function listen(source: ReturnType<typeof sourceOf>['source']) {
  const stop = new AbortController();
  const events: LiveEvent[] = [];
  let wake: () => void = () => undefined;
  const done = (async () => {
    for await (const event of source.live(stop.signal)) {
      events.push(event);
      wake();
    }
  })();
  done.catch(() => wake());
  cleanups.push(() => stop.abort());
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const heads = () => events.flatMap((event) => (event.type === 'head' ? [event.block.number] : []));
  return { events, until, stop, done, heads };
}
const waitFor = async (isTrue: () => boolean) => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2));
};

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
    ['HTTP 413', (request) => ((spanOf(request) ?? 0) > 9 ? { status: 413 } : undefined)],
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
});

describe('finality', () => {
  it('reads the finalized tag, and never falls back once it was known', async () => {
    const fake = await node({ length: 300 });
    fake.finalize(290);
    const { source } = sourceOf(fake);
    expect(await source.finalizedNumber()).toBe(290);
    fake.finalize(null);
    await expect(source.finalizedNumber()).rejects.toThrow(RetryableError);
    expect(await sourceOf(fake, {}, 7).source.historyRange(null, never)).toEqual({ fromBlock: 7, toBlock: 171 });
  });
  it('never falls back in a later source of the process', async () => {
    const fake = await node({ length: 300 });
    const network = { isVerified: false, hasFinalizedTag: false };
    const next = () => sourceOf(fake, {}, 7, undefined, network).source;
    fake.finalize(290);
    expect(await next().finalizedNumber()).toBe(290);
    fake.finalize(null);
    await expect(next().finalizedNumber()).rejects.toThrow(RetryableError);
  });
  it('uses a fixed depth on a node that rejects the tag', async () => {
    const fake = await node({
      length: 300,
      override: ({ params }) =>
        (params as readonly unknown[])[0] === 'finalized'
          ? { error: { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' } }
          : undefined,
    });
    expect(await sourceOf(fake, { fallbackFinalityDepth: 20 }).source.finalizedNumber()).toBe(279);
  });
  it('does not use a fixed depth for a busy node', async () => {
    const fake = await node({
      length: 300,
      override: ({ params }) => ((params as readonly unknown[])[0] === 'finalized' ? { status: 503 } : undefined),
    });
    await expect(sourceOf(fake).source.finalizedNumber()).rejects.toThrow(RetryableError);
  });
  it('rejects a node of another network', async () => {
    const fake = await node({ override: ({ method }) => (method === 'eth_chainId' ? { result: '0x1' } : undefined) });
    const { source } = sourceOf(fake);
    await expect(source.historyRange(null, never)).rejects.toThrow(FatalError);
    await expect(listen(source).done).rejects.toThrow('chain id 1');
  });
  it('of another network is an error to be retried when the process has read the right one from it', async () => {
    let chainId = '0x89';
    const fake = await node({ override: ({ method }) => (method === 'eth_chainId' ? { result: chainId } : undefined) });
    const network = { isVerified: false, hasFinalizedTag: false };
    await sourceOf(fake, {}, undefined, undefined, network).source.historyRange(null, never);
    chainId = '0x1';
    const restarted = sourceOf(fake, {}, undefined, undefined, network).source;
    const failure = await restarted.historyRange(null, never).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RetryableError);
    expect(String(failure)).toMatch(/chain id 1 instead of 137, which it had before/);
    chainId = '0x89';
    await restarted.historyRange(null, never);
  });
});

describe('live', () => {
  it('sends the current head, then each new one with its logs, and the finalised block', async () => {
    const fake = await node({ length: 5 });
    fake.finalize(2);
    const live = listen(sourceOf(fake).source);
    await live.until(() => live.heads().includes(4));
    fake.finalize(3);
    fake.announce(fake.mine(2));
    await live.until(
      () => live.heads().includes(5) && live.events.some((e) => e.type === 'finalized' && e.number === 3),
    );
    const head = live.events.find((event) => event.type === 'head' && event.block.number === 5);
    expect(head).toMatchObject({ block: { txCount: 3, parentHash: fake.blocks[4]!.hash } });
    expect(head?.type === 'head' && head.block.logs).toHaveLength(2);
    expect(live.events.filter((event) => event.type === 'finalized')).toEqual([
      { type: 'finalized', number: 2, hash: fake.blocks[2]!.hash },
      { type: 'finalized', number: 3, hash: fake.blocks[3]!.hash },
    ]);
    live.stop.abort();
    await live.done;
  });

  it('reconnects after a disconnect, reports it, and sends the missed head', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake, { live: { reconnect: { attempts: 1, baseMs: 1, maxMs: 2 } } }).source);
    await live.until(() => live.heads().includes(2));
    fake.cut();
    for (let i = 0; i < 5; i += 1) fake.mine();
    await live.until(() => live.heads().includes(7));
    const connected = live.events.filter((event) => event.type === 'connected').map((event) => event.connected);
    expect(connected.slice(0, 3)).toEqual([true, false, true]);
  });

  it('reconnects after silence of the subscription', async () => {
    const fake = await node({ length: 3 });
    const live = listen(
      sourceOf(fake, { live: { staleMs: 40, reconnect: { attempts: 1, baseMs: 1, maxMs: 2 } } }).source,
    );
    await live.until(() => live.events.some((event) => event.type === 'connected' && !event.connected));
    const lost = live.events.find((event) => event.type === 'connected' && !event.connected);
    expect(lost?.type === 'connected' && lost.detail).toContain('no head for 40 ms');
    fake.mine();
    await live.until(() => live.heads().includes(3));
  });

  it('requests the head when a log arrives before its head', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake, { live: { hintDelayMs: 5 } }).source);
    await live.until(() => live.heads().includes(2));
    await waitFor(() => fake.subscribed('logs'));
    fake.mine(1);
    fake.notify('logs', { blockNumber: '0x3' });
    await live.until(() => live.heads().includes(3));
  });

  it('survives unreadable heads and frames', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake).source);
    await live.until(() => live.heads().includes(2));
    fake.raw('{not json');
    fake.raw('null');
    fake.raw('[null]');
    fake.notify('newHeads', { number: 'x' });
    fake.notify('newHeads', 7);
    fake.announce(fake.mine(0));
    await live.until(() => live.heads().includes(3));
  });

  const transaction = (id: number, to: string) => ({
    hash: hash(id),
    from: '0x01',
    to,
    input: '0x3c2b4399',
    blockNumber: null,
  });
  const pendings = (events: readonly LiveEvent[]) =>
    events.flatMap((event) => (event.type === 'pending' ? [event.transaction.hash] : []));

  it('reports full pending transactions to watched contracts only', async () => {
    const fake = await node({ length: 3 });
    const live = listen(sourceOf(fake).source);
    await waitFor(() => fake.subscribed('newPendingTransactions'));
    fake.notify('newPendingTransactions', transaction(1, '0x00000000000000000000000000000000000000aa'));
    fake.notify('newPendingTransactions', { hash: 5 });
    fake.notify('newPendingTransactions', { ...transaction(3, EXCHANGE), blockNumber: '0x2' });
    fake.notify('newPendingTransactions', transaction(2, '0xE111180000d2663C0091e4f400237545B87B996B'));
    await live.until(() => pendings(live.events).length > 0);
    expect(pendings(live.events)).toEqual([hash(2)]);
  });

  it('falls back to hashes read one by one', async () => {
    const fake = await node({
      length: 3,
      override: ({ method, params }) => {
        const [first, second] = params as readonly unknown[];
        if (method === 'eth_subscribe' && first === 'newPendingTransactions' && second === undefined) return undefined;
        if (method === 'eth_subscribe' && String(first).toLowerCase().includes('pending')) {
          return { error: { code: -32602, message: 'too many arguments, want at most 1' } };
        }
        if (method !== 'eth_getTransactionByHash') return undefined;
        return { result: first === hash(9) ? transaction(9, EXCHANGE) : null };
      },
    });
    const live = listen(sourceOf(fake).source);
    await waitFor(() => fake.subscribed('newPendingTransactions'));
    fake.notify('newPendingTransactions', hash(8));
    fake.notify('newPendingTransactions', hash(9));
    await live.until(() => pendings(live.events).length > 0);
    expect(pendings(live.events)).toEqual([hash(9)]);
  });

  it('runs without pending transactions where the node has no such subscription', async () => {
    const fake = await node({
      length: 3,
      override: ({ method, params }) =>
        method === 'eth_subscribe' &&
        String((params as readonly unknown[])[0])
          .toLowerCase()
          .includes('pending')
          ? { error: { code: -32601, message: 'not available' } }
          : undefined,
    });
    const live = listen(sourceOf(fake).source);
    await waitFor(() => fake.seen.filter(({ method }) => method === 'eth_subscribe').length === 6);
    fake.announce(fake.mine(0));
    await live.until(() => live.heads().includes(3));
  });
});
