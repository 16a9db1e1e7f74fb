import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import type { SourceBlock } from '../../ingest/chain/source.js';
import { topics } from '../../schemas/topics.js';
import { eventsOf, freshLog, pendingTx, reduceHead } from '../support/chain-harness.js';
import { FakeNode, txHash } from '../support/fake-chain.js';
import { appendFinal, followed, tracking } from '../support/head-tracking.js';

const idsOf = (node: FakeNode, from: number) => node.blocks.slice(from).map(({ hash }) => hash);

describe('head tracker, after missed blocks,', () => {
  it('fills a wide gap forward by number, also when the block before the gap was replaced', async () => {
    const log = await freshLog();
    const node = new FakeNode(2);
    const { tracker, ranges } = await tracking(log, node, { maxParentFetchBlocks: 4 });
    const before = node.mine([{ tx: 1 }]);
    tracker.onHead(before, 1);
    await tracker.idle();
    node.fork(1);
    for (let i = 0; i < 120; i += 1) node.mine([{ tx: 1000 + i }]);
    tracker.onHead(node.tip, 2);
    await tracker.idle();
    const chain = reduceHead(log);
    expect(chain.map(({ hash }) => hash)).toEqual(idsOf(node, 2));
    expect(chain).toHaveLength(120);
    expect(ranges).toEqual([['reread', before.number + 1, node.tip.number - 1]]);
  });

  it.each([
    ['by number', 4, 'byNumber'],
    ['by parent hash', 32, 'byHash'],
  ] as const)(
    'reads missed blocks %s again whose logs the node has not indexed yet, up to three times',
    async (_name, maxParentFetchBlocks, method) => {
      const log = await freshLog();
      const node = new FakeNode(2);
      const reads = new Map<number, number>();
      const read = node[method] as (key: never) => Promise<SourceBlock | null>;
      const late = async (key: never): Promise<SourceBlock | null> => {
        const block = await read(key);
        if (block === null) return null;
        const count = (reads.get(block.number) ?? 0) + 1;
        reads.set(block.number, count);
        // Block 5 is indexed at the third read, block 6 is empty for good.
        const isLate = block.number === 6 || (block.number === 5 && count < 3);
        return isLate ? { ...block, logs: [], logsMayBeMissing: true } : block;
      };
      Object.assign(node, { [method]: late });
      const { tracker } = await tracking(log, node, { maxParentFetchBlocks });
      tracker.onHead(node.tip, 1);
      for (let number = 2; number <= 7; number += 1) node.mine(number === 5 ? [{ tx: 5 }] : []);
      tracker.onHead(node.tip, 2);
      await tracker.idle();
      const trades = eventsOf(log, topics.chainHead.name).filter(({ kind }) => kind === 'trade');
      expect(trades.map(({ value }) => value)).toMatchObject([{ block_number: 5, tx_hash: txHash(5) }]);
      expect(reduceHead(log).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      expect([2, 3, 4, 5, 6].map((number) => reads.get(number))).toEqual([1, 1, 1, 3, 3]);
    },
  );

  it('reports a gap as read up to the last block that the node returned', async () => {
    const log = await freshLog();
    const node = new FakeNode(2);
    const { byNumber, byHash } = node;
    let highest = 0;
    Object.assign(node, {
      byNumber: async (number: number) => (number > highest ? null : byNumber(number)),
      byHash: async (hash: (typeof node.tip)['hash']) => {
        const block = await byHash(hash);
        return block === null || block.number > highest ? null : block;
      },
    });
    const { tracker, ranges } = await tracking(log, node, { maxParentFetchBlocks: 4 });
    const first = node.tip.number;
    tracker.onHead(node.tip, 1);
    for (let i = 0; i < 60; i += 1) node.mine([]);
    tracker.onHead(node.tip, 2);
    await tracker.idle();
    expect(ranges).toEqual([]);
    highest = first + 40;
    tracker.onHead(node.mine([]), 3);
    await tracker.idle();
    expect(ranges).toEqual([['reread', first + 1, first + 40]]);
    highest = Number.POSITIVE_INFINITY;
    tracker.onHead(node.mine([]), 4);
    await tracker.idle();
    expect(ranges.slice(1)).toEqual([['reread', first + 41, node.tip.number - 1]]);
  });

  it('resumes at the head when a gap exceeds the limit, and counts the skipped blocks', async () => {
    const log = await freshLog();
    const node = new FakeNode(2);
    const { tracker, registry, ranges } = await tracking(log, node, { maxGapBlocks: 50 });
    tracker.onHead(node.tip, 1);
    for (let i = 0; i < 60; i += 1) node.mine([]);
    tracker.onHead(node.tip, 2);
    await tracker.idle();
    const numbers = eventsOf(log, topics.chainHead.name).map(
      (event) => event.kind === 'block' && event.value.block_number,
    );
    expect(numbers).toEqual([1, 61]);
    expect(ranges).toEqual([['gap', 2, 60]]);
    expect(await registry.registry.metrics()).toContain('chain_head_skipped_blocks_total{process="test"} 59');
  });

  it.each([
    [15, 'the pending time before the final block'],
    [180, 'the recovery window'],
  ])(
    'finds its newest block at a restart after %i minutes though only a settlement is newer than %s',
    async (minutes) => {
      const { log, node } = await followed(41);
      // Ingest was down; chain.final has caught up.
      for (let i = 0; i < minutes * 30; i += 1) node.mine([]);
      await appendFinal(log, node.tip);
      const second = await tracking(log, node);
      second.tracker.onPending(pendingTx(1), node.tip.timestampS * 1000);
      await second.tracker.idle();
      const { tracker, ranges } = await tracking(log, node);
      expect(tracker.head).toBe(40);
      tracker.onHead(node.tip, 2);
      await tracker.idle();
      expect(reduceHead(log).map(({ number }) => number)).toEqual(node.blocks.slice(1).map(({ number }) => number));
      expect(ranges).toEqual([['reread', 41, node.tip.number - 1]]);
    },
  );

  it('reports the blocks that it wrote when a request for others fails', async () => {
    const log = await freshLog();
    const node = new FakeNode(2);
    const { byNumber } = node;
    node.byNumber = async (number) => {
      if (number > 20) throw new RetryableError('node is unreachable');
      return byNumber(number);
    };
    const { tracker, ranges } = await tracking(log, node, { maxParentFetchBlocks: 4 });
    tracker.onHead(node.tip, 1);
    for (let i = 0; i < 60; i += 1) node.mine([]);
    tracker.onHead(node.tip, 2);
    await expect(tracker.failed).rejects.toThrow('node is unreachable');
    await tracker.idle();
    expect(reduceHead(log).at(-1)?.number).toBe(17);
    expect(ranges).toEqual([['reread', 2, 17]]);
  });

  it('reports the blocks after the newest final one as a gap at a restart after all blocks of chain.head were deleted', async () => {
    const { log, node } = await followed(41);
    await appendFinal(log, node.blocks[30]!);
    const { next } = await log.bounds(topics.chainHead.name, 0);
    await log.deleteBefore(topics.chainHead.name, 0, next);
    const { tracker, registry, ranges } = await tracking(log, node);
    tracker.onHead(node.tip, 1);
    tracker.onHead(node.mine([]), 2);
    await tracker.idle();
    expect(reduceHead(log).map(({ number }) => number)).toEqual([40, 41]);
    expect(ranges).toEqual([['gap', 31, 39]]);
    expect(await registry.registry.metrics()).toContain('chain_head_skipped_blocks_total{process="test"} 9');
  });

  it('reports no gap if chain.head has never had a block', async () => {
    const log = await freshLog();
    const node = new FakeNode(41);
    await appendFinal(log, node.blocks[30]!);
    const first = await tracking(log, node);
    first.tracker.onPending(pendingTx(1), node.tip.timestampS * 1000);
    await first.tracker.idle();
    const { tracker, ranges } = await tracking(log, node);
    tracker.onHead(node.tip, 1);
    await tracker.idle();
    expect(ranges).toEqual([]);
  });
});
