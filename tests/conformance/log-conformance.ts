import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { yieldToEventLoop } from '../../infra/event-loop.js';
import { LogRequestError, UnknownTopicError } from '../../infra/log/errors.js';
import { partitionForKey } from '../../infra/log/partitioner.js';
import type { Log } from '../../infra/log/port.js';
import { describeAppending } from './log-conformance-appending.js';
import { describeDeletion } from './log-conformance-deletion.js';
import { describeMaintenance } from './log-conformance-maintenance.js';
import { describeModel } from './log-conformance-model.js';
import { describeOwnership } from './log-conformance-ownership.js';
import { describeReading } from './log-conformance-reading.js';
import {
  type LogTraits,
  type LogUnderTest,
  makeTopic,
  numbered,
  readAll,
  record,
  T0,
  tail,
  texts,
  uniqueName,
  withInstance,
} from './log-harness.js';

const DAY_MS = 24 * 60 * 60_000;
const defaults: LogTraits = { contiguousOffsets: true, maintains: true, tombstoneGraceMs: DAY_MS };

/** The conformance suite of the log port for every engine. `open` is called once per group of tests. */
export function describeLog(name: string, open: () => Promise<LogUnderTest>, traits: Partial<LogTraits> = {}): void {
  const all: LogTraits = { ...defaults, ...traits };
  describe(`log: ${name}`, () => {
    let under: LogUnderTest;
    let log: Log;
    beforeAll(async () => {
      under = await open();
      log = under.log;
    });
    afterAll(() => under.cleanup());
    const using = <T>(work: (other: Log) => Promise<T>) => withInstance(under, work);

    describeAppending(() => under, all);
    describeReading(() => under);

    describe('bounds, last record, timestamps', () => {
      it('bounds of an empty partition are equal', async () => {
        const topic = await makeTopic(log);
        const bounds = await log.bounds(topic, 0);
        expect(bounds.earliest).toBe(bounds.next);
        expect(await log.lastRecord(topic, 0)).toBeNull();
        expect(await log.offsetForTimestamp(topic, 0, 0)).toBe(bounds.next);
      });

      it('bounds and lastRecord change with appends, per partition', async () => {
        const topic = await makeTopic(log, { partitions: 2 });
        await log.append(topic, [record('a', '1', T0, 0), record('b', '2', T0 + 5, 0)]);
        const last = await log.lastRecord(topic, 0);
        expect(last).toMatchObject({ key: 'b', timestampMs: T0 + 5 });
        expect(last!.value!.toString()).toBe('2');
        const bounds = await log.bounds(topic, 0);
        expect(bounds.next).toBe(last!.offset + 1);
        expect(bounds.next - bounds.earliest).toBe(2);
        expect(await log.lastRecord(topic, 1)).toBeNull();
      });

      it('bounds are visible to another instance at once', async () => {
        const topic = await makeTopic(log);
        await using(async (other) => {
          for (let i = 1; i <= 20; i++) {
            const [range] = await log.append(topic, numbered(1, i));
            expect((await other.bounds(topic, 0)).next).toBe(range!.lastOffset + 1);
            expect((await other.lastRecord(topic, 0))!.key).toBe(`k${i}`);
          }
        });
      });

      it('offsetForTimestamp finds the first record at or after a time, also with times out of order', async () => {
        const topic = await makeTopic(log);
        const times = [5000, 1000, 9000, 8000, 20_000, 7000, 20_000, 30_500, 30_000, 12_000];
        for (const [i, time] of times.entries()) await log.append(topic, [record('k', String(i), time)]);
        const { earliest, next } = await log.bounds(topic, 0);
        for (const time of [0, 1, 1000, 5000, 5001, 9000, 9001, 20_000, 20_001, 30_000, 30_500, 30_501, 10 ** 12]) {
          const first = times.findIndex((recordTime) => recordTime >= time);
          expect([time, await log.offsetForTimestamp(topic, 0, time)]).toEqual([
            time,
            first === -1 ? next : earliest + first,
          ]);
        }
      });
    });

    describe('positions and atomic steps', () => {
      it('committed returns no position before a commit, then the last committed one, per group and partition', async () => {
        const topic = await makeTopic(log, { partitions: 3 });
        const group = uniqueName('group');
        expect(await log.committed(group, topic)).toEqual([]);
        await log.commit(group, [
          { topic, partition: 0, nextOffset: 5 },
          { topic, partition: 2, nextOffset: 0 },
        ]);
        await log.commit(group, [{ topic, partition: 0, nextOffset: 9 }]);
        await log.commit(`${group}2`, [{ topic, partition: 0, nextOffset: 1 }]);
        await using(async (other) => {
          const found = [...(await other.committed(group, topic))].sort((a, b) => a.partition - b.partition);
          expect(found).toEqual([
            { topic, partition: 0, nextOffset: 9 },
            { topic, partition: 2, nextOffset: 0 },
          ]);
          expect(await other.committed(`${group}2`, topic)).toEqual([{ topic, partition: 0, nextOffset: 1 }]);
        });
      });

      it('appendAndCommit commits outputs in several topics and positions together', async () => {
        const [input, left, right] = [
          await makeTopic(log),
          await makeTopic(log, { partitions: 2 }),
          await makeTopic(log),
        ];
        const group = uniqueName('group');
        await log.appendAndCommit({
          outputs: [
            { topic: left, records: [record('a', 'l', T0, 1)] },
            { topic: right, records: numbered(3) },
          ],
          group,
          offsets: [{ topic: input, partition: 0, nextOffset: 42 }],
        });
        expect(texts(await readAll(log, left, 'earliest', 1))).toEqual(['l']);
        expect(texts(await readAll(log, right))).toEqual(['v0', 'v1', 'v2']);
        expect(await log.committed(group, input)).toEqual([{ topic: input, partition: 0, nextOffset: 42 }]);
      });

      it('another instance never sees positions without their outputs', async () => {
        const [input, output] = [await makeTopic(log), await makeTopic(log)];
        const group = uniqueName('group');
        await using(async (other) => {
          const write = (async () => {
            for (let i = 1; i <= 100; i++) {
              const offsets = [{ topic: input, partition: 0, nextOffset: i }];
              await log.appendAndCommit({ outputs: [{ topic: output, records: numbered(2, i) }], group, offsets });
            }
          })();
          for (let position = 0; position < 100; ) {
            await yieldToEventLoop();
            position = (await other.committed(group, input))[0]?.nextOffset ?? 0;
            expect((await readAll(other, output)).length).toBeGreaterThanOrEqual(position * 2);
          }
          await write;
        });
      });

      it('appendAndCommit writes nothing of a step that fails', async () => {
        const [input, output] = [await makeTopic(log), await makeTopic(log)];
        const group = uniqueName('group');
        const fine = { topic: output, records: numbered(2) };
        const position = { topic: input, partition: 0, nextOffset: 1 };
        const steps = [
          { outputs: [fine, { topic: uniqueName('missing'), records: numbered(1) }], offsets: [position] },
          { outputs: [fine, { topic: output, records: [record('a', 'b', -5)] }], offsets: [position] },
          { outputs: [fine], offsets: [position, { topic: uniqueName('missing'), partition: 0, nextOffset: 1 }] },
          { outputs: [fine], offsets: [position, { topic: input, partition: 7, nextOffset: 1 }] },
          { outputs: [fine], offsets: [{ topic: input, partition: 0, nextOffset: -1 }] },
        ];
        for (const step of steps) {
          await expect(log.appendAndCommit({ ...step, group })).rejects.toBeInstanceOf(LogRequestError);
        }
        await expect(log.appendAndCommit({ outputs: [fine], offsets: [position], group: '' })).rejects.toBeInstanceOf(
          LogRequestError,
        );
        expect(await readAll(log, output)).toEqual([]);
        expect(await log.committed(group, input)).toEqual([]);
      });
    });

    describeOwnership(() => under);

    describe('topics', () => {
      it('every call rejects an unknown topic by name', async () => {
        const missing = uniqueName('missing');
        const calls: (() => Promise<unknown>)[] = [
          () => log.append(missing, numbered(1)),
          () => log.partitions(missing),
          () => log.bounds(missing, 0),
          () => log.lastRecord(missing, 0),
          () => log.offsetForTimestamp(missing, 0, 0),
          () => log.committed('group', missing),
          () => log.commit('group', [{ topic: missing, partition: 0, nextOffset: 0 }]),
          () => readAll(log, missing),
        ];
        for (const call of calls) {
          await expect(call()).rejects.toBeInstanceOf(UnknownTopicError);
          await expect(call()).rejects.toThrow(missing);
        }
        const topic = await makeTopic(log);
        await expect(log.bounds(topic, 1)).rejects.toBeInstanceOf(UnknownTopicError);
        await expect(readAll(log, topic, 'earliest', 1)).rejects.toBeInstanceOf(UnknownTopicError);
      });

      it('ensureTopics may be repeated and called concurrently', async () => {
        const specs = Array.from({ length: 6 }, () => ({
          name: uniqueName('topic'),
          partitions: 2,
          // An engine applies retention periodically, and these records are of 2023.
          retentionMs: 36_500 * DAY_MS,
          compacted: false,
        }));
        await using(async (other) => {
          await Promise.all([log, other, log, other].map((each) => each.ensureTopics(specs)));
          for (const { name } of specs) await log.append(name, [record('a', name, T0, 1)]);
          await other.ensureTopics(specs);
          for (const { name } of specs) expect(texts(await readAll(other, name, 'earliest', 1))).toEqual([name]);
        });
      });

      it('ensureTopics increases partitions during use and never removes them', async () => {
        const topic = await makeTopic(log, { partitions: 2 });
        await log.append(topic, [record('a', 'old', T0, 1)]);
        await using(async (other) => {
          expect(await other.partitions(topic)).toBe(2);
          await log.ensureTopics([{ name: topic, partitions: 4, retentionMs: null, compacted: false }]);
          expect(await other.partitions(topic)).toBe(4);
          await other.append(topic, [record('a', 'new', T0, 3)]);
          await log.ensureTopics([{ name: topic, partitions: 1, retentionMs: null, compacted: false }]);
          expect(await log.partitions(topic)).toBe(4);
        });
        expect(texts(await readAll(log, topic, 'earliest', 1))).toEqual(['old']);
        expect(texts(await readAll(log, topic, 'earliest', 3))).toEqual(['new']);
      });

      it('append partitions by the increased count in an instance that has cached the old one', async () => {
        const topic = await makeTopic(log, { partitions: 1 });
        await using(async (other) => {
          await other.append(topic, [record('key-1', 'before')]);
          await log.ensureTopics([{ name: topic, partitions: 8, retentionMs: null, compacted: false }]);
          await other.partitions(topic);
          await other.append(topic, [record('key-1', 'after')]);
          const partition = partitionForKey(Buffer.from('key-1'), 8);
          expect(texts(await readAll(log, topic, 'earliest', partition))).toContain('after');
        });
      });

      it('ensureTopics rejects invalid specs', async () => {
        const spec = { name: uniqueName('topic'), partitions: 1, retentionMs: null, compacted: false };
        for (const bad of [
          { name: '' },
          { name: 'a b' },
          { partitions: 0 },
          { partitions: 1.5 },
          { retentionMs: -1 },
        ]) {
          await expect(log.ensureTopics([{ ...spec, ...bad }])).rejects.toBeInstanceOf(LogRequestError);
        }
      });
    });

    it('close ends readers, and later calls fail as unavailable', async () => {
      const topic = await makeTopic(log);
      const other = await under.reopen();
      const reader = tail(other, { topic, partition: 0, from: 'earliest' });
      await log.append(topic, numbered(1));
      await reader.until((records) => records.length === 1);
      await other.close();
      await reader.ended;
      await expect(other.append(topic, numbered(1))).rejects.toBeInstanceOf(RetryableError);
      await expect(other.bounds(topic, 0)).rejects.toBeInstanceOf(RetryableError);
      await other.close();
    });

    describeDeletion(() => under);
    if (all.maintains) describeMaintenance(() => under, all);
    describeModel(() => under, all);
  });
}
