import { type Admin, ConfigResourceTypes, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findAppendedBatch } from '../../infra/log/kafka/appended-batches.js';
import { createCluster } from '../../infra/log/kafka/cluster.js';
import { createKafkaLog } from '../../infra/log/kafka/kafka-log.js';
import { splitBatches } from '../../infra/log/kafka/record-batch.js';
import type { Log, LogRecord } from '../../infra/log/port.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { makeTopic, numbered, readAll, record, T0, tail, texts, uniqueName } from './log-harness.js';

/** Tests of Kafka only: other clients, open transactions, retention and compaction by the broker. */
export function describeKafkaOnly(kafkaOf: () => { readonly brokers: readonly string[] }): void {
  describe('log: kafka among other clients', () => {
    let log: Log;
    let kafkajs: Kafka;
    let admin: Admin;
    const open = () => createKafkaLog({ brokers: kafkaOf().brokers, logger: silentLogger() });
    beforeAll(async () => {
      log = await open();
      kafkajs = new Kafka({ brokers: [...kafkaOf().brokers], logLevel: logLevel.NOTHING });
      admin = kafkajs.admin();
      await admin.connect();
    });
    afterAll(async () => {
      await admin?.disconnect();
      await log?.close();
    });

    const transactionalProducer = async (transactionalId: string) => {
      const producer = kafkajs.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1 });
      await producer.connect();
      return producer;
    };
    const configure = (topic: string, configs: Record<string, string>) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: ConfigResourceTypes.TOPIC,
            name: topic,
            configEntries: Object.entries(configs).map(([name, value]) => ({ name, value })),
          },
        ],
      });
    const eventually = async (condition: () => Promise<boolean>) => {
      while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 100));
    };

    it('kafkajs reads its records, and it reads records of kafkajs, compressed or not', async () => {
      const topic = await makeTopic(log);
      const producer = kafkajs.producer();
      await producer.connect();
      const long = 'abc'.repeat(2000);
      const messages = [
        { key: 'ключ', value: long, timestamp: '1700000000000', headers: { h: 'x' } },
        { key: 'b', value: null, timestamp: '5' },
      ];
      for (const compression of [0, 1]) await producer.send({ topic, messages, compression });
      await producer.disconnect();
      await log.append(topic, [record('ключ', long), record('b', null, 5)]);
      const all = await readAll(log, topic);
      const pair = [
        ['ключ', long, 1_700_000_000_000],
        ['b', undefined, 5],
      ];
      expect(all.map(({ key, value, timestampMs }) => [key, value?.toString(), timestampMs])).toEqual([
        ...pair,
        ...pair,
        ...pair,
      ]);

      const seen: [string | undefined, string | undefined, number][] = [];
      const consumer = kafkajs.consumer({ groupId: uniqueName('group') });
      await consumer.connect();
      await consumer.subscribe({ topic, fromBeginning: true });
      await new Promise<void>((resolve) => {
        void consumer.run({
          eachMessage: async ({ message }) => {
            seen.push([message.key?.toString(), message.value?.toString(), Number(message.timestamp)]);
            if (seen.length === 6) resolve();
          },
        });
      });
      await consumer.disconnect();
      expect(seen).toEqual([...pair, ...pair, ...pair]);
    });

    it('records of an aborted transaction are invisible, and markers are no records', async () => {
      const topic = await makeTopic(log);
      const producer = await transactionalProducer(uniqueName('other'));
      const write = async (value: string, end: 'commit' | 'abort') => {
        const transaction = await producer.transaction();
        await transaction.send({ topic, messages: [{ key: 'k', value, timestamp: String(T0) }] });
        await transaction[end]();
      };
      await write('aborted', 'abort');
      await eventually(async () => (await log.bounds(topic, 0)).next === 2);
      expect(await log.bounds(topic, 0)).toEqual({ earliest: 2, next: 2 });
      expect(await log.lastRecord(topic, 0)).toBeNull();
      expect(await log.offsetForTimestamp(topic, 0, 0)).toBe(2);
      await log.append(topic, [record('k', 'first')]);
      await write('second', 'commit');
      for (let i = 0; i < 5; i++) await write('aborted', 'abort');
      await eventually(async () => texts(await readAll(log, topic)).length === 2);
      expect(texts(await readAll(log, topic))).toEqual(['first', 'second']);
      const last = await log.lastRecord(topic, 0);
      expect(last?.value?.toString()).toBe('second');
      expect((await log.bounds(topic, 0)).next).toBe(last!.offset + 1);
      // The markers were written now, long after T0.
      expect(await log.offsetForTimestamp(topic, 0, T0 + 1)).toBe(last!.offset + 1);
      expect(await log.offsetForTimestamp(topic, 0, T0)).toBe(2);
      await producer.disconnect();
    });

    it('the next step of a group aborts a step that a dead process left open', async () => {
      const [input, output] = [await makeTopic(log), await makeTopic(log)];
      const group = uniqueName('group');
      const dead = await transactionalProducer(`oddstream/${group}/${input}/0`);
      const transaction = await dead.transaction();
      await transaction.send({ topic: output, messages: [{ key: 'k', value: 'half' }] });
      expect(await readAll(log, output)).toEqual([]);
      const offsets = [{ topic: input, partition: 0, nextOffset: 7 }];
      await log.appendAndCommit({ outputs: [{ topic: output, records: [record('k', 'whole')] }], group, offsets });
      expect(texts(await readAll(log, output))).toEqual(['whole']);
      await expect(transaction.commit()).rejects.toThrow();
      expect(texts(await readAll(log, output))).toEqual(['whole']);
      expect(await log.committed(group, input)).toEqual(offsets);
      await dead.disconnect();
    });

    it('the position of an owned group is read only when no transaction that moves it is open', async () => {
      const [input, group] = [await makeTopic(log, { partitions: 200 }), uniqueName('group')];
      const other = await transactionalProducer(uniqueName('other'));
      const transaction = await other.transaction();
      const moved = [{ topic: input, partitions: [{ partition: 150, offset: '7' }] }];
      await transaction.sendOffsets({ consumerGroupId: group, topics: moved });
      expect(await log.committed(group, input)).toEqual([]);
      await log.acquireOwnership(group);
      let isRead = false;
      const reading = log.committed(group, input).finally(() => {
        isRead = true;
      });
      await expect.poll(() => log.committed(uniqueName('unused'), input)).toEqual([]);
      expect(isRead).toBe(false);
      await transaction.commit();
      expect(await reading).toEqual([{ topic: input, partition: 150, nextOffset: 7 }]);
      await other.disconnect();
    });

    it('findAppendedBatch finds exactly the batch whose response was lost, also in an open transaction', async () => {
      const topic = await makeTopic(log, { partitions: 2 });
      const cluster = createCluster({ brokers: kafkaOf().brokers, logger: silentLogger(), unavailableAfterMs: 10_000 });
      const producer = await transactionalProducer(uniqueName('other'));
      await log.append(topic, numbered(10));
      const transaction = await producer.transaction();
      await transaction.send({ topic, messages: [{ key: 'k', value: 'open', partition: 1, timestamp: String(T0) }] });
      const connection = await cluster.leader(topic, 1, 'control');
      const request = { topic, partition: 1, offset: 0, maxWaitMs: 0, maxBytes: 100_000, uncommitted: true };
      const batches = splitBatches((await connection.fetch(request)).records);
      expect(batches.length).toBeGreaterThan(0);
      for (const { producerId: id, producerEpoch: epoch, baseSequence: sequence, baseOffset } of batches) {
        const sent = { topic, partition: 1, producer: { id, epoch }, sequence, from: 0 };
        expect(await findAppendedBatch(cluster, sent)).toBe(baseOffset);
        expect(await findAppendedBatch(cluster, { ...sent, sequence: sequence + 1000 })).toBeNull();
        expect(await findAppendedBatch(cluster, { ...sent, producer: { id, epoch: epoch + 1 } })).toBeNull();
        expect(await findAppendedBatch(cluster, { ...sent, producer: { id: id + 1000, epoch } })).toBeNull();
        expect(await findAppendedBatch(cluster, { ...sent, from: baseOffset + 1 })).toBeNull();
        expect(await findAppendedBatch(cluster, { ...sent, from: baseOffset + 1000 })).toBeNull();
      }
      await transaction.abort();
      await producer.disconnect();
      cluster.close();
    });

    it('two instances that share a group and its partitions alternate without losing a step', async () => {
      const [input, output] = [await makeTopic(log), await makeTopic(log)];
      const group = uniqueName('group');
      const other = await open();
      const run = async (instance: Log, id: string) => {
        for (let i = 0; i < 15; i++) {
          const offsets = [{ topic: input, partition: 0, nextOffset: i }];
          const outputs = [{ topic: output, records: [record(id, `${id}${i}`)] }];
          await instance.appendAndCommit({ outputs, group, offsets });
        }
      };
      await Promise.all([run(log, 'a'), run(other, 'b')]);
      await other.close();
      const values = texts(await readAll(log, output));
      for (const id of ['a', 'b']) {
        expect(values.filter((value) => value!.startsWith(id))).toEqual(
          Array.from({ length: 15 }, (_, i) => `${id}${i}`),
        );
      }
    });

    const compactSoon = (topic: string) =>
      configure(topic, {
        'cleanup.policy': 'compact',
        'segment.bytes': '1048576',
        'segment.ms': '100',
        'min.cleanable.dirty.ratio': '0.01',
        'delete.retention.ms': '0',
      });

    it('bounds end after the last record that compaction has left in the last batch', async () => {
      const topic = await makeTopic(log, { compacted: true });
      await compactSoon(topic);
      await log.append(topic, [record('a', 'kept'), record('b', null)]);
      expect(await log.bounds(topic, 0)).toEqual({ earliest: 0, next: 2 });
      const producer = await transactionalProducer(uniqueName('other'));
      // Invisible records close the segment of the batch, which is then compacted without the deleted key.
      await eventually(async () => {
        const transaction = await producer.transaction();
        await transaction.send({ topic, messages: [{ key: 'c', value: 'aborted' }] });
        await transaction.abort();
        return (await readAll(log, topic)).length === 1;
      });
      await producer.disconnect();
      expect(await log.bounds(topic, 0)).toEqual({ earliest: 0, next: 1 });
      expect(await log.lastRecord(topic, 0)).toMatchObject({ offset: 0, key: 'a' });
    });

    it('reads past compacted offsets to the end, and from an offset that compaction removed', async () => {
      const topic = await makeTopic(log, { compacted: true });
      await compactSoon(topic);
      const now = Date.now();
      for (let round = 0; round < 30; round++) {
        await log.append(
          topic,
          ['a', 'b', 'c'].map((key) => record(key, `${key}${round}`, now + round)),
        );
      }
      // Closes the previous segment, which is then compacted, including batches without remaining records.
      const keep = async () => {
        await log.append(topic, [record('d', 'end', now + 1000)]);
        return (await readAll(log, topic)).length;
      };
      await eventually(async () => (await keep()) < 20);
      const retained = await readAll(log, topic);
      expect(new Map(retained.map(({ key, value }) => [key, value?.toString()]))).toEqual(
        new Map([
          ['a', 'a29'],
          ['b', 'b29'],
          ['c', 'c29'],
          ['d', 'end'],
        ]),
      );
      const last = retained.at(-1) as LogRecord;
      for (let offset = 0; offset <= last.offset; offset += 7) {
        expect(await readAll(log, topic, { offset })).toEqual(retained.filter((one) => one.offset >= offset));
      }
      const reader = tail(log, { topic, partition: 0, from: { offset: 1 }, maxRecords: 2 });
      await reader.until((records) => records.at(-1)?.offset === last.offset);
      await reader.stop();
      expect(reader.records).toEqual(retained.filter(({ offset }) => offset >= 1));
      expect((await log.lastRecord(topic, 0))?.offset).toBe(last.offset);
    });

    it('a start offset that retention deleted means the earliest retained record', async () => {
      const topic = await makeTopic(log, { retentionMs: 3_600_000 });
      await log.append(topic, numbered(20));
      const early = tail(log, { topic, partition: 0, from: 'earliest' });
      await early.until((records) => records.length === 20);
      // All of these are older than an hour, so the broker closes the segment and deletes it.
      await eventually(async () => (await log.bounds(topic, 0)).earliest === 20);
      expect(await log.bounds(topic, 0)).toEqual({ earliest: 20, next: 20 });
      expect(await readAll(log, topic, { offset: 3 })).toEqual([]);
      expect(await log.lastRecord(topic, 0)).toBeNull();
      const late = tail(log, { topic, partition: 0, from: { offset: 3 } });
      await log.append(topic, [record('k', 'new', Date.now())]);
      await late.until((records) => records.length === 1);
      await early.until((records) => records.length === 21);
      await Promise.all([early.stop(), late.stop()]);
      expect(late.records[0]).toMatchObject({ offset: 20, key: 'k' });
    });

    it('topics have the retention of their spec, which ensureTopics only increases', async () => {
      const names = ['cleanup.policy', 'retention.ms'];
      const topicConfig = async (topic: string) => {
        const { resources } = await admin.describeConfigs({
          includeSynonyms: false,
          resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames: names }],
        });
        const entries = resources[0]!.configEntries.map(({ configName, configValue }) => [configName, configValue]);
        return Object.fromEntries(entries) as Record<string, string>;
      };
      const spec = { name: uniqueName('topic'), partitions: 1, compacted: false };
      await log.ensureTopics([{ ...spec, retentionMs: 7_200_000 }]);
      expect(await topicConfig(spec.name)).toEqual({ 'cleanup.policy': 'delete', 'retention.ms': '7200000' });
      await log.ensureTopics([{ ...spec, retentionMs: 3_600_000 }]);
      expect(await topicConfig(spec.name)).toMatchObject({ 'retention.ms': '7200000' });
      // A broker may describe the former configuration until it has read the change from the controller.
      const described = () => expect.poll(() => topicConfig(spec.name));
      await log.ensureTopics([{ ...spec, retentionMs: 86_400_000 }]);
      await described().toMatchObject({ 'retention.ms': '86400000' });
      await log.ensureTopics([{ ...spec, retentionMs: null }]);
      await described().toMatchObject({ 'retention.ms': '-1' });
      await expect(log.ensureTopics([{ ...spec, compacted: true, retentionMs: null }])).rejects.toThrow('compacted');
      const compacted = await makeTopic(log, { compacted: true });
      expect(await topicConfig(compacted)).toEqual({ 'cleanup.policy': 'compact', 'retention.ms': '-1' });
      const both = await makeTopic(log, { compacted: true, retentionMs: 86_400_000 });
      expect(await topicConfig(both)).toEqual({ 'cleanup.policy': 'compact,delete', 'retention.ms': '86400000' });
    });
  });
}
