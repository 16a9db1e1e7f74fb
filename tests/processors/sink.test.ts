import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { FencedError } from '../../infra/log/errors.js';
import { createMemoryLog } from '../../infra/log/testing.js';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import type { SinkProgress } from '../../processors/sink/progress-table.js';
import type { TableStore } from '../../processors/sink/table-store.js';
import { createCodec } from '../../schemas/codec.js';
import { allTopics } from '../../schemas/topics.js';
import { createTestTrade, hash } from './events.js';
import { createFakeStore, createFakeTables, type FakeTables } from './fake-store.js';
import { runToEnd, smallSink } from './run-sink.js';

const codec = createCodec();

async function logWith(values: readonly (Buffer | null)[]) {
  const log = createMemoryLog();
  await log.ensureTopics(allTopics);
  if (values.length > 0)
    await log.append(
      'chain.final',
      values.map((value, index) => ({ key: '1', value, timestampMs: index })),
    );
  return log;
}

const blocks = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, block) => [
    codec.encode('trade', createTestTrade(block, 0)),
    codec.encode('trade', createTestTrade(block, 1)),
    codec.encode('block', {
      id: `block-${block}`,
      block_number: block,
      block_hash: hash(block),
      parent_hash: hash(Math.max(block - 1, 0)),
      timestamp_ms: 1_790_000_000_000 + block * 2000,
      tx_count: null,
      polymarket_tx_count: 2,
      settlement_count: 2,
      trade_volume: 40_000_000n,
      contracts: null,
    }),
  ]).flat();

const contents = (tables: FakeTables) =>
  Object.fromEntries([...tables.rows].filter(([table]) => table !== 'chunks').map(([table, rows]) => [table, rows]));

