import type { MemoryLog } from '../../infra/log/testing.js';
import { createHeadTracker, type HeadTrackerOptions } from '../../ingest/chain/head-tracker.js';
import type { SourceBlock } from '../../ingest/chain/source.js';
import { topics } from '../../schemas/topics.js';
import { chainParts, freshLog } from './chain-harness.js';
import { FakeNode } from './fake-chain.js';

/** A tracker over the log and the node that has recovered its state, and the ranges of blocks that it reported. */
export async function tracking(
  log: MemoryLog,
  node: FakeNode,
  options: Partial<HeadTrackerOptions> = {},
  now: () => number = () => 5000,
) {
  const stop = new AbortController();
  const parts = chainParts(log);
  const ranges: (readonly ['reread' | 'gap', number, number])[] = [];
  const tracker = createHeadTracker({
    ...parts,
    source: { blockByHash: node.byHash, blockByNumber: node.byNumber },
    signal: stop.signal,
    now,
    reread: {
      begin: async () => undefined,
      end(from, to) {
        if (to >= from) ranges.push(['reread', from, to]);
      },
    },
    onGap: (from, to) => void ranges.push(['gap', from, to]),
    options: { retryDelayMs: 1, ...options },
  });
  await tracker.recover();
  return { ...parts, tracker, stop, ranges };
}

/** Appends the block to chain.final. */
export const appendFinal = async (log: MemoryLog, block: SourceBlock) =>
  log.append(topics.chainFinal.name, [chainParts(log).encodeBlock(block).block]);

/** A chain, and the log of a tracker that has written all of it but the first block. */
export async function followed(length: number) {
  const log = await freshLog();
  const node = new FakeNode(length);
  const { tracker } = await tracking(log, node);
  for (const block of node.blocks.slice(1)) tracker.onHead(block, 1);
  await tracker.idle();
  return { log, node };
}
