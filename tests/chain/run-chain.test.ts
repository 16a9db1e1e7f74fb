import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { createMemoryLog, createMemoryStore, type MemoryLog } from '../../infra/log/testing.js';
import type { HeadTrackerOptions } from '../../ingest/chain/head-tracker.js';
import { runChain } from '../../ingest/chain/run-chain.js';
import { createSourceStatus, type SourceState } from '../../ingest/shared/source-status.js';
import { allTopics, topics } from '../../schemas/topics.js';
import { chainParts, codec, eventsOf, freshLog, pendingTx, reduceHead } from '../support/chain-harness.js';
import { createFakeSource, FakeNode } from '../support/fake-chain.js';

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await yieldToEventLoop();
}

function running(
  log: MemoryLog,
  source: ReturnType<typeof createFakeSource>['source'],
  headOptions: Partial<HeadTrackerOptions> = {},
  initial: Partial<SourceState> = {},
) {
  const parts = chainParts(log);
  const stop = new AbortController();
  const { logger } = parts;
  const status = createSourceStatus({ log, codec, logger, source: 'chain', mode: source.mode, initial });
  const done = runChain({ ...parts, metrics: parts.registry, source, status, signal: stop.signal, headOptions });
  done.catch(() => undefined);
  return { done, stop, status, metrics: parts.registry.registry };
}
const kinds = (log: MemoryLog, topic: string) => eventsOf(log, topic).map(({ kind }) => kind);

