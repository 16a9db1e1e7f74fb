import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { createMemoryStore, type MemoryLog } from '../../infra/log/testing.js';
import { topics } from '../../schemas/topics.js';
import { eventsOf, freshLog, pendingTx, reduceHead } from '../support/chain-harness.js';
import { FakeNode, type ScriptedLog, txHash } from '../support/fake-chain.js';
import { appendFinal, followed, tracking } from '../support/head-tracking.js';

const idsOf = (node: FakeNode, from: number) =>
  node.blocks.slice(from).map((block) => ({
    hash: block.hash,
    facts: block.logs.map((log) => `${log.transactionHash}-${Number(log.logIndex)}`),
  }));
const withoutConfirmations = (chain: ReturnType<typeof reduceHead>) =>
  chain.map(({ hash, events: facts }) => ({ hash, facts }));

describe('head tracker', () => {
  it('confirms a settlement that was seen after the announcement of its block when it was seen', async () => {
    const log = await freshLog();
    const node = new FakeNode();
    const { tracker } = await tracking(log, node);
    tracker.onPending(pendingTx(1), 1050);
    tracker.onHead(node.mine([{ tx: 1 }]), 1000);
    await tracker.idle();
    const update = eventsOf(log, topics.chainHead.name).find(({ kind }) => kind === 'status_update');
    expect(update?.value).toMatchObject({ confirmed_at_ms: 1050, pending_detected_at_ms: 1050, latency_ms: 0 });
  });

  it('writes events in log order, then status updates, then the block', async () => {
    const log = await freshLog();
    const node = new FakeNode();
    const { tracker } = await tracking(log, node);
    tracker.onPending(pendingTx(1), 1000);
    tracker.onHead(node.mine([{ tx: 1 }, { tx: 2 }, { tx: 1 }]), 3500);
    await tracker.idle();
    const events = eventsOf(log, topics.chainHead.name);
    expect(events.map(({ kind }) => kind)).toEqual(['settlement', 'trade', 'trade', 'trade', 'status_update', 'block']);
    expect(events[4]?.value).toMatchObject({
      id: `status-${txHash(1)}`,
      confirmed_at_ms: 3500,
      pending_detected_at_ms: 1000,
      latency_ms: 2500,
      taker_wallet: '0xtaker',
      token_id: '9001',
      taker_usdc: 400_000n,
      maker_wallets: ['0xmaker0', '0xmaker6'],
      order_hashes: ['0xo0', '0xo6'],
      confirmed_fills: [{ order_hash: '0xo0' }, { order_hash: '0xo6' }],
    });
    expect(log.all(topics.chainHead.name).map(({ key }) => key)).toEqual([txHash(1), '1', '1', '1', '1', '1']);
  });

  it('sends no settlement of an unrelated or an already mined transaction', async () => {
    const log = await freshLog();
    const node = new FakeNode();
    const { tracker } = await tracking(log, node);
    tracker.onHead(node.mine([{ tx: 1 }]), 1);
    await tracker.idle();
    tracker.onPending(pendingTx(1), 2);
    tracker.onPending(pendingTx(2), 3);
    tracker.onPending(pendingTx(2), 4);
    await tracker.idle();
    expect(eventsOf(log, topics.chainHead.name).map(({ kind }) => kind)).toEqual(['trade', 'block', 'settlement']);
  });

  it.each([1, 2, 3, 11, 40])('writes a retract and the new blocks for a reorganisation of depth %i', async (depth) => {
    const log = await freshLog();
    const node = new FakeNode(3);
    const { tracker, registry } = await tracking(log, node);
    tracker.onHead(node.tip, 1);
    tracker.onPending(pendingTx(7), 1000);
    for (let i = 0; i < depth; i += 1) tracker.onHead(node.mine([{ tx: i === 0 ? 7 : 100 + i }]), 2000);
    await tracker.idle();
    const orphans = node.blocks.slice(-depth).map((block) => block.hash);
    node.fork(depth);
    for (let i = 0; i <= depth; i += 1) node.mine([{ tx: i === 1 ? 7 : 200 + i }]);
    tracker.onHead(node.tip, 9000);
    await tracker.idle();
    expect(withoutConfirmations(reduceHead(log))).toEqual(idsOf(node, 2));
    const events = eventsOf(log, topics.chainHead.name);
    const retracts = events.filter((event) => event.kind === 'retract').map((event) => event.value);
    expect(retracts).toHaveLength(1);
    expect(retracts[0]).toMatchObject({ from_block: 3, to_block: 2 + depth, block_hashes: orphans });
    const confirmed = events.filter((event) => event.kind === 'status_update').map((event) => event.value);
    expect(confirmed.map((status) => status.block_number)).toEqual([3, 4]);
    expect(confirmed[1]?.pending_detected_at_ms).toBe(1000);
    expect(confirmed.map((status) => status.taker_usdc)).toEqual([400_000n, 400_000n]);
    expect(await registry.registry.metrics()).toContain('oddstream_chain_reorgs_total{process="test"} 1');
  });

  it('abandons a head without an available parent, and fills the gap with the next head', async () => {
    const log = await freshLog();
    const node = new FakeNode(2);
    const { tracker } = await tracking(log, node);
    tracker.onHead(node.tip, 1);
    await tracker.idle();
    node.mine([{ tx: 1 }]);
    const lost = node.mine([{ tx: 2 }]);
    node.fork(2);
    tracker.onHead(lost, 2);
    await tracker.idle();
    node.mine([{ tx: 3 }]);
    tracker.onHead(node.mine([{ tx: 4 }]), 3);
    await tracker.idle();
    expect(withoutConfirmations(reduceHead(log))).toEqual(idsOf(node, 1));
  });

  it('ignores a known head and a head below the tail', async () => {
    const log = await freshLog();
    const node = new FakeNode(10);
    const { tracker } = await tracking(log, node);
    tracker.onHead(node.tip, 1);
    tracker.onHead(node.tip, 2);
    tracker.onHead(node.blocks[2]!, 3);
    await tracker.idle();
    expect(log.all(topics.chainHead.name)).toHaveLength(1);
  });

  it('rejects when the node replaces a finalised block', async () => {
    const log = await freshLog();
    const node = new FakeNode(5);
    const { tracker } = await tracking(log, node);
    for (const block of node.blocks.slice(1)) tracker.onHead(block, 1);
    await tracker.idle();
    tracker.onFinalized(3, node.blocks[3]!.hash);
    node.fork(3);
    for (let i = 0; i < 4; i += 1) node.mine([]);
    tracker.onHead(node.tip, 2);
    await expect(tracker.failed).rejects.toThrow(RetryableError);
  });

  it('confirms a settlement that was pending at a restart, again after its block was retracted, with its size', async () => {
    const log = await freshLog();
    const node = new FakeNode(2);
    const first = await tracking(log, node);
    first.tracker.onHead(node.tip, 1);
    first.tracker.onPending(pendingTx(1), node.tip.timestampS * 1000);
    await first.tracker.idle();
    const second = await tracking(log, node);
    second.tracker.onHead(node.mine([{ tx: 1 }]), 2000);
    await second.tracker.idle();
    const third = await tracking(log, node);
    node.fork(1);
    node.mine([]);
    third.tracker.onHead(node.mine([{ tx: 1 }]), 3000);
    await third.tracker.idle();
    const sizes = eventsOf(log, topics.chainHead.name).flatMap((event) =>
      event.kind === 'status_update' ? [[event.value.block_number, event.value.taker_usdc]] : [],
    );
    expect(sizes).toEqual([
      [2, 400_000n],
      [3, 400_000n],
    ]);
  });

  it('rejects when the node replaces a block that was final before a restart', async () => {
    const { log, node } = await followed(5);
    await appendFinal(log, node.blocks[3]!);
    const { tracker } = await tracking(log, node);
    node.fork(3);
    for (let i = 0; i < 4; i += 1) node.mine([]);
    tracker.onHead(node.tip, 2);
    await expect(tracker.failed).rejects.toThrow(RetryableError);
  });

  it.each([
    ['back to the pending time before the newest final block', 10_000, 30 * 2000 + 10_000],
    ['at most the recovery window', 3_600_000, 1_800_000],
  ])('reads chain.head at a restart %s', async (_, pendingTtlMs, expectedMs) => {
    const { log, node } = await followed(41);
    await appendFinal(log, node.blocks[10]!);
    const fromMs: number[] = [];
    const recording: MemoryLog = {
      ...log,
      read(options) {
        if (typeof options.from === 'object' && 'timestampMs' in options.from) fromMs.push(options.from.timestampMs);
        return log.read(options);
      },
    };
    await tracking(recording, node, { pendingTtlMs });
    expect(fromMs).toEqual([node.tip.timestampS * 1000 - expectedMs]);
  });

  it('accepts a finalised block only with an equal hash', async () => {
    const log = await freshLog();
    const node = new FakeNode(5);
    const { tracker } = await tracking(log, node);
    for (const block of node.blocks.slice(1)) tracker.onHead(block, 1);
    await tracker.idle();
    node.fork(2);
    node.mine([]);
    // The node finalised the replacing block before the tracker received its head.
    tracker.onFinalized(3, node.tip.hash);
    node.mine([]);
    tracker.onHead(node.tip, 2);
    await tracker.idle();
    expect(withoutConfirmations(reduceHead(log))).toEqual(idsOf(node, 1));
  });

  it('drops and counts a settlement that is pending too long', async () => {
    const log = await freshLog();
    const node = new FakeNode(2);
    let nowMs = 0;
    const { tracker, registry } = await tracking(log, node, { pendingTtlMs: 1000 }, () => nowMs);
    tracker.onPending(pendingTx(1), 0);
    nowMs = 1001;
    tracker.onHead(node.mine([]), nowMs);
    await tracker.idle();
    tracker.onHead(node.mine([{ tx: 1 }]), nowMs);
    await tracker.idle();
    const kinds = eventsOf(log, topics.chainHead.name).map(({ kind }) => kind);
    expect(kinds).not.toContain('status_update');
    expect(await registry.registry.metrics()).toContain('chain_pending_expired_total{process="test"} 1');
  });

  it('dead-letters malformed logs and calldata, and continues', async () => {
    const log = await freshLog();
    const node = new FakeNode(1);
    const { tracker, registry } = await tracking(log, node);
    tracker.onPending(pendingTx(1, '0xbad'), 1);
    tracker.onPending(pendingTx(2, '0x'), 1);
    tracker.onHead(node.mine([{ tx: 3, bad: true }, { tx: 4 }]), 2);
    await tracker.idle();
    expect(eventsOf(log, topics.chainHead.name).map(({ kind }) => kind)).toEqual(['trade', 'block']);
    const letters = eventsOf(log, topics.deadLetters.name).map((event) => event.kind === 'dead_letter' && event.value);
    expect(letters).toMatchObject([
      { stage: 'chain.decode-pending', reason: 'scripted as bad', payload: JSON.stringify(pendingTx(1, '0xbad')) },
      { stage: 'chain.decode', reason: 'scripted as bad', payload: JSON.stringify(node.tip.logs[0]) },
    ]);
    expect(await registry.registry.metrics()).toContain(
      'oddstream_chain_decode_errors_total{stage="chain.decode",process="test"} 1',
    );
  });

  it('appends the small blocks that arrive during a slow append together, and requests none of them again', async () => {
    const appends: number[] = [];
    const log = await freshLog({
      onAppend: async (_topic, records) => {
        appends.push(records.length);
        await new Promise((resolve) => setTimeout(resolve, 20));
        return records.length;
      },
    });
    const node = new FakeNode(2);
    const requested: string[] = [];
    node.byHash = async (hash) => {
      requested.push(hash);
      return null;
    };
    const { tracker } = await tracking(log, node);
    const blocks = Array.from({ length: 300 }, (_, n) => node.mine([{ tx: n }]));
    for (const block of blocks) tracker.onHead(block, 1);
    await tracker.idle();
    expect(withoutConfirmations(reduceHead(log))).toEqual(idsOf(node, 2));
    expect(requested).toEqual([]);
    expect(appends.length).toBeLessThan(10);
  });

  it('drops all but the newest of too many waiting heads, and fills the gap', async () => {
    const log = await freshLog({
      onAppend: async (_topic, records) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        return records.length;
      },
    });
    const node = new FakeNode(2);
    const { tracker } = await tracking(log, node);
    const logs = Array.from({ length: 800 }, (_, tx) => ({ tx }));
    const blocks = Array.from({ length: 40 }, () => node.mine(logs));
    for (const block of blocks) tracker.onHead(block, 1);
    await tracker.idle();
    expect(withoutConfirmations(reduceHead(log))).toEqual(idsOf(node, 2));
  });

  type Step =
    | { do: 'mine'; logs: readonly ScriptedLog[]; announce: boolean }
    | { do: 'fork'; depth: number; blocks: readonly (readonly ScriptedLog[])[]; announce: 'all' | 'last' | 'none' }
    | { do: 'pending'; tx: number }
    | { do: 'finalize'; written: boolean }
    | { do: 'settle' }
    | { do: 'crash'; after: number };
  const logs = fc.array(fc.record({ tx: fc.integer({ min: 1, max: 12 }) }), { maxLength: 4 });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 5, arbitrary: fc.record({ do: fc.constant('mine' as const), logs, announce: fc.boolean() }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('fork' as const),
        depth: fc.integer({ min: 1, max: 5 }),
        blocks: fc.array(logs, { minLength: 1, maxLength: 6 }),
        announce: fc.constantFrom('all' as const, 'last' as const, 'none' as const),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('pending' as const), tx: fc.integer({ min: 1, max: 12 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('finalize' as const), written: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('settle' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('crash' as const), after: fc.integer({ min: 0, max: 12 }) }),
    },
  );

  it('leaves the canonical chain once and in order after any forks and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const node = new FakeNode(3);
        const store = createMemoryStore();
        let landing = Number.POSITIVE_INFINITY;
        const onAppend = (_topic: string, batch: readonly unknown[]): number | undefined => {
          const torn = batch.length > landing ? landing : undefined;
          landing -= Math.min(batch.length, landing);
          return torn;
        };
        const start = async () => {
          const log = await freshLog({ store, onAppend });
          return { ...(await tracking(log, node)), log };
        };
        // A transaction is in a chain once.
        const mine = (entries: readonly ScriptedLog[]) => {
          const taken = new Set(node.blocks.flatMap((block) => block.logs.map((log) => log.transactionHash)));
          return node.mine(entries.filter(({ tx }) => !taken.has(txHash(tx))));
        };
        let run = await start();
        node.finalized = 2;
        run.tracker.onHead(node.tip, 100);
        await run.tracker.idle();
        for (const next of steps) {
          switch (next.do) {
            case 'mine': {
              const block = mine(next.logs);
              if (next.announce) run.tracker.onHead(block, 100);
              break;
            }
            case 'fork': {
              const removed = node.fork(next.depth);
              if (removed === 0) break;
              const blocks = next.blocks.map((entry) => mine(entry));
              if (next.announce === 'all') for (const block of blocks) run.tracker.onHead(block, 100);
              if (next.announce === 'last') run.tracker.onHead(node.tip, 100);
              break;
            }
            case 'pending':
              run.tracker.onPending(pendingTx(next.tx), 50);
              break;
            case 'finalize':
              node.finalized = Math.max(node.finalized, node.tip.number - 4);
              run.tracker.onFinalized(node.finalized, node.blocks[node.finalized]!.hash);
              if (next.written) await appendFinal(run.log, node.blocks[node.finalized]!);
              break;
            case 'settle':
              await run.tracker.idle();
              break;
            case 'crash': {
              // The process dies while its next `after` records are being written; committed records remain.
              landing = next.after;
              run.tracker.onHead(node.tip, 100);
              for (let i = 0; i < 50; i += 1) await Promise.resolve();
              run.stop.abort();
              run.log.crash();
              landing = Number.POSITIVE_INFINITY;
              run = await start();
              break;
            }
          }
        }
        run.tracker.onHead(node.mine([{ tx: 99 }]), 100);
        await run.tracker.idle();
        const chain = reduceHead(run.log);
        expect(withoutConfirmations(chain)).toEqual(idsOf(node, chain[0]!.number));

        const detected = new Map<string, number>();
        const events = eventsOf(run.log, topics.chainHead.name);
        for (const [index, event] of events.entries()) {
          if (event.kind === 'settlement' && !detected.has(event.value.tx_hash))
            detected.set(event.value.tx_hash, index);
        }
        // Every canonical block that fills a settlement sent before it confirms it, unless a lower block already did.
        const confirmedOnce = new Set<string>();
        for (const block of chain) {
          for (const tx of block.confirmed) {
            expect(confirmedOnce.has(tx)).toBe(false);
            confirmedOnce.add(tx);
          }
        }
        for (const [tx, index] of detected) {
          const at = chain.findIndex((block) => block.events.some((id) => id.startsWith(tx)));
          if (at < 0) continue;
          const written = events.findIndex(
            (event) => event.kind === 'block' && event.value.block_hash === chain[at]!.hash,
          );
          if (written > index) expect(confirmedOnce).toContain(tx);
        }
      }),
      { numRuns: 300 },
    );
  });
});
