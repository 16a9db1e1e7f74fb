import { RetryableError } from '../../../infra/errors.js';
import type { Logger } from '../../../infra/telemetry/logger.js';
import type { Gauge } from '../../../infra/telemetry/metrics.js';
import { pause } from '../../shared/pause.js';
import type { SourceBlock } from '../source.js';
import { backoffMs, type RetryPolicy } from './retry-policy.js';
import { classifyRpcError, isBeyondHead, mayBeTooLong, requestedDelayMs } from './rpc-error.js';

/** Blocks with logs of watched contracts in `fromBlock..toBlock`, ascending. */
export interface BlockRange {
  readonly fromBlock: number;
  readonly toBlock: number;
  readonly blocks: readonly SourceBlock[];
}

export interface LogRangeOptions {
  readonly startBlocks: number;
  readonly maxBlocks: number;
  /** Range sizes are adjusted towards this many logs per response, which bounds memory and the node's work. */
  readonly targetLogs: number;
  readonly inFlight: number;
  /** Successful responses before a limit that the node reported is tried again. */
  readonly successesBeforeLimitRetry: number;
  /** Successful responses after an error before ranges grow again. */
  readonly successesBeforeGrowth: number;
  readonly retryPolicy: RetryPolicy;
}

const logRangeDefaults: LogRangeOptions = {
  startBlocks: 100,
  maxBlocks: 10_000,
  targetLogs: 5000,
  inFlight: 4,
  successesBeforeLimitRetry: 500,
  successesBeforeGrowth: 16,
  retryPolicy: { attempts: 8, baseMs: 250, maxMs: 15_000 },
};

/**
 * Reads every block with logs of a range in chunks of the largest size that the node accepts: halved on errors (or set to the suggested
 * size), grown while responses are small. Several requests run concurrently; chunks are returned in order.
 */
export function createLogRangeReader(deps: {
  /** One eth_getLogs with the headers of its blocks. */
  read: (fromBlock: number, toBlock: number) => Promise<readonly SourceBlock[]>;
  logger: Logger;
  rangeSize: Gauge;
  options?: Partial<LogRangeOptions>;
}): (fromBlock: number, toBlock: number, signal: AbortSignal) => AsyncIterable<BlockRange> {
  const options = { ...logRangeDefaults, ...deps.options };
  let size = options.startBlocks;
  let ceiling = options.maxBlocks;
  let goodSinceLimit = 0;
  let goodBeforeGrowth = 0;
  const resize = (blocks: number) => {
    size = Math.max(1, Math.min(Math.floor(blocks), ceiling, options.maxBlocks));
    deps.rangeSize.set(size);
  };

  const grow = (blocks: number, logs: number) => {
    goodSinceLimit += 1;
    if (ceiling < options.maxBlocks && goodSinceLimit >= options.successesBeforeLimitRetry) {
      ceiling = Math.min(options.maxBlocks, ceiling * 2);
      goodSinceLimit = 0;
    }
    if (goodBeforeGrowth > 0) {
      goodBeforeGrowth -= 1;
      return;
    }
    // A short last chunk is no evidence for larger ones.
    if (blocks < size) return;
    resize(Math.min(size * 2, logs === 0 ? size * 2 : Math.ceil((blocks * options.targetLogs) / logs)));
  };
  const shrink = (blocks: number, error: unknown): number => {
    const failure = classifyRpcError(error);
    goodBeforeGrowth = options.successesBeforeGrowth;
    let next = Math.floor(blocks / 2);
    if (failure.kind === 'too_large') {
      if (failure.suggested !== null) next = failure.suggested.to - failure.suggested.from + 1;
      else if (failure.maxBlocks !== null) next = failure.maxBlocks;
      if (failure.maxBlocks !== null && failure.maxBlocks < blocks) {
        ceiling = Math.max(1, failure.maxBlocks);
        goodSinceLimit = 0;
      }
    }
    // The size must decrease, or a wrong suggestion would cause an endless loop.
    next = Math.max(1, Math.min(next, blocks - 1));
    if (next < size) resize(next);
    return next;
  };

  const fetch = async (fromBlock: number, toBlock: number, signal: AbortSignal): Promise<SourceBlock[]> => {
    const out: SourceBlock[] = [];
    let from = fromBlock;
    let step = toBlock - fromBlock + 1;
    let failures = 0;
    while (from <= toBlock) {
      const to = Math.min(from + step - 1, toBlock);
      const blocks = to - from + 1;
      try {
        let logs = 0;
        for (const block of await deps.read(from, to)) {
          out.push(block);
          logs += block.logs.length;
        }
        grow(blocks, logs);
        from = to + 1;
        failures = 0;
        step = Math.max(step, Math.min(size, step * 2));
      } catch (error) {
        failures += 1;
        const { kind } = classifyRpcError(error);
        const text = error instanceof Error ? error.message : String(error);
        const what = `Logs of blocks ${from}..${to}: ${text}`;
        const stuck = blocks === 1 && kind === 'too_large' && failures > 3;
        const divisible = blocks > 1 && mayBeTooLong(error);
        const final = kind === 'rejected' && !divisible;
        if (signal.aborted || final || stuck || failures > options.retryPolicy.attempts + 16) {
          throw new RetryableError(what, { cause: error });
        }
        deps.logger.debug({ from, to, kind, err: text }, 'log range failed');
        const mayHelp = divisible || (failures > 2 && !isBeyondHead(error));
        if (blocks > 1 && mayHelp) step = shrink(blocks, error);
        if (kind === 'rate_limited' || kind === 'transient' || blocks === 1) {
          // A shorter range is another request.
          const counts = kind !== 'transient' || !divisible;
          if (counts && failures > options.retryPolicy.attempts) throw new RetryableError(what, { cause: error });
          await pause(Math.max(requestedDelayMs(error), backoffMs(failures, options.retryPolicy)), signal);
        }
      }
    }
    return out;
  };

  return async function* ranges(fromBlock, toBlock, signal) {
    const queue: { from: number; to: number; blocks: Promise<SourceBlock[]> }[] = [];
    let cursor = fromBlock;
    while (!signal.aborted) {
      while (queue.length < options.inFlight && cursor <= toBlock) {
        const from = cursor;
        const to = Math.min(from + size - 1, toBlock);
        const blocks = fetch(from, to, signal);
        // Chunks are awaited in order below; an earlier rejection of a later chunk must not end the process.
        blocks.catch(() => undefined);
        queue.push({ from, to, blocks });
        cursor = to + 1;
        // Concurrency starts after the size of the first chunk is known.
        if (from === fromBlock) break;
      }
      const next = queue.shift();
      if (next === undefined) return;
      yield { fromBlock: next.from, toBlock: next.to, blocks: await next.blocks };
    }
  };
}
