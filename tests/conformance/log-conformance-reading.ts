import { beforeAll, describe, expect, it } from 'vitest';
import { LogRequestError } from '../../infra/log/errors.js';
import type { Log } from '../../infra/log/port.js';
import {
  type LogUnderTest,
  makeTopic,
  numbered,
  readAll,
  record,
  T0,
  tail,
  texts,
  withInstance,
} from './log-harness.js';

/** Start positions, batches, following, and the end of a read. */
export function describeReading(under: () => LogUnderTest): void {
  describe('reading', () => {
    let log: Log;
    beforeAll(() => {
      log = under().log;
    });
    const using = <T>(work: (other: Log) => Promise<T>) => withInstance(under(), work);

    it('read starts at the requested position', async () => {
      const topic = await makeTopic(log);
      const [range] = await log.append(topic, numbered(10));
      const first = range!.firstOffset;
      expect(await readAll(log, topic, 'earliest')).toHaveLength(10);
      expect(await readAll(log, topic, 'latest')).toEqual([]);
      expect(texts(await readAll(log, topic, { offset: first + 7 }))).toEqual(['v7', 'v8', 'v9']);
      expect(await readAll(log, topic, { offset: first + 10 })).toEqual([]);
      expect(texts(await readAll(log, topic, { timestampMs: T0 + 8 }))).toEqual(['v8', 'v9']);
      expect(await readAll(log, topic, { timestampMs: T0 + 10 })).toEqual([]);
      expect(await readAll(log, topic, { timestampMs: 0 })).toHaveLength(10);
    });

    it('read yields batches in order, none empty, none over maxRecords, each with its nextOffset', async () => {
      const topic = await makeTopic(log);
      for (let i = 0; i < 20; i++) await log.append(topic, numbered(5, i * 5));
      let expected = 0;
      let next: number | null = null;
      for await (const batch of log.read({ topic, partition: 0, from: 'earliest', follow: false, maxRecords: 7 })) {
        expect(batch).toMatchObject({ topic, partition: 0 });
        expect(batch.records.length).toBeGreaterThan(0);
        expect(batch.records.length).toBeLessThanOrEqual(7);
        if (next !== null) expect(batch.records[0]!.offset).toBeGreaterThanOrEqual(next);
        for (const { value } of batch.records) expect(value!.toString()).toBe(`v${expected++}`);
        expect(batch.nextOffset).toBeGreaterThan(batch.records.at(-1)!.offset);
        next = batch.nextOffset;
      }
      expect(expected).toBe(100);
      expect(await readAll(log, topic, { offset: next! })).toEqual([]);
    });

    it('read resumes at nextOffset without a gap or a repeat', async () => {
      const topic = await makeTopic(log);
      await log.append(topic, numbered(50));
      const seen: string[] = [];
      let from: { offset: number } | 'earliest' = 'earliest';
      for (let i = 0; i < 10; i++) {
        for await (const batch of log.read({ topic, partition: 0, from, follow: false, maxRecords: 5 })) {
          seen.push(...texts(batch.records).map(String));
          from = { offset: batch.nextOffset };
          break;
        }
      }
      expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => `v${i}`));
    });

    it('read without follow ends at the last record present at its start', async () => {
      const topic = await makeTopic(log);
      await log.append(topic, numbered(10));
      const seen: string[] = [];
      for await (const batch of log.read({ topic, partition: 0, from: 'earliest', follow: false, maxRecords: 5 })) {
        seen.push(...texts(batch.records).map(String));
        await log.append(topic, numbered(5, 100));
      }
      expect(seen).toEqual(Array.from({ length: 10 }, (_, i) => `v${i}`));
    });

    it('read follows records of another instance', async () => {
      const topic = await makeTopic(log);
      await log.append(topic, numbered(3));
      await using(async (other) => {
        const early = tail(other, { topic, partition: 0, from: 'earliest' });
        const late = tail(other, { topic, partition: 0, from: { offset: 3 } });
        await early.until((records) => records.length === 3);
        for (let i = 3; i < 40; i++) await log.append(topic, numbered(1, i));
        await early.until((records) => records.length >= 40);
        await late.until((records) => records.length >= 37);
        await Promise.all([early.stop(), late.stop()]);
        expect(texts(early.records)).toEqual(Array.from({ length: 40 }, (_, i) => `v${i}`));
        expect(texts(late.records)).toEqual(Array.from({ length: 37 }, (_, i) => `v${i + 3}`));
      });
    });

    it('read returns every record once while two instances append', async () => {
      const topic = await makeTopic(log, { partitions: 2 });
      await using(async (other) => {
        const tails = [0, 1].map((partition) => tail(other, { topic, partition, from: 'earliest' }));
        const write = async (writer: Log, id: string) => {
          for (let i = 0; i < 100; i++) await writer.append(topic, [record(id, `${id}${i}`, T0, i % 2)]);
        };
        await Promise.all([write(log, 'a'), write(other, 'b')]);
        for (const [partition, reader] of tails.entries()) {
          await reader.until((records) => records.length >= 100);
          await reader.stop();
          for (const id of ['a', 'b']) {
            const received = texts(reader.records).filter((value) => value!.startsWith(id));
            expect(received).toEqual(Array.from({ length: 50 }, (_, i) => `${id}${i * 2 + partition}`));
          }
        }
      });
    });

    it('read ends without an error when the signal aborts before it, while it waits, or between batches', async () => {
      const topic = await makeTopic(log);
      await log.append(topic, numbered(4));
      const read = { topic, partition: 0, from: 'earliest', maxRecords: 2 } as const;
      for await (const batch of log.read({ ...read, follow: true, signal: AbortSignal.abort() })) {
        expect.unreachable(`got ${batch.records.length} records`);
      }
      const waiting = tail(log, read);
      await waiting.until((records) => records.length === 4);
      await waiting.stop();
      const abort = new AbortController();
      let batches = 0;
      for await (const batch of log.read({ ...read, follow: false, signal: abort.signal })) {
        batches += batch.records.length > 0 ? 1 : 0;
        abort.abort();
      }
      expect(batches).toBe(1);
    });

    it('read allows many readers to wait on one signal', async () => {
      const topic = await makeTopic(log);
      const abort = new AbortController();
      const ended = Array.from({ length: 30 }, async () => {
        let count = 0;
        const read = { topic, partition: 0, from: 'earliest', follow: true, signal: abort.signal } as const;
        for await (const batch of log.read(read)) {
          count += batch.records.length;
          if (count >= 2) break;
        }
        return count;
      });
      await log.append(topic, numbered(1));
      await log.append(topic, numbered(1, 1));
      expect(await Promise.all(ended)).toEqual(Array.from({ length: 30 }, () => 2));
      abort.abort();
    });

    it('read rejects invalid options', async () => {
      const topic = await makeTopic(log);
      await log.append(topic, numbered(1));
      await expect(readAll(log, topic, { offset: -1 })).rejects.toBeInstanceOf(LogRequestError);
      await expect(readAll(log, topic, { offset: 0.5 })).rejects.toBeInstanceOf(LogRequestError);
      await expect(readAll(log, topic, { timestampMs: Number.NaN })).rejects.toBeInstanceOf(LogRequestError);
      const none = log.read({ topic, partition: 0, from: 'earliest', follow: false, maxRecords: 0 });
      await expect(none[Symbol.asyncIterator]().next()).rejects.toBeInstanceOf(LogRequestError);
    });
  });
}
