import { type Logger, silentLogger } from '../../../infra/telemetry/logger.js';
import { createMetrics } from '../../../infra/telemetry/metrics.js';
import type { Hex, LiveEvent, RpcLog, SourceBlock } from '../source.js';
import { type FakeNode, hash, type Request, startFakeNode } from './fake-node.fixture.js';
import { createRpcSource, type NetworkState, type RpcSourceOptions } from './rpc-source.js';

export const EXCHANGE: Hex = '0xe111180000d2663c0091e4f400237545b87b996b';
const cleanups: (() => Promise<void> | void)[] = [];

/** Closes the nodes and sources of the test that has ended. */
export async function closeAll(): Promise<void> {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
}

/** Starts a fake node. */
export async function node(options: Parameters<typeof startFakeNode>[0]): Promise<FakeNode> {
  const started = await startFakeNode(options);
  cleanups.push(() => started.close());
  return started;
}

/** A source of the fake node. */
export function sourceOf(
  fake: FakeNode,
  options: Partial<RpcSourceOptions> = {},
  startBlock?: number,
  skips: (log: RpcLog) => boolean = () => false,
  network?: NetworkState,
  logger: Logger = silentLogger(),
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
    logger,
    metrics,
    options: { retryPolicy: { attempts: 4, baseMs: 1, maxMs: 2 }, emptyBlocks: { pauseMs: 1 }, ...options },
  });
  cleanups.push(() => source.close());
  return { source, metrics };
}

export const never = new AbortController().signal;

export async function historyOf(source: ReturnType<typeof sourceOf>['source'], fromBlock: number, toBlock: number) {
  const blocks: SourceBlock[] = [];
  for await (const block of source.history({ fromBlock, toBlock }, never)) blocks.push(block);
  return blocks;
}

/** Number of blocks of an eth_getLogs request; null for other requests. */
export const spanOf = ({ method, params }: Request): number | null => {
  const filter = (params as readonly { fromBlock?: Hex; toBlock?: Hex }[])[0];
  if (method !== 'eth_getLogs' || filter?.fromBlock === undefined) return null;
  return Number(filter.toBlock) - Number(filter.fromBlock) + 1;
};

/** Number of logs in the blocks of an eth_getLogs request. */
export const logsIn = (request: Request, fake: () => FakeNode): number => {
  const filter = (request.params as readonly { fromBlock?: Hex; toBlock?: Hex }[])[0];
  const blocks = fake().blocks.slice(Number(filter?.fromBlock), Number(filter?.toBlock) + 1);
  return blocks.reduce((sum, block) => sum + block.logs, 0);
};

/** Live events into a list one can wait on. */
export function listen(source: ReturnType<typeof sourceOf>['source']) {
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

export const waitFor = async (isTrue: () => boolean) => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 2));
};
