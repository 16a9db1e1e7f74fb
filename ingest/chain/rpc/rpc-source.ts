import { FatalError, RetryableError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Metrics } from '../../../infra/telemetry/metrics.js';
import type { ChainSource, Hex, HistoryRange, RpcLog, SourceBlock } from '../source.js';
import {
  addressFilter,
  createBlockReader,
  joinBlock,
  type LogFilter,
  parseHeaderOf,
  parseLogs,
  toHex,
} from './blocks.js';
import { createEmptyBlockCheck, type EmptyBlockOptions } from './empty-blocks.js';
import { createFinality } from './finality.js';
import { createRpcClient } from './http-client.js';
import { createLiveFeed, type LiveFeedOptions } from './live-feed.js';
import { createLogRangeReader, type LogRangeOptions } from './log-ranges.js';
import { createPendingFeed } from './pending.js';
import { defaultRetryPolicy, type RetryPolicy, withRetry } from './retry-policy.js';
import { RpcError } from './rpc-error.js';

export interface RpcSourceOptions {
  readonly retryPolicy: RetryPolicy;
  readonly live: Partial<LiveFeedOptions>;
  readonly ranges: Partial<LogRangeOptions>;
  readonly emptyBlocks: Partial<EmptyBlockOptions>;
  /** Only for nodes without the `finalized` tag: blocks below the head that count as final. */
  readonly fallbackFinalityDepth: number;
  readonly requestTimeoutMs: number;
  readonly batchSize: number;
}

/** Shared by the sources that a process opens one after another. */
export interface NetworkState {
  /** The node has had the configured chain id: another one is an error of the node, not of the configuration. */
  isVerified: boolean;
  /** The node has had a finalised block: without one, it does not know it now. */
  hasFinalizedTag: boolean;
}

/**
 * Chain source of a live node: HTTP for reads, WebSocket for heads and the mempool. `startBlock` is the first block of an empty log;
 * default: the finalised block. Errors: FatalError for a network other than `chainId` unless `network` is
 * verified, RetryableError for an unreachable node.
 */
export function createRpcSource(deps: {
  rpcUrl: string;
  wsUrl: string;
  startBlock?: number;
  filter: LogFilter;
  /** Contracts whose pending transactions are reported, lower case. */
  pendingTo: readonly Hex[];
  chainId: number;
  network?: NetworkState;
  logger: Logger;
  metrics: Metrics;
  now?: () => number;
  options?: Partial<RpcSourceOptions>;
}): ChainSource {
  const { filter, metrics, network = { isVerified: false, hasFinalizedTag: false }, options = {} } = deps;
  const now = deps.now ?? Date.now;
  const retryPolicy = options.retryPolicy ?? defaultRetryPolicy;
  const host = new URL(deps.rpcUrl).host;
  const logger = deps.logger.child({ source: 'chain', node: host });
  const closing = new AbortController();
  const client = createRpcClient({
    url: deps.rpcUrl,
    metrics,
    logger,
    timeoutMs: options.requestTimeoutMs,
    batchSize: options.batchSize,
  });
  const reader = createBlockReader({ client, filter });
  const finality = createFinality({ reader, network, logger, fallbackDepth: options.fallbackFinalityDepth ?? 128 });
  const pending = createPendingFeed({ client, to: deps.pendingTo, logger, metrics, now });

  let checked = false;
  const checkNode = async () => {
    if (checked) return;
    const chainId = await client.request('eth_chainId', []);
    if (Number(chainId) !== deps.chainId) {
      const problem = `The node at ${host} has chain id ${Number(chainId)} instead of ${deps.chainId}`;
      if (network.isVerified) throw new RetryableError(`${problem}, which it had before`);
      throw new FatalError(`${problem}: check POLYGON_RPC_URL`);
    }
    checked = true;
    network.isVerified = true;
  };
  const retry = <T>(what: string, attempt: () => Promise<T>, signal: AbortSignal = closing.signal) =>
    withRetry(`${host}: ${what}`, signal, retryPolicy, attempt);

  const finalizedNumber = async (signal: AbortSignal = closing.signal): Promise<number> =>
    retry(
      'finalised block',
      async () => {
        const head = await reader.header('latest');
        const found = head === null ? null : await finality.read(head.number);
        if (found === null) throw new RpcError('The node has no finalised block now');
        return found.number;
      },
      signal,
    );

  const readRange = async (fromBlock: number, toBlock: number): Promise<SourceBlock[]> => {
    const range = { ...addressFilter(filter), fromBlock: toHex(fromBlock), toBlock: toHex(toBlock) };
    // Of a range beyond its own head, a node sends the logs it has. In one batch, the calls reach the same node behind a shared address;
    // the blocks near the end, which a node behind its head may lack, are checked after the range.
    const [logs, last] = await client.batch([
      { method: 'eth_getLogs', params: [range] },
      { method: 'eth_getBlockByNumber', params: [toHex(toBlock), false] },
    ]);
    for (const reply of [logs, last]) if (reply instanceof RpcError) throw reply;
    if (parseHeaderOf(toBlock, last) === null) throw new RpcError(`The node does not have block ${toBlock} yet`);
    const byNumber = new Map<number, RpcLog[]>();
    for (const log of parseLogs(logs, filter.skips)) {
      const number = Number(log.blockNumber);
      if (number < fromBlock || number > toBlock)
        throw new RpcError(`A log of block ${number} is outside the requested range`);
      const list = byNumber.get(number);
      if (list === undefined) byNumber.set(number, [log]);
      else list.push(log);
    }
    const numbers = [...byNumber.keys()];
    const headers = await retry('block headers', () => reader.headers(numbers));
    return headers.map((header) => {
      const logs = byNumber.get(header.number);
      if (logs === undefined || logs.some((log) => log.blockHash.toLowerCase() !== header.hash)) {
        throw new RpcError(`The logs of block ${header.number} belong to another branch than its header`);
      }
      return joinBlock(header, logs);
    });
  };
  const ranges = createLogRangeReader({
    read: readRange,
    logger,
    rangeSize: metrics.gauge('chain_rpc_log_range_blocks', 'Blocks requested per eth_getLogs'),
    options: { retryPolicy, ...options.ranges },
  });
  const completed = createEmptyBlockCheck({ reader, retry, options: options.emptyBlocks });

  return {
    mode: 'live',
    description: `live node ${host}`,
    shiftDays: null,
    recordedFromMs: null,
    async historyRange(resumeFrom, signal): Promise<HistoryRange> {
      await retry('chain id', checkNode, signal);
      const toBlock = await finalizedNumber(signal);
      return { fromBlock: resumeFrom ?? deps.startBlock ?? toBlock, toBlock };
    },
    async *history({ fromBlock, toBlock }, signal) {
      for await (const range of ranges(fromBlock, toBlock, signal)) {
        for (const block of await completed(range, toBlock, signal)) {
          if (signal.aborted) return;
          yield block;
        }
      }
    },
    live: createLiveFeed({
      wsUrl: deps.wsUrl,
      host,
      reader,
      filter,
      finality,
      startPending: pending.start,
      checkNode,
      logger,
      metrics,
      now,
      options: options.live,
    }),
    blockByHash: (hash) => retry('block by hash', () => reader.byHash(hash)),
    blockByNumber: (number) => retry('block by number', () => reader.byNumber(number)),
    finalizedNumber: () => finalizedNumber(),
    async close() {
      closing.abort();
      client.close();
    },
  };
}
