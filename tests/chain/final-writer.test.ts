import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FatalError, RetryableError } from '../../infra/errors.js';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createMemoryStore, type MemoryLog } from '../../infra/log/testing.js';
import { createFinalWriter } from '../../ingest/chain/final-writer.js';
import type { HistoryRange, SourceBlock } from '../../ingest/chain/source.js';
import { topics } from '../../schemas/topics.js';
import { chainParts, eventsOf, freshLog } from '../support/chain-harness.js';
import { createFakeSource, FakeNode } from '../support/fake-chain.js';

const topic = topics.chainFinal.name;

/** Expected content of chain.final: every fill of every block with logs, then the block record. */
function expected(blocks: readonly SourceBlock[]): string[] {
  return blocks
    .filter((block) => block.logs.length > 0)
    .flatMap((block) => [
      ...block.logs.map((log) => `${log.transactionHash}-${Number(log.logIndex)}`),
      `block-${block.number} ${block.hash}`,
    ]);
}
const decodedEvents = (log: MemoryLog) =>
  eventsOf(log, topic).map((event) => {
    if (event.kind === 'block') return `${event.value.id} ${event.value.block_hash}`;
    return event.kind === 'trade' ? event.value.id : event.kind;
  });

function writing(log: MemoryLog, node: FakeNode, batchRecords = 5) {
  const parts = chainParts(log);
  const ranges: HistoryRange[] = [];
  const { source } = createFakeSource(node);
  const watched = {
    ...source,
    history: (range: HistoryRange) => {
      ranges.push(range);
      return node.history(range);
    },
  };
  const stop = new AbortController();
  const writer = createFinalWriter({ ...parts, source: watched, batchRecords, retryDelayMs: 1 });
  const done = writer.run(stop.signal);
  done.catch(() => undefined);
  const until = async (number: number) => {
    const last = node.blocks.findLast((block) => block.number <= number && block.logs.length > 0)?.number ?? -1;
    while ((writer.written ?? -1) < last) await Promise.race([yieldToEventLoop(), done]);
    for (let i = 0; i < 5; i += 1) await yieldToEventLoop();
  };
  return { ...parts, writer, stop, done, until, ranges };
}

function grown(length: number, from = new FakeNode(1)): FakeNode {
  for (let i = 0; i < length; i += 1) {
    from.mine(Array.from({ length: i % 4 }, (_, index) => ({ tx: from.blocks.length * 10 + index })));
  }
  return from;
}

