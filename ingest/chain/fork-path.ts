import { setTimeout as sleep } from 'node:timers/promises';
import type { HeadState } from './head-state.js';
import { readsOfEmptyBlock } from './late-logs.js';
import type { ChainSource, SourceBlock } from './source.js';

const FETCH_ATTEMPTS = 5;

/** Returns a function that reads the blocks from the tail's fork point up to `block`, ascending; null when the node cannot provide one of them. */
export function createForkPath(deps: {
  source: Pick<ChainSource, 'blockByHash'>;
  state: Pick<HeadState, 'byHash' | 'lowest'>;
  signal: AbortSignal;
  /** Delay before the next request of a block that the node does not have yet. */
  retryDelayMs: number;
}): (block: SourceBlock) => Promise<SourceBlock[] | null> {
  const { source, state, signal } = deps;

  const parentOf = async (block: SourceBlock, head: number): Promise<SourceBlock | null> => {
    const emptyAttempts = readsOfEmptyBlock(block.number - 1, head);
    for (let attempt = 1; attempt <= FETCH_ATTEMPTS && !signal.aborted; attempt += 1) {
      const parent = await source.blockByHash(block.parentHash);
      if (parent !== null && (parent.logsMayBeMissing !== true || attempt >= emptyAttempts)) return parent;
      if (attempt < FETCH_ATTEMPTS) await sleep(deps.retryDelayMs, undefined, { signal, ref: false });
    }
    return null;
  };

  return async (block) => {
    const path = [block];
    const lowest = state.lowest();
    if (lowest === undefined) return path;
    let cursor = block;
    while (state.byHash(cursor.parentHash) === undefined && cursor.number > lowest.number) {
      const parent = await parentOf(cursor, block.number);
      if (parent === null) return null;
      path.push(parent);
      cursor = parent;
    }
    return path.reverse();
  };
}
