import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FencedError } from '../../infra/log/errors.js';
import type { Log, NewRecord } from '../../infra/log/port.js';
import { createMemoryLog, createMemoryStore, type MemoryStore } from '../../infra/log/testing.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { activityProcessorSpec } from '../../processors/activity/processor.js';
import { positionsSpec } from '../../processors/positions/processor.js';
import { openStateStores, type StateStores } from '../../processors/stateful/state-store.js';
import {
  createStatefulProcessor,
  type StatefulProcessor,
  type StatefulProcessorSpec,
} from '../../processors/stateful/stateful-processor.js';
import { type AnyEvent, createCodec } from '../../schemas/codec.js';
import { allTopics, topics } from '../../schemas/topics.js';
import type { Block, Trade } from '../../schemas/types.gen.js';
import { address, createTestTrade, hash } from './events.js';

const codec = createCodec();
const directories: string[] = [];
let open: StateStores[] = [];
afterEach(async () => {
  for (const stores of open) await stores.close();
  open = [];
  for (const dir of directories.splice(0)) rmSync(dir, { recursive: true, force: true });
});

const newDirectory = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'oddstream-state-'));
  directories.push(dir);
  return dir;
};

const BLOCKS = 30;
const exchange = createTestTrade(1, 0).exchange;

/** Blocks of matches: two makers sell to a taker; in every third block a wallet sells back, every tenth block is empty. */
function chain(): NewRecord[] {
  const records: NewRecord[] = [];
  const put = (kind: AnyEvent['kind'], value: AnyEvent['value'], block: number) =>
    records.push({
      key: String(block),
      value: codec.encode(kind, value as never),
      timestampMs: 1_790_000_000_000 + block,
    });
  for (let block = 1; block <= BLOCKS; block++) {
    const taker = address(200 + (block % 7));
    const common: Partial<Trade> = { tx_hash: hash(block), token_id: String(9000 + (block % 3)) };
    const fills =
      block % 10 === 0
        ? []
        : [
            createTestTrade(block, 0, { ...common, side: 'SELL', maker: address(1), taker }),
            createTestTrade(block, 1, { ...common, side: 'SELL', maker: address(2), taker }),
            createTestTrade(block, 2, {
              ...common,
              side: block % 3 === 0 ? 'SELL' : 'BUY',
              maker: taker,
              taker: exchange,
              is_taker_order: true,
              usdc: 40_000_000n,
              shares: 80_000_000n,
            }),
          ];
    for (const fill of fills) put('trade', fill, block);
    const end: Block = {
      id: `block-${block}`,
      block_number: block,
      block_hash: hash(block),
      parent_hash: hash(block - 1),
      timestamp_ms: 1_790_000_000_000 + block * 2000,
      tx_count: null,
      polymarket_tx_count: 1,
      settlement_count: 1,
      trade_volume: 0n,
      contracts: null,
    };
    put('block', end, block);
  }
  return records;
}

async function storeOf(records: readonly NewRecord[]): Promise<MemoryStore> {
  const store = createMemoryStore();
  const log = createMemoryLog({ store });
  await log.ensureTopics(allTopics);
  await log.append(topics.chainFinal.name, records);
  return store;
}

interface Crash {
  /** The write of the log at which the process dies, and whether that write is committed. */
  readonly dieAt: number;
  readonly committed: boolean;
}

interface Interruption {
  readonly topic: string;
  readonly run: () => Promise<void>;
}

/** Runs all processors as a new process until the input ends or one dies. The interruption runs once, before the first read of its topic. */
async function runOnce(
  store: MemoryStore,
  dir: string,
  maxRecords: number,
  crash?: Crash,
  interruption?: Interruption,
  logUrl = 'a',
): Promise<void> {
  let writes = 0;
  const memory = createMemoryLog({
    store,
    onStep: () =>
      crash !== undefined && writes++ === crash.dieAt
        ? { error: new Error('crashed'), committed: crash.committed }
        : undefined,
  });
  let interrupting: Promise<void> | undefined;
  const log: Log = {
    ...memory,
    async *read(options) {
      if (options.topic === interruption?.topic) {
        interrupting ??= interruption.run();
        await interrupting;
      }
      yield* memory.read(options);
    },
  };
  const stores = openStateStores(dir, logUrl);
  open.push(stores);
  const metrics = createMetrics({ process: 'test', defaults: false });
  const start = <S>(spec: StatefulProcessorSpec<S>): StatefulProcessor =>
    createStatefulProcessor({
      spec: { ...spec, maxRecords, lingerMs: 1 },
      log,
      codec,
      store: stores.open(spec.name),
      logger: silentLogger(),
      metrics,
    });
  const processors = [
    start(activityProcessorSpec(codec)),
    ...Array.from({ length: topics.positions.partitions }, (_, partition) =>
      start(positionsSpec(codec, { partition, pnlPartitions: topics.pnlEvents.partitions })),
    ),
  ];
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  const failures: unknown[] = [];
  const running = Promise.all(
    processors.map((processor) => processor.run(controller.signal).catch((error: unknown) => failures.push(error))),
  );
  const done = async () => {
    const states = await Promise.all(processors.map((processor) => processor.state()));
    return states.every((state) => state.loaded && state.lag === 0);
  };
  while (failures.length === 0 && !(await done())) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  await running;
  await stores.close();
  open = open.filter((one) => one !== stores);
  for (const failure of failures) if (!(failure instanceof Error) || failure.message !== 'crashed') throw failure;
}