describe('final writer', () => {
  it('writes the history, then final blocks, also thousands at once', async () => {
    const node = grown(100);
    node.finalized = 60;
    const log = await freshLog();
    const run = writing(log, node);
    await run.until(60);
    expect(decodedEvents(log)).toEqual(expected(node.blocks.slice(0, 61)));
    grown(3000, node);
    node.finalized = 3090;
    run.writer.onFinalized(3090, node.blocks[3090]!.hash);
    await run.until(3090);
    run.stop.abort();
    await run.done;
    expect(decodedEvents(log)).toEqual(expected(node.blocks.slice(0, 3091)));
    const numbers = eventsOf(log, topic).map((event) =>
      'block_number' in event.value ? event.value.block_number : -1,
    );
    expect(log.all(topic).map(({ key }) => key)).toEqual(numbers.map(String));
  });

  it('uses only cached blocks of the finalised branch', async () => {
    const node = grown(20);
    node.finalized = 10;
    const log = await freshLog();
    const run = writing(log, node);
    await run.until(10);
    const orphan = node.blocks.slice(11);
    for (const block of orphan) run.cache.put(run.encodeBlock(block));
    node.fork(10);
    grown(11, node);
    node.finalized = 15;
    run.writer.onFinalized(15, node.blocks[15]!.hash);
    await run.until(15);
    expect(decodedEvents(log)).toEqual(expected(node.blocks.slice(0, 16)));

    const reads = run.ranges.length;
    run.cache.rollback(0);
    for (const block of node.blocks.slice(16)) run.cache.put(run.encodeBlock(block));
    node.finalized = 20;
    run.writer.onFinalized(20, node.blocks[20]!.hash);
    await run.until(20);
    run.stop.abort();
    await run.done;
    expect(decodedEvents(log)).toEqual(expected(node.blocks.slice(0, 21)));
    expect(run.ranges.length).toBe(reads);
    expect([run.cache.get(20), run.cache.get(21)?.number]).toEqual([undefined, 21]);
  });

  it('reads cached blocks again whose logs were requested too early', async () => {
    const node = grown(20);
    node.finalized = 10;
    const log = await freshLog();
    const run = writing(log, node);
    await run.until(10);
    const reads = run.ranges.length;
    for (const block of node.blocks.slice(11)) {
      const isEarly = block.number === 14 || block.number === 15;
      run.cache.put(run.encodeBlock(isEarly ? { ...block, logs: [], logsMayBeMissing: true } : block));
    }
    expect(node.blocks[14]?.logs).not.toEqual([]);
    node.finalized = 19;
    run.writer.onFinalized(19, node.blocks[19]!.hash);
    await run.until(19);
    run.stop.abort();
    await run.done;
    expect(decodedEvents(log)).toEqual(expected(node.blocks.slice(0, 20)));
    expect(run.ranges.slice(reads)).toEqual([{ fromBlock: 14, toBlock: 15 }]);
  });

  it('reads a block again that does not link, and rejects when it never links', async () => {
    const node = grown(12);
    node.finalized = 10;
    const log = await freshLog();
    const run = writing(log, node);
    await run.until(10);
    run.stop.abort();
    await run.done;
    const other = new FakeNode(11, 1);
    other.mine([{ tx: 1 }]);
    other.finalized = 11;
    const again = writing(log, other);
    await expect(again.done).rejects.toThrow(RetryableError);
    expect(again.ranges.length).toBe(3);
    expect(decodedEvents(log)).toEqual(expected(node.blocks.slice(0, 11)));
  });

  it('ends a failed run only after its append, so that the next run writes no block twice', async () => {
    const node = grown(12);
    node.finalized = 10;
    const log = await freshLog();
    let open = (): void => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow: MemoryLog = {
      ...log,
      append: async (name, records) => {
        await opened;
        return log.append(name, records);
      },
    };
    const history = node.history.bind(node);
    node.history = async function* (range) {
      for await (const block of history(range)) {
        if (block.number === 8) throw new RetryableError('the node answered 400');
        yield block;
      }
    };
    const failed = writing(slow, node, 10);
    let hasEnded = false;
    failed.done.catch(() => {
      hasEnded = true;
    });
    for (let i = 0; i < 50; i += 1) await yieldToEventLoop();
    expect([hasEnded, decodedEvents(log)]).toEqual([false, []]);
    open();
    await expect(failed.done).rejects.toThrow('the node answered 400');
    expect(decodedEvents(log).length).toBeGreaterThan(5);
    node.history = history;
    const again = writing(log, node);
    await again.until(10);
    again.stop.abort();
    await again.done;
    expect(decodedEvents(log)).toEqual(expected(node.blocks.slice(0, 11)));
  });

  it('rejects when the partial block is not on the finalised chain', async () => {
    const node = grown(12);
    node.finalized = 7;
    const log = await freshLog();
    const run = writing(log, node);
    await run.until(7);
    run.stop.abort();
    await run.done;
    const cut = log.all(topic).slice(0, -1);
    const torn = await freshLog();
    await torn.append(topic, cut);
    const wrong = new FakeNode(1, 1);
    for (let i = 0; i < 12; i += 1) wrong.mine([{ tx: 1 }]);
    wrong.finalized = 12;
    await expect(writing(torn, wrong).done).rejects.toThrow(FatalError);
    const sparse = new FakeNode(20, 2);
    sparse.mine([{ tx: 1 }]);
    sparse.finalized = 20;
    await expect(writing(torn, sparse).done).rejects.toThrow(RetryableError);
  });

  it('writes malformed logs as dead letters', async () => {
    const node = new FakeNode(1);
    node.mine([{ tx: 1 }, { tx: 2, bad: true }]);
    node.finalized = 1;
    const log = await freshLog();
    const run = writing(log, node);
    await run.until(1);
    run.stop.abort();
    await run.done;
    await yieldToEventLoop();
    expect(eventsOf(log, topic).map(({ kind }) => kind)).toEqual(['trade', 'block']);
    expect(eventsOf(log, topics.deadLetters.name)[0]?.value).toMatchObject({ origin: 'test', stage: 'chain.decode' });
  });

  it('writes the finalised chain exactly once and in order after any crashes', async () => {
    const crash = fc.record({ after: fc.integer({ min: 0, max: 30 }), final: fc.integer({ min: 0, max: 25 }) });
    await fc.assert(
      fc.asyncProperty(fc.array(crash, { maxLength: 6 }), fc.integer({ min: 1, max: 9 }), async (crashes, batch) => {
        const node = grown(60);
        const store = createMemoryStore();
        for (const { after, final } of crashes) {
          let left = after;
          const log = await freshLog({
            store,
            onAppend: (to, records) => {
              if (to !== topic) return undefined;
              const torn = records.length > left ? left : undefined;
              left -= Math.min(records.length, left);
              return torn;
            },
          });
          node.finalized = Math.max(node.finalized, final);
          const run = writing(log, node, batch);
          for (let i = 0; i < 10; i += 1) await yieldToEventLoop();
          node.finalized = Math.min(60, node.finalized + 7);
          run.writer.onFinalized(node.finalized, node.blocks[node.finalized]!.hash);
          for (let i = 0; i < 10; i += 1) await yieldToEventLoop();
          run.stop.abort();
          log.crash();
        }
        node.finalized = 60;
        const log = await freshLog({ store });
        const run = writing(log, node, batch);
        while (!run.writer.historyDone) await yieldToEventLoop();
        run.stop.abort();
        await run.done;
        expect(decodedEvents(log)).toEqual(expected(node.blocks));
      }),
      { numRuns: 200 },
    );
  });
});
