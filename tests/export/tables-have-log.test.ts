import { beforeEach, describe, expect, it } from 'vitest';
import {
  derivedSinks,
  REACH_MS,
  type SinkPosition,
  sourceSinks,
  tablesHaveLog,
} from '../../infra/export/tables-have-log.js';
import { createMemoryLog, type MemoryLog } from '../../infra/log/testing.js';
import { catalogSink } from '../../processors/catalog/sink.js';
import { chainSink } from '../../processors/chain/sink.js';
import { fillsSink } from '../../processors/fills/sink.js';
import { oracleSink } from '../../processors/oracle/sink.js';
import { pnlSink, positionsSink } from '../../processors/positions/sink.js';
import { walletActivitySink } from '../../processors/wallet-activity/sink.js';
import { walletEventsSink } from '../../processors/wallet-events/sink.js';
import { allTopics } from '../../schemas/topics.js';

const definitions = [
  ...[fillsSink, chainSink, walletEventsSink, oracleSink, catalogSink],
  ...[positionsSink, pnlSink, walletActivitySink],
];
const derived = [positionsSink, pnlSink, walletActivitySink].map(({ name }) => name);

describe('tablesHaveLog', () => {
  let log: MemoryLog;
  let tables: SinkPosition[];
  const append = (topic: string, partition: number) =>
    log.append(topic, [{ key: 'k', value: Buffer.from('v'), timestampMs: 1, partition }]);
  const activityIsRead = () => log.commit('activity', [{ topic: 'chain.final', partition: 0, nextOffset: 1 }]);
  const positionsAreRead = (partition: number) =>
    log.commit(`positions-${partition}`, [{ topic: 'wallet.activity', partition, nextOffset: 1 }]);
  const check = () => tablesHaveLog({ log, positions: async () => tables, withinMs: 0, pollMs: 1 });

  /** One record in every partition that a sink reads; all of it is in the tables. */
  beforeEach(async () => {
    log = createMemoryLog();
    await log.ensureTopics(allTopics);
    for (const { name, partitions } of new Set(definitions.map(({ topic }) => topic)))
      for (let partition = 0; partition < partitions; partition++) await append(name, partition);
    tables = definitions.flatMap(({ name, topic }) =>
      Array.from({ length: topic.partitions }, (_, partition) => ({ sink: name, partition, next: 1 })),
    );
  });
  const allIsRead = async () => {
    await activityIsRead();
    for (let partition = 0; partition < walletActivitySink.topic.partitions; partition++)
      await positionsAreRead(partition);
  };

  it('knows the sinks of processors', () => {
    const topicsOf = (of: typeof definitions) => Object.fromEntries(of.map(({ name, topic }) => [name, topic]));
    expect(derivedSinks).toEqual(topicsOf(definitions.filter(({ name }) => derived.includes(name))));
    expect(sourceSinks).toEqual(topicsOf(definitions.filter(({ name }) => !derived.includes(name))));
  });

  it('is true when all tasks have processed the log, and for a log without records', async () => {
    await allIsRead();
    expect(await check()).toBe(true);
    log = createMemoryLog();
    await log.ensureTopics(allTopics);
    tables = [];
    expect(await check()).toBe(true);
  });

  it('is false while one positions task of twelve has not read its partition', async () => {
    await activityIsRead();
    for (let partition = 0; partition < 12; partition++) if (partition !== 5) await positionsAreRead(partition);
    expect(await check()).toBe(false);
    await positionsAreRead(5);
    expect(await check()).toBe(true);
  });

  it('is false while the activity task has not read chain.final', async () => {
    for (let partition = 0; partition < 12; partition++) await positionsAreRead(partition);
    expect(await check()).toBe(false);
  });

  it('is false while any sink lacks a record of any partition', async () => {
    await allIsRead();
    const complete = tables;
    for (const behind of complete) {
      tables = complete.map((one) => (one === behind ? { ...one, next: 0 } : one));
      expect(await check(), `${behind.sink}/${behind.partition}`).toBe(false);
      tables = complete.filter((one) => one !== behind);
      expect(await check(), `${behind.sink}/${behind.partition}`).toBe(false);
    }
  });

  it('waits for what follows from the records of the log, and not for later ones', async () => {
    await activityIsRead();
    for (let partition = 1; partition < 12; partition++) await positionsAreRead(partition);
    const { committed } = log;
    let isBehind = true;
    const busy: MemoryLog = {
      ...log,
      async committed(group, topic) {
        if (group === 'positions-0' && isBehind) {
          isBehind = false;
          await append('pnl.events', 2);
          await positionsAreRead(0);
          await append('chain.final', 0);
        }
        return committed(group, topic);
      },
    };
    let asked = 0;
    const positions = async () => {
      asked += 1;
      const isWritten = asked === 4;
      return tables.map((one) => (isWritten && one.sink === 'pnl' && one.partition === 2 ? { ...one, next: 2 } : one));
    };
    expect(await tablesHaveLog({ log: busy, positions, withinMs: 60_000, pollMs: 1 })).toBe(true);
    expect(asked).toBe(4);
  });

  it('waits longer than records older than a minute take through the slowest tasks', () => {
    /** As `followChunks` waits for records of this age, in the tasks activity and positions and in the slowest of the sinks. */
    const lingers = 5;
    const slowestSinkMs = Math.max(...definitions.map(({ lingerMs }) => lingerMs ?? 500));
    expect(slowestSinkMs).toBe(2_000);
    const progressMs = 1_000;
    expect(REACH_MS).toBeGreaterThan(lingers * (50 + 1_000 + slowestSinkMs) + progressMs);
  });

  it('rejects a log that lacks records of the tables', async () => {
    await allIsRead();
    tables = [...tables, { sink: 'catalog', partition: 0, next: 2 }];
    await expect(check()).rejects.toThrow(/^The tables have records of catalog\/0 that the log does not have/);
    tables = [{ sink: 'fills', partition: 1, next: 1 }];
    await expect(check()).rejects.toThrow(/records of chain.final\/1 /);
    tables = [{ sink: 'usage', partition: 0, next: 9 }];
    expect(await check()).toBe(false);
  });
});
