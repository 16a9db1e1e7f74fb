import { beforeAll, describe, expect, it } from 'vitest';
import { LogRequestError } from '../../infra/log/errors.js';
import { partitionForKey } from '../../infra/log/partitioner.js';
import type { Log } from '../../infra/log/port.js';
import {
  type LogTraits,
  type LogUnderTest,
  makeTopic,
  numbered,
  readAll,
  record,
  T0,
  texts,
  uniqueName,
  withInstance,
} from './log-harness.js';

/** Guarantees of an append: bytes, order, offsets, atomic batches, durability. */
export function describeAppending(under: () => LogUnderTest, traits: LogTraits): void {
  describe('appending', () => {
    let log: Log;
    beforeAll(() => {
      log = under().log;
    });
    const using = <T>(work: (other: Log) => Promise<T>) => withInstance(under(), work);

    it('append preserves records byte for byte and in order', async () => {
      const topic = await makeTopic(log);
      const big = Buffer.alloc(300_000, 'xyz');
      await log.append(topic, [
        record('', ''),
        record('a', null),
        record('ключ-🔑', 'värde'),
        { key: 'big', value: big, timestampMs: 0 },
      ]);
      await log.append(topic, [record('a', 'last', 2 ** 45)]);
      const found = await readAll(log, topic);
      expect(found.map(({ key }) => key)).toEqual(['', 'a', 'ключ-🔑', 'big', 'a']);
      expect(found.map(({ value }) => value)).toEqual([
        Buffer.alloc(0),
        null,
        Buffer.from('värde'),
        big,
        Buffer.from('last'),
      ]);
      expect(found.map(({ timestampMs }) => timestampMs)).toEqual([T0, T0, T0, 0, 2 ** 45]);
    });

    it('append returns the assigned offsets, contiguous per partition', async () => {
      const topic = await makeTopic(log, { partitions: 3 });
      const first = await log.append(topic, [
        record('a', '1', T0, 0),
        record('b', '2', T0, 2),
        record('c', '3', T0, 0),
      ]);
      const second = await log.append(topic, [record('d', '4', T0, 0)]);
      const at = (ranges: typeof first, partition: number) => ranges.find((range) => range.partition === partition);
      expect(first).toHaveLength(2);
      expect(at(first, 0)!.lastOffset - at(first, 0)!.firstOffset).toBe(1);
      expect(at(first, 2)!.lastOffset).toBe(at(first, 2)!.firstOffset);
      expect(at(second, 0)!.firstOffset).toBeGreaterThan(at(first, 0)!.lastOffset);
      const offsets = (await readAll(log, topic)).map(({ offset }) => offset);
      expect(offsets).toEqual([at(first, 0)!.firstOffset, at(first, 0)!.lastOffset, at(second, 0)!.firstOffset]);
      if (traits.contiguousOffsets) expect(offsets).toEqual([0, 1, 2]);
    });

    it('append of an empty batch has no effect', async () => {
      const topic = await makeTopic(log);
      expect(await log.append(topic, [])).toEqual([]);
      expect(await readAll(log, topic)).toEqual([]);
    });

    it('append assigns partitions as Kafka does and keeps each key in one partition', async () => {
      const topic = await makeTopic(log, { partitions: 5 });
      const keys = Array.from({ length: 40 }, (_, i) => `key-${i % 20}`);
      await log.append(
        topic,
        keys.map((key, i) => record(key, String(i))),
      );
      const placed: string[] = [];
      for (let partition = 0; partition < 5; partition++) {
        const records = await readAll(log, topic, 'earliest', partition);
        for (const { key } of records) expect(partitionForKey(Buffer.from(key), 5)).toBe(partition);
        placed.push(...texts(records).map(String));
      }
      expect(placed.map(Number).sort((a, b) => a - b)).toEqual(keys.map((_, i) => i));
    });

    it('append accepts tens of thousands of records at once', async () => {
      const topic = await makeTopic(log);
      const [range] = await log.append(topic, numbered(30_000));
      expect(range!.lastOffset - range!.firstOffset).toBe(29_999);
      const values = texts(await readAll(log, topic));
      expect(values).toHaveLength(30_000);
      expect(values.every((value, i) => value === `v${i}`)).toBe(true);
    });

    it('append preserves the order of concurrent calls', async () => {
      const topic = await makeTopic(log);
      await Promise.all(Array.from({ length: 500 }, (_, i) => log.append(topic, numbered(3, i * 3))));
      expect(texts(await readAll(log, topic))).toEqual(Array.from({ length: 1500 }, (_, i) => `v${i}`));
    });

    it('append keeps every batch contiguous when two instances append at once', async () => {
      const topic = await makeTopic(log);
      await using(async (other) => {
        const write = async (writer: Log, id: string) => {
          for (let i = 0; i < 50; i++) {
            await writer.append(
              topic,
              Array.from({ length: 7 }, (_, j) => record(id, `${id}:${i}:${j}`)),
            );
          }
        };
        await Promise.all([write(log, 'a'), write(other, 'b')]);
      });
      const values = texts(await readAll(log, topic)).map(String);
      expect(values).toHaveLength(700);
      for (let i = 0; i < values.length; i += 7) {
        const [id, batch] = values[i]!.split(':');
        expect(values.slice(i, i + 7)).toEqual(Array.from({ length: 7 }, (_, j) => `${id}:${batch}:${j}`));
      }
      for (const id of ['a', 'b']) {
        const firstOfBatch = values.filter((value) => value.startsWith(id) && value.endsWith(':0'));
        expect(firstOfBatch).toEqual(Array.from({ length: 50 }, (_, i) => `${id}:${i}:0`));
      }
    });

    it('append is durable after close and reopen', async () => {
      const topic = await makeTopic(log, { partitions: 2 });
      await using((writer) => writer.append(topic, [record('a', 'one', T0, 1), record('b', 'two', T0, 1)]));
      await using(async (reader) => {
        expect(texts(await readAll(reader, topic, 'earliest', 1))).toEqual(['one', 'two']);
        expect(await reader.partitions(topic)).toBe(2);
        await reader.append(topic, [record('c', 'three', T0, 1)]);
      });
      expect(texts(await readAll(log, topic, 'earliest', 1))).toEqual(['one', 'two', 'three']);
    });

    it('append completes pending requests before close', async () => {
      const topic = await makeTopic(log);
      const other = await under().reopen();
      const pending = other.append(topic, numbered(10));
      await Promise.all([other.close(), pending]);
      expect(await readAll(log, topic)).toHaveLength(10);
    });

    it('append rejects an invalid record and writes nothing of its batch', async () => {
      const topic = await makeTopic(log, { partitions: 2 });
      const good = record('a', 'good', T0, 0);
      for (const bad of [
        { ...good, timestampMs: -1 },
        { ...good, timestampMs: Number.NaN },
        { ...good, timestampMs: 1.5 },
        { ...good, partition: 2 },
        { ...good, partition: -1 },
        { ...good, value: 'text' as unknown as Buffer },
      ]) {
        await expect(log.append(topic, [good, bad])).rejects.toBeInstanceOf(LogRequestError);
      }
      expect(await readAll(log, topic)).toEqual([]);
    });

    it('append commits valid calls of one event-loop iteration when another call is invalid', async () => {
      const topic = await makeTopic(log);
      const results = await Promise.allSettled([
        log.append(topic, numbered(1, 0)),
        log.append(uniqueName('missing'), numbered(1)),
        log.append(topic, numbered(1, 1)),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(texts(await readAll(log, topic))).toEqual(['v0', 'v1']);
    });
  });
}