describe('chain ingest', () => {
  it('follows the head while it reads the history, and reports its status', async () => {
    const node = new FakeNode(1);
    for (let i = 0; i < 30; i += 1) node.mine([{ tx: i }]);
    node.finalized = 25;
    const log = await freshLog();
    const { source, send } = createFakeSource(node);
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const pausedSource = {
      ...source,
      async *history(range: Parameters<typeof source.history>[0]) {
        await gate;
        yield* node.history(range);
      },
    };
    const run = running(log, pausedSource);
    send({ type: 'connected', connected: true, detail: 'scripted' });
    send({ type: 'finalized', number: 25, hash: node.blocks[25]!.hash });
    send({ type: 'head', block: node.tip, seenAtMs: 10 });
    send({ type: 'pending', transaction: pendingTx(100), seenAtMs: 11 });
    send({ type: 'head', block: node.mine([{ tx: 100 }]), seenAtMs: 12 });
    await until(() => kinds(log, topics.chainHead.name).filter((kind) => kind === 'block').length === 2);
    expect(kinds(log, topics.chainFinal.name)).toEqual([]);
    expect(kinds(log, topics.chainHead.name)).toEqual([
      'trade',
      'block',
      'settlement',
      'trade',
      'status_update',
      'block',
    ]);
    expect(run.status.current).toMatchObject({ phase: 'history', connected: true, head: 31, finalized: 25 });
    open();
    await until(() => run.status.current.phase === 'live');
    expect(run.status.current).toMatchObject({ phase: 'live', progress: 1, last_event_ms: 12 });
    node.finalized = 31;
    send({ type: 'finalized', number: 31, hash: node.blocks[31]!.hash });
    await until(() => kinds(log, topics.chainFinal.name).filter((kind) => kind === 'block').length === 31);
    run.stop.abort();
    await run.done;
    await run.status.close();
    const last = eventsOf(log, topics.sources.name).at(-1);
    expect(last?.value).toMatchObject({ source: 'chain', phase: 'stopped', connected: false, head: 31 });
  });

  it('reports a lag of final blocks while the finalised block of the node stands still', async () => {
    const node = new FakeNode(1);
    for (let i = 0; i < 30; i += 1) node.mine([{ tx: i }]);
    node.finalized = 25;
    const { source, send } = createFakeSource(node);
    const run = running(await freshLog(), source);
    const lag = async () => /chain_final_lag_blocks\S* (\d+)$/m.exec(await run.metrics.metrics())?.[1];
    send({ type: 'finalized', number: 25, hash: node.blocks[25]!.hash });
    await until(() => run.status.current.phase === 'live');
    const follow = async (head: number) => {
      while (node.tip.number < head) send({ type: 'head', block: node.mine([]), seenAtMs: 12 });
      await until(() => run.status.current.head === head);
    };
    await follow(153);
    expect(await lag()).toBe('0');
    await follow(400);
    expect(await lag()).toBe('247');
    node.finalized = 390;
    send({ type: 'finalized', number: 390, hash: node.blocks[390]!.hash });
    while ((await lag()) !== '0') await yieldToEventLoop();
    run.stop.abort();
    await run.done;
  });

  it('fills the gap after a restart without repeating', async () => {
    const node = new FakeNode(3);
    const log = await freshLog();
    const first = createFakeSource(node);
    const run = running(log, first.source);
    first.send({ type: 'head', block: node.mine([{ tx: 1 }]), seenAtMs: 1 });
    await until(() => kinds(log, topics.chainHead.name).includes('block'));
    run.stop.abort();
    await run.done;
    for (let i = 0; i < 70; i += 1) node.mine([{ tx: 10 + i }]);
    const second = createFakeSource(node);
    const again = running(log, second.source);
    second.send({ type: 'head', block: node.tip, seenAtMs: 2 });
    await until(() => reduceHead(log).length === 71);
    again.stop.abort();
    await again.done;
    expect(reduceHead(log).map(({ number }) => number)).toEqual(Array.from({ length: 71 }, (_, index) => index + 3));
  });

  it.each([
    ['in the middle of a gap that is filled by number', { maxParentFetchBlocks: 4 }, 40],
    ['after the last block of a gap that is filled by number', { maxParentFetchBlocks: 4 }, 73],
    ['in the middle of a gap that is filled by parent hash', { maxParentFetchBlocks: 100 }, 40],
    ['after the last block of a gap that is filled by parent hash', { maxParentFetchBlocks: 100 }, 73],
  ])('reports all blocks that were read after the fact, also when it was killed %s', async (_, options, killAt) => {
    const store = createMemoryStore();
    const before = createMemoryLog({ store });
    await before.ensureTopics(allTopics);
    const node = new FakeNode(3);
    const first = createFakeSource(node);
    const run = running(before, first.source, options);
    first.send({ type: 'head', block: node.tip, seenAtMs: 1 });
    await until(() => kinds(before, topics.chainHead.name).includes('block'));
    run.stop.abort();
    await run.done;
    await run.status.close();

    // More records in a block than may be in flight: blocks are appended one by one.
    const trades = Array.from({ length: 2_001 }, (_, n) => ({ tx: n }));
    for (let number = 3; number <= 73; number += 1) node.mine(number === killAt - 1 ? trades : []);
    let killed = false;
    const killedLog = createMemoryLog({
      store,
      onAppend(topic, records) {
        if (topic !== topics.chainHead.name) return undefined;
        const isDue = records.some(({ value }) => {
          const event = codec.decode(value!);
          return event.kind === 'block' && event.value.block_number === killAt;
        });
        if (isDue) killedLog.crash();
        killed ||= isDue;
        return undefined;
      },
    });
    const second = createFakeSource(node);
    running(killedLog, second.source, options).done.catch(() => undefined);
    second.send({ type: 'head', block: node.tip, seenAtMs: 2 });
    await until(() => killed);
    expect(reduceHead(before).at(-1)?.number).toBe(killAt - 1);

    const log = createMemoryLog({ store });
    const last = eventsOf(log, topics.sources.name).at(-1);
    if (last?.kind !== 'source_status') throw new Error('no status');
    const { reread, rereading } = last.value;
    const third = createFakeSource(node);
    const again = running(log, third.source, options, { reread, rereading });
    third.send({ type: 'head', block: node.tip, seenAtMs: 3 });
    await until(() => reduceHead(log).at(-1)?.number === 73);
    again.stop.abort();
    await again.done;
    await again.status.close();
    expect(eventsOf(log, topics.sources.name).at(-1)?.value).toMatchObject({
      reread: { from_block: 3, to_block: 72 },
      rereading: null,
    });
  });

  it('makes the status of a gap durable before it writes the block after the gap', async () => {
    const order: unknown[] = [];
    const log = await freshLog({
      async onAppend(topic, records) {
        if (topic === topics.sources.name) await new Promise((resolve) => setTimeout(resolve, 20));
        for (const { value } of records) {
          const event = codec.decode(value!);
          if (topic === topics.chainHead.name && event.kind === 'block') order.push(event.value.block_number);
          if (event.kind === 'source_status' && event.value.gap !== null) order.push(event.value.gap);
        }
        return undefined;
      },
    });
    const node = new FakeNode(1);
    const { source, send } = createFakeSource(node);
    const run = running(log, source, { maxGapBlocks: 50 });
    send({ type: 'head', block: node.mine([]), seenAtMs: 1 });
    await until(() => order.includes(1));
    for (let i = 0; i < 60; i += 1) node.mine([]);
    send({ type: 'head', block: node.tip, seenAtMs: 2 });
    await until(() => order.includes(61));
    expect(order).toMatchObject([1, { from_block: 2, to_block: 60 }, 61]);
    run.stop.abort();
    await run.done;
    await run.status.close();
  });

  it('rejects with the first failure', async () => {
    const node = new FakeNode(3);
    const log = await freshLog();
    const { source } = createFakeSource(node);
    const broken = {
      ...source,
      historyRange: async () => {
        throw new RetryableError('node is unreachable');
      },
    };
    await expect(running(log, broken).done).rejects.toThrow('node is unreachable');
  });
});