/** The last value per key of every partition of the positions, and every PnL event, from the log. */
function contents(store: MemoryStore) {
  const values = (topic: string, partition: number) =>
    (store.topics.get(topic)?.[partition]?.records ?? [])
      .filter(({ value }) => value?.toString() !== 'garbage')
      .map(({ key, value }) => ({ key, event: codec.decode(value as Buffer).value }));
  const partitions = (topic: { name: string; partitions: number }) =>
    Array.from({ length: topic.partitions }, (_, partition) => values(topic.name, partition));
  return {
    activity: partitions(topics.walletActivity),
    positions: partitions(topics.positions).map((all) =>
      [...new Map(all.map(({ key, event }) => [key, event]))].sort(),
    ),
    // The order of two input partitions that share an output partition is not defined.
    pnl: partitions(topics.pnlEvents).map((all) => all.map(({ event }) => JSON.stringify(event, bigint)).sort()),
  };
}
const bigint = (_key: string, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value);

describe('activity and positions processors', () => {
  it('output every record once and in order after crashes at any write', async () => {
    const calm = await storeOf(chain());
    await runOnce(calm, newDirectory(), 1000);
    const truth = contents(calm);
    expect(truth.activity.flat()).toHaveLength((BLOCKS - 3) * 3);
    expect(truth.positions.flat().length).toBeGreaterThan(15);
    for (const committed of [false, true]) {
      for (const keepStore of [true, false]) {
        const store = await storeOf(chain());
        const dir = newDirectory();
        for (const dieAt of [0, 1, 3, 5, 9])
          await runOnce(store, keepStore ? dir : newDirectory(), 4, { dieAt, committed });
        await runOnce(store, keepStore ? dir : newDirectory(), 7);
        expect([committed, keepStore, contents(store)]).toEqual([committed, keepStore, truth]);
      }
    }
  });

  it('catch up a local store that is behind, and reload one of another log', async () => {
    const calm = await storeOf(chain());
    await runOnce(calm, newDirectory(), 1000);
    const truth = contents(calm);
    // Behind: the first half is processed with one store, the second with another, then the first is used again.
    const store = await storeOf(chain());
    const [early, late] = [newDirectory(), newDirectory()];
    await runOnce(store, early, 5, { dieAt: 6, committed: true });
    await runOnce(store, late, 5, { dieAt: 8, committed: true });
    await runOnce(store, early, 5);
    expect(contents(store)).toEqual(truth);
    // Ahead: the store was filled from another, longer log.
    const other = await storeOf(chain());
    await runOnce(other, newDirectory(), 5, { dieAt: 3, committed: true });
    await runOnce(other, late, 5);
    expect(contents(other)).toEqual(truth);
  });

  it('reload a local store of another log that is behind this one', async () => {
    const records = chain();
    const startOf = (block: number) => records.findIndex(({ key }) => key === String(block));
    const calm = await storeOf(records.slice(startOf(10)));
    await runOnce(calm, newDirectory(), 1000);
    const dir = newDirectory();
    await runOnce(await storeOf(records.slice(0, startOf(10))), dir, 1000);
    const store = await storeOf(records.slice(startOf(10), startOf(28)));
    await runOnce(store, newDirectory(), 1000, undefined, undefined, 'b');
    await createMemoryLog({ store }).append(topics.chainFinal.name, records.slice(startOf(28)));
    await runOnce(store, dir, 1000, undefined, undefined, 'b');
    expect(contents(store)).toEqual(contents(calm));
  });

  it('reload a local store that was loading while another process committed further steps', async () => {
    const calm = await storeOf(chain());
    await runOnce(calm, newDirectory(), 1000);
    const records = chain();
    const half = records.findIndex(({ key }) => key === String(BLOCKS / 2));
    const store = await storeOf(records.slice(0, half));
    await runOnce(store, newDirectory(), 5, { dieAt: 5, committed: true });
    const slow = newDirectory();
    // States are read after the committed offsets.
    const takeover = { topic: topics.positions.name, run: () => runOnce(store, newDirectory(), 5) };
    await expect(runOnce(store, slow, 5, undefined, takeover)).rejects.toThrow(FencedError);
    await createMemoryLog({ store }).append(topics.chainFinal.name, records.slice(half));
    await runOnce(store, slow, 5);
    expect(contents(store)).toEqual(contents(calm));
  });

  it('start on a log whose first records were aborted, and reject one whose first records were deleted', async () => {
    const store = await storeOf([]);
    const final = store.topics.get(topics.chainFinal.name)![0]!;
    // The bounds that Kafka reports for a partition whose only transaction was aborted.
    final.earliest = 2;
    await runOnce(store, newDirectory(), 5);
    await createMemoryLog({ store }).append(topics.chainFinal.name, chain());
    await expect(runOnce(store, newDirectory(), 5)).rejects.toThrow(
      'activity has to read chain.final/0 from offset 0 on, but the log begins at 2: older records were deleted',
    );
  });

  it('end with an error when the log has their state but not their position', async () => {
    const store = await storeOf(chain());
    await runOnce(store, newDirectory(), 5);
    const truth = contents(store);
    const partition = truth.positions.findIndex((positions) => positions.length > 0);
    expect(store.positions.delete(`positions-${partition}\nwallet.activity\n${partition}`)).toBe(true);
    await expect(runOnce(store, newDirectory(), 5)).rejects.toThrow(
      `positions-${partition}: positions/${partition} has its state, but the position of the consumer group positions-${partition} in wallet.activity is missing`,
    );
    expect(contents(store)).toEqual(truth);
  });

  it('are right on a fresh machine after the records that they had processed were deleted, and reject a log that lacks others', async () => {
    const calm = await storeOf(chain());
    await runOnce(calm, newDirectory(), 1000);
    const truth = contents(calm);
    const store = await storeOf(chain());
    await runOnce(store, newDirectory(), 5, { dieAt: 12, committed: true });
    const log = createMemoryLog({ store });
    const positionOf = async (topic: string, partition: number, group: string) =>
      (await log.committed(group, topic)).find((one) => one.partition === partition)?.nextOffset ?? 0;
    const read = await positionOf(topics.chainFinal.name, 0, 'activity');
    expect(read).toBeGreaterThan(0);
    await log.deleteBefore(topics.chainFinal.name, 0, read);
    let deleted = 0;
    for (let partition = 0; partition < topics.walletActivity.partitions; partition++) {
      const accounted = await positionOf(topics.walletActivity.name, partition, `positions-${partition}`);
      await log.deleteBefore(topics.walletActivity.name, partition, accounted);
      deleted += accounted;
    }
    expect(deleted).toBeGreaterThan(0);
    await runOnce(store, newDirectory(), 5);
    const { positions, pnl } = contents(store);
    expect({ positions, pnl }).toEqual({ positions: truth.positions, pnl: truth.pnl });
    await log.append(topics.chainFinal.name, chain().slice(0, 3));
    await log.deleteBefore(topics.chainFinal.name, 0, (await log.bounds(topics.chainFinal.name, 0)).next - 1);
    await expect(runOnce(store, newDirectory(), 5)).rejects.toThrow('older records were deleted (RAW_HISTORY_DAYS)');
  });

  it('reload a local store that is behind when the records that it lacks are deleted meanwhile', async () => {
    const calm = await storeOf(chain());
    await runOnce(calm, newDirectory(), 1000);
    const records = chain();
    const half = records.findIndex(({ key }) => key === String(BLOCKS / 2));
    const store = await storeOf(records.slice(0, half));
    const behind = newDirectory();
    await runOnce(store, behind, 5, { dieAt: 5, committed: true });
    await runOnce(store, newDirectory(), 5);
    const log = createMemoryLog({ store });
    await log.append(topics.chainFinal.name, records.slice(half));
    const deletion = {
      topic: topics.walletActivity.name,
      run: async () => {
        for (let partition = 0; partition < topics.walletActivity.partitions; partition++) {
          const positions = await log.committed(`positions-${partition}`, topics.walletActivity.name);
          const next = positions.find((one) => one.partition === partition)?.nextOffset ?? 0;
          await log.deleteBefore(topics.walletActivity.name, partition, next);
        }
      },
    };
    await runOnce(store, behind, 5, undefined, deletion);
    const { positions, pnl } = contents(store);
    const truth = contents(calm);
    expect({ positions, pnl }).toEqual({ positions: truth.positions, pnl: truth.pnl });
  });

  it('skip unreadable records and write them to dead.letters', async () => {
    const records = chain();
    const garbage: NewRecord[] = [
      { key: 'x', value: Buffer.from('garbage'), timestampMs: 5 },
      // The header of a trade.
      {
        key: 'x',
        value: Buffer.concat([codec.encode('trade', createTestTrade(1, 0)).subarray(0, 5), Buffer.from([9, 9])]),
        timestampMs: 6,
      },
    ];
    // Also at the end, without a following block.
    const store = await storeOf([...records.slice(0, 5), ...garbage, ...records.slice(5), ...garbage.slice(0, 1)]);
    await createMemoryLog({ store }).append(topics.walletActivity.name, [
      { key: 'y', value: Buffer.from('garbage'), timestampMs: 7, partition: 3 },
    ]);
    await runOnce(store, newDirectory(), 6);
    const calm = await storeOf(records);
    await runOnce(calm, newDirectory(), 6);
    expect(contents(calm).positions).toEqual(contents(store).positions);
    const letters = (store.topics.get(topics.deadLetters.name)?.[0]?.records ?? []).map(({ key }) => key);
    const last = `chain.final-0-${records.length + garbage.length}`;
    expect(letters.sort()).toEqual(['chain.final-0-5', 'chain.final-0-6', last, 'wallet.activity-3-0'].sort());
  });
});
