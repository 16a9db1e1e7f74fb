import { setTimeout as sleep } from 'node:timers/promises';
import type { HeadState } from './head-state.js';
import type { ChainSource, SourceBlock } from './source.js';

const FETCH_ATTEMPTS = 5;
/** Reads of a parent that stays empty, though its header admits logs: the header may admit logs that do not exist. */
const EMPTY_ATTEMPTS = 3;
/** Blocks below the head that a node may not have indexed yet; older ones are taken as the node returns them. */
const NEWEST_BLOCKS = 8;

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
    const emptyAttempts = head - block.number < NEWEST_BLOCKS ? EMPTY_ATTEMPTS : 1;
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
