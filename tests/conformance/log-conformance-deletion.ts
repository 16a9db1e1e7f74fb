import { describe, expect, it } from 'vitest';
import { LogRequestError } from '../../infra/log/errors.js';
import { type LogUnderTest, makeTopic, numbered, readAll, T0, tail, texts, withInstance } from './log-harness.js';

/** Deletion of the records of a partition below an offset. */
export function describeDeletion(under: () => LogUnderTest): void {
  describe('deleteBefore', () => {
    it('deletes the records below the offset in every instance, and only those of the partition', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { partitions: 2 });
      for (const partition of [0, 1])
        for (let i = 0; i < 5; i++)
          await log.append(
            topic,
            numbered(4, i * 4).map((one) => ({ ...one, partition })),
          );
      const before = await log.bounds(topic, 1);
      const middle = (await readAll(log, topic, 'earliest', 1))[7]!.offset;
      await withInstance(under(), async (other) => {
        const reader = tail(other, { topic, partition: 1, from: 'earliest' });
        await reader.until((records) => records.length === 20);
        await log.deleteBefore(topic, 1, middle);
        for (const one of [log, other]) {
          expect(await one.bounds(topic, 1)).toEqual({ earliest: middle, next: before.next });
          expect(texts(await readAll(one, topic, 'earliest', 1))[0]).toBe('v7');
          expect(await readAll(one, topic, { offset: before.earliest }, 1)).toHaveLength(13);
          expect(await one.offsetForTimestamp(topic, 1, T0)).toBe(middle);
          expect(await one.offsetForTimestamp(topic, 1, T0 + 9)).toBeGreaterThan(middle);
          expect(await readAll(one, topic, 'earliest', 0)).toHaveLength(20);
        }
        await log.append(
          topic,
          numbered(1, 20).map((one) => ({ ...one, partition: 1 })),
        );
        await reader.until((records) => records.length === 21);
        await reader.stop();
      });
    });

    it('deletes at most all records; an offset at or below the start has no effect', async () => {
      const { log } = under();
      const topic = await makeTopic(log);
      await log.append(topic, numbered(10));
      const { earliest, next } = await log.bounds(topic, 0);
      await log.deleteBefore(topic, 0, earliest);
      expect(await readAll(log, topic)).toHaveLength(10);
      await log.deleteBefore(topic, 0, next + 1000);
      expect(await readAll(log, topic)).toEqual([]);
      expect(await log.lastRecord(topic, 0)).toBeNull();
      await log.deleteBefore(topic, 0, earliest + 3);
      await log.append(topic, numbered(2, 10));
      expect(texts(await readAll(log, topic))).toEqual(['v10', 'v11']);
      expect((await readAll(log, topic))[0]!.offset).toBeGreaterThanOrEqual(next);
    });

    it('leaves committed positions as they are', async () => {
      const { log } = under();
      const topic = await makeTopic(log);
      await log.append(topic, numbered(10));
      const [, , third, , fifth] = await readAll(log, topic);
      const position = { topic, partition: 0, nextOffset: third!.offset };
      await log.commit('deleting', [position]);
      await log.deleteBefore(topic, 0, fifth!.offset);
      expect(await log.committed('deleting', topic)).toEqual([position]);
      expect(texts(await readAll(log, topic, { offset: third!.offset }))[0]).toBe('v4');
    });

    it('rejects what is no offset', async () => {
      const { log } = under();
      const topic = await makeTopic(log);
      for (const offset of [-1, 0.5, Number.NaN])
        await expect(log.deleteBefore(topic, 0, offset)).rejects.toBeInstanceOf(LogRequestError);
      await expect(log.deleteBefore(topic, 1, 0)).rejects.toBeInstanceOf(LogRequestError);
    });
  });
}