describe('sink', () => {
  it('writes the rows of its kinds and skips other records', async () => {
    const tables = createFakeTables();
    const { sink } = smallSink(chainSink, await logWith(blocks(5)), createFakeStore(tables));
    await runToEnd(sink);
    expect(tables.rows.get('blocks')?.map(([number]) => number)).toEqual(['0', '1', '2', '3', '4']);
    expect([...tables.rows.keys()].sort()).toEqual(['blocks', 'chunks']);
  });

  it('writes the rows of an uninterrupted run when it dies at any step, with a lost request or a lost response', async () => {
    const log = await logWith(blocks(20));
    const undisturbed = createFakeTables();
    await runToEnd(smallSink(chainSink, log, createFakeStore(undisturbed)).sink);

    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            afterInserts: fc.nat(6),
            committed: fc.boolean(),
            chunk: fc.integer({ min: 1, max: 25 }),
            readsProgress: fc.boolean(),
          }),
          {
            maxLength: 6,
          },
        ),
        async (crashes) => {
          const tables = createFakeTables();
          let reported = 0;
          const progress = {
            report(newest: { nextOffset: number }) {
              reported = newest.nextOffset;
            },
          };
          const isCommitted = async ({ nextOffset }: { nextOffset: number }) => nextOffset === reported;
          for (const crash of crashes) {
            let inserts = 0;
            let crashed = false;
            const store = createFakeStore(tables, (_table, committed) => {
              if (crashed) throw new Error('crashed');
              if (committed === crash.committed && inserts++ === crash.afterInserts) {
                crashed = true;
                throw new Error('crashed');
              }
            });
            const more = crash.readsProgress ? { progress, isCommitted } : { progress };
            await runToEnd(smallSink(chainSink, log, store, crash.chunk, more).sink).catch(() => undefined);
          }
          await runToEnd(smallSink(chainSink, log, createFakeStore(tables), 7, { progress, isCommitted }).sink);
          expect(contents(tables)).toEqual(contents(undisturbed));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('inserts its newest chunk again unless it is recorded in chunks and known to be in the tables', async () => {
    const log = await logWith(blocks(5));
    const tables = createFakeTables();
    await runToEnd(smallSink(chainSink, log, createFakeStore(tables)).sink);
    const inserted: string[] = [];
    const store = createFakeStore(tables, (table, committed) => committed && inserted.push(table));
    const asked: unknown[] = [];
    const runAgain = async (isInTables: boolean) => {
      inserted.length = 0;
      asked.length = 0;
      const isCommitted = async (chunk: unknown) => {
        asked.push(chunk);
        return isInTables;
      };
      const { sink, metrics } = smallSink(chainSink, log, store, 7, { isCommitted });
      await runToEnd(sink);
      expect(await metrics.registry.getSingleMetricAsString('oddstream_sink_committed_offset')).toMatch(/\} 15$/);
      return inserted;
    };
    expect(await runAgain(true)).toEqual([]);
    expect(asked).toEqual([
      {
        sink: 'chain',
        topic: 'chain.final',
        partition: 0,
        nextOffset: 15,
        tables: chainSink.tables.map(({ name }) => name),
      },
    ]);
    expect(await runAgain(false)).toEqual(['chunks', 'blocks']);
    // The tables of a backup without the newest chunk.
    tables.rows.set(
      'chunks',
      (tables.rows.get('chunks') ?? []).filter(([, , , , last]) => last !== '14'),
    );
    expect(await runAgain(true)).toEqual(['chunks', 'blocks']);
    expect(asked).toEqual([]);
  });

  it('writes the rows of an uninterrupted run when a suspended predecessor resumes and inserts concurrently', async () => {
    const base = blocks(20);
    const undisturbed = createFakeTables();
    await runToEnd(smallSink(chainSink, await logWith(base), createFakeStore(undisturbed)).sink);

    await fc.assert(
      fc.asyncProperty(
        fc.record({
          stallsAt: fc.nat(12),
          committed: fc.boolean(),
          wakesAt: fc.nat(12),
          chunks: fc.tuple(fc.integer({ min: 1, max: 25 }), fc.integer({ min: 1, max: 25 })),
        }),
        async ({ stallsAt, committed, wakesAt, chunks }) => {
          const log = await logWith(base);
          const tables = createFakeTables();
          let wake: () => void = () => undefined;
          const woken = new Promise<void>((resolve) => {
            wake = resolve;
          });
          const plain = createFakeStore(tables);
          let inserts = 0;
          let stalled = false;
          const stalling: TableStore = {
            query: plain.query,
            async insertBytes(...call) {
              const stalls = inserts++ === stallsAt;
              if (stalls && committed) await plain.insertBytes(...call);
              if (stalls) {
                stalled = true;
                await woken;
              }
              await plain.insertBytes(...call);
            },
          };
          const controller = new AbortController();
          const zombie = smallSink(chainSink, log, stalling, chunks[0]).sink;
          let ended = false;
          const running = zombie.run(controller.signal).then(
            () => undefined,
            (error: unknown) => error,
          );
          running.then(() => {
            ended = true;
          });
          while (!stalled && !ended && (await zombie.state()).lag > 0) await new Promise((done) => setImmediate(done));

          let later = 0;
          const waking = createFakeStore(tables, (_table, done) => {
            if (done && later++ === wakesAt) wake();
          });
          await runToEnd(smallSink(chainSink, log, waking, chunks[1]).sink);
          wake();
          // New records: only the successor, the current owner, may plan them.
          await log.append('chain.final', [{ key: '1', value: null, timestampMs: 0 }]);
          expect(await running).toBeInstanceOf(FencedError);
          expect(contents(tables)).toEqual(contents(undisturbed));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('writes unreadable and invalid records to dead.letters with position and reason, and continues', async () => {
    const good = codec.encode('trade', createTestTrade(1, 0));
    const tooLarge = codec.encode('trade', createTestTrade(1, 1, { usdc: 2n ** 64n }));
    const badToken = codec.encode('trade', createTestTrade(1, 2, { token_id: 'seven' }));
    const badHash = codec.encode('trade', createTestTrade(1, 3, { order_hash: `0x${'0'.repeat(63)}g` }));
    const foreign = codec.encode('catalog_tag', { id: '1', slug: 's', label: 'l' });
    const log = await logWith([
      Buffer.from('nonsense'),
      tooLarge,
      good,
      badToken,
      foreign,
      null,
      good.subarray(0, 30),
      badHash,
    ]);
    const tables = createFakeTables();
    const { sink, metrics } = smallSink(fillsSink, log, createFakeStore(tables), 100);
    await runToEnd(sink);
    expect(tables.rows.get('fills')).toHaveLength(1);
    const letters = log.all('dead.letters').map((record) => {
      const event = codec.decode(record.value as Buffer);
      if (event.kind !== 'dead_letter') throw new Error(event.kind);
      return [event.value.origin, event.value.stage, event.value.reason];
    });
    expect(letters).toEqual([
      ['chain.final-0-0', 'processors/fills', expect.stringMatching(/wire format/)],
      ['chain.final-0-1', 'processors/fills', expect.stringMatching(/fills\.usdc: 18446744073709551616/)],
      ['chain.final-0-3', 'processors/fills', expect.stringMatching(/fills\.token_id: seven/)],
      ['chain.final-0-4', 'processors/fills', expect.stringMatching(/catalog_tag/)],
      ['chain.final-0-6', 'processors/fills', expect.stringMatching(/trade/)],
      ['chain.final-0-7', 'processors/fills', expect.stringMatching(/fills\.order_hash: 0x0+g/)],
    ]);
    expect(await metrics.registry.getSingleMetricAsString('oddstream_sink_dead_letters_total')).toMatch(/\} 6$/m);
  });

  it('sets no lag gauge after removeMetrics, also for a pending state request', async () => {
    const { sink, metrics } = smallSink(chainSink, await logWith(blocks(5)), createFakeStore(createFakeTables()));
    const lag = async () =>
      /^oddstream_sink_lag_records\{/m.test(
        await metrics.registry.getSingleMetricAsString('oddstream_sink_lag_records'),
      );
    await sink.state();
    expect(await lag()).toBe(true);
    const pending = sink.state();
    sink.removeMetrics();
    await pending;
    expect(await lag()).toBe(false);
  });

  it('waits for an unreachable table store and reports the error', async () => {
    const tables = createFakeTables();
    let failures = 0;
    let seen: string | undefined;
    const { sink } = smallSink(
      fillsSink,
      await logWith(blocks(3)),
      createFakeStore(tables, (_table, committed) => {
        if (!committed && failures < 8) {
          failures += 1;
          throw new RetryableError('connection refused');
        }
      }),
    );
    const watch = setInterval(() => {
      sink.state().then((state) => {
        seen ??= state.lastError;
      });
    }, 1);
    await runToEnd(sink);
    clearInterval(watch);
    expect(tables.rows.get('fills')).toHaveLength(6);
    expect(seen).toMatch(/connection refused/);
    expect((await sink.state()).lastError).toBeUndefined();
  });

  it('resumes after the rows of tables that were filled without plans in the log', async () => {
    const undisturbed = createFakeTables();
    await runToEnd(smallSink(chainSink, await logWith(blocks(20)), createFakeStore(undisturbed)).sink);
    const tables = createFakeTables();
    await runToEnd(smallSink(chainSink, await logWith(blocks(9)), createFakeStore(tables), 5).sink);
    await runToEnd(smallSink(chainSink, await logWith(blocks(20)), createFakeStore(tables)).sink);
    expect(contents(tables)).toEqual(contents(undisturbed));
  });

  it('rejects tables of another log without plans by their last record, also when the log is longer', async () => {
    const progress: SinkProgress[] = [];
    const tables = { ...createFakeTables(), progress };
    const report = (newest: SinkProgress) => progress.push(newest);
    const filled = await logWith(blocks(9));
    await runToEnd(smallSink(chainSink, filled, createFakeStore(tables), 5, { progress: { report } }).sink);
    const sinkOn = async (timeMs: (index: number) => number) => {
      const log = await logWith([]);
      await log.append(
        'chain.final',
        blocks(20).map((value, index) => ({ key: '1', value, timestampMs: timeMs(index) })),
      );
      return smallSink(chainSink, log, createFakeStore(tables)).sink;
    };
    const times = filled.all('chain.final').map(({ timestampMs }) => timestampMs);
    const other = await sinkOn(() => 77);
    await expect(other.run(new AbortController().signal)).rejects.toThrow(
      /record 1 of 1970-01-01T00:00:00.026Z at offset 26 .* belong together/,
    );
    await runToEnd(await sinkOn((index) => times[index] ?? 0));
    expect(tables.rows.get('blocks')).toHaveLength(20);
  });

  it('resumes from the rows of tables that were restored or emptied', async () => {
    const log = await logWith(blocks(20));
    const undisturbed = createFakeTables();
    await runToEnd(smallSink(chainSink, log, createFakeStore(undisturbed)).sink);
    const emptied = createFakeTables();
    await runToEnd(smallSink(chainSink, log, createFakeStore(emptied)).sink);
    expect(contents(emptied)).toEqual(contents(undisturbed));
  });

  it('rejects tables that are ahead of the log', async () => {
    const tables = createFakeTables();
    await runToEnd(smallSink(fillsSink, await logWith(blocks(3)), createFakeStore(tables)).sink);
    const { sink } = smallSink(fillsSink, await logWith(blocks(1)), createFakeStore(tables));
    await expect(sink.run(new AbortController().signal)).rejects.toThrow(/do not belong together/);
  });

  it('rejects tables that are ahead of a restored log, also after the log has grown past them', async () => {
    const tables = createFakeTables();
    await runToEnd(smallSink(fillsSink, await logWith(blocks(3)), createFakeStore(tables)).sink);
    const restored = await logWith(blocks(1));
    await runToEnd(smallSink(fillsSink, restored, createFakeStore(createFakeTables())).sink);
    const later = blocks(9).slice(blocks(1).length);
    await restored.append(
      'chain.final',
      later.map((value, index) => ({ key: '1', value, timestampMs: index })),
    );
    const { sink } = smallSink(fillsSink, restored, createFakeStore(tables));
    await expect(sink.run(new AbortController().signal)).rejects.toThrow(/do not belong together/);
  });

  it('ends when its signal aborts, also while waiting for records', async () => {
    const { sink } = smallSink(fillsSink, await logWith([]), createFakeStore(createFakeTables()));
    const controller = new AbortController();
    const running = sink.run(controller.signal);
    setImmediate(() => controller.abort());
    await running;
  });
});
