import type { Logger } from '../../infra/telemetry/logger.js';
import { pause } from '../shared/pause.js';
import type { ChainMetrics } from './chain-metrics.js';
import type { HeadState } from './head-state.js';
import { readsOfEmptyBlock } from './late-logs.js';
import type { ChainSource, SourceBlock } from './source.js';

const GAP_CHUNK = 16;

/** Reports ranges of blocks that were missed live and are read after the fact; both ends inclusive. */
export interface RereadReport {
  /** Awaited before the first block of the range is written: a process that is killed before `end` reports what it wrote at its next start. */
  begin(fromBlock: number, toBlock: number): Promise<void>;
  /** The blocks up to `toBlock` are written; none if it is less than `fromBlock`. */
  end(fromBlock: number, toBlock: number): void;
}

/**
 * Returns a function that writes the missing blocks below a new head if they are too many to be read by parent hash, and reports the range that it wrote, also when
 * it fails. A gap that is too wide, or whose first block is known from chain.final only, is reported and stays open.
 */
export function createGapFill(deps: {
  source: Pick<ChainSource, 'blockByNumber'>;
  state: Pick<HeadState, 'tip' | 'byHash' | 'reset'>;
  /** Writes a block after its parents. */
  advance: (block: SourceBlock) => Promise<unknown>;
  maxParentFetchBlocks: number;
  maxGapBlocks: number;
  /** Delay before the next request of a block that the node may not have indexed yet. */
  retryDelayMs: number;
  reread: RereadReport;
  /** Awaited before the block after the gap is written. */
  onGap?: (fromBlock: number, toBlock: number) => Promise<void> | void;
  metrics: Pick<ChainMetrics, 'skippedBlocks'>;
  logger: Logger;
  signal: AbortSignal;
}): (head: SourceBlock, missingAfter: number | null) => Promise<void> {
  const { source, state, metrics, logger, signal } = deps;

  const skip = async (after: number, head: SourceBlock, reason: string): Promise<void> => {
    logger.error({ after, head: head.number }, `${reason}: chain.head resumes at the head of the node`);
    metrics.skippedBlocks.inc(head.number - after - 1);
    await deps.onGap?.(after + 1, head.number - 1);
  };

  const read = async (number: number, head: number): Promise<SourceBlock | null> => {
    const emptyAttempts = readsOfEmptyBlock(number, head);
    for (let attempt = 1; ; attempt += 1) {
      const block = await source.blockByNumber(number);
      if (block?.logsMayBeMissing !== true || attempt >= emptyAttempts || signal.aborted) return block;
      await pause(deps.retryDelayMs, signal);
    }
  };

  const fill = async (after: number, head: SourceBlock): Promise<void> => {
    for (let from = after + 1; from < head.number && !signal.aborted; from += GAP_CHUNK) {
      const numbers = Array.from({ length: Math.min(GAP_CHUNK, head.number - from) }, (_, index) => from + index);
      const blocks = await Promise.all(numbers.map((number) => read(number, head.number)));
      for (const block of blocks) if (block !== null) await deps.advance(block);
    }
  };

  return async (head, missingAfter) => {
    const tip = state.tip();
    if (tip === undefined) {
      if (missingAfter !== null && head.number - missingAfter > 1)
        await skip(missingAfter, head, 'chain.head contains no block any more');
      return;
    }
    if (head.number - tip.number <= deps.maxParentFetchBlocks) return;
    if (state.byHash(head.parentHash) !== undefined) return;
    if (head.number - tip.number > deps.maxGapBlocks) {
      state.reset();
      await skip(tip.number, head, 'gap too wide');
      return;
    }
    logger.info({ after: tip.number, head: head.number }, 'filling a gap in chain.head');
    await deps.reread.begin(tip.number + 1, head.number - 1);
    try {
      await fill(tip.number, head);
    } finally {
      // The node may lack some of the blocks.
      deps.reread.end(tip.number + 1, state.tip()?.number ?? 0);
    }
  };
}
