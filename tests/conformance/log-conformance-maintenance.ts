import { describe, expect, it } from 'vitest';
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
} from './log-harness.js';

const HOUR_MS = 60 * 60_000;

/** Retention and compaction, for engines whose `maintain` applies them at once. */
export function describeMaintenance(under: () => LogUnderTest, traits: LogTraits): void {
  describe('retention', () => {
    it('retention deletes the first records that are older than the retention time, and no younger ones', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { retentionMs: HOUR_MS });
      for (let i = 0; i < 10; i++) await log.append(topic, [record('k', `v${i}`, T0 + i * 10 * 60_000)]);
      const before = await log.bounds(topic, 0);
      await log.maintain(T0 + HOUR_MS);
      expect(await readAll(log, topic)).toHaveLength(10);
      await log.maintain(T0 + HOUR_MS + 35 * 60_000);
      expect(texts(await readAll(log, topic))).toEqual(['v4', 'v5', 'v6', 'v7', 'v8', 'v9']);
      expect(await log.bounds(topic, 0)).toEqual({ earliest: before.earliest + 4, next: before.next });
    });

    it('retention keeps records after a younger record', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { retentionMs: HOUR_MS });
      for (const [i, time] of [T0, T0 + 2 * HOUR_MS, T0].entries())
        await log.append(topic, [record('k', `v${i}`, time)]);
      await log.maintain(T0 + 2.5 * HOUR_MS);
      expect(texts(await readAll(log, topic))).toEqual(['v1', 'v2']);
    });

    it('retention passes over records of a clock that ran ahead once records after them have expired', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { retentionMs: HOUR_MS });
      const ahead = T0 + 100 * HOUR_MS;
      await log.append(topic, [record('k', 'old', T0), record('k', 'ahead 1', ahead)]);
      // More than one scan reads, each in a chunk of its own.
      for (let i = 2; i <= 140; i++) await log.append(topic, [record('k', `ahead ${i}`.padEnd(70_000), ahead)]);
      await log.append(topic, [record('k', 'ahead 141', ahead), record('k', 'right', T0)]);
      await log.append(topic, [record('k', 'ahead 142', ahead), record('k', 'young', T0 + HOUR_MS)]);
      await log.append(topic, [record('k', 'disordered', T0), record('k', 'ahead 143', ahead)]);
      const left = async () => texts(await readAll(log, topic)).map((text) => text?.trim());
      await log.maintain(T0 + HOUR_MS / 2);
      expect(await left()).toHaveLength(1 + 143 + 3);
      await log.maintain(T0 + 1.5 * HOUR_MS);
      expect(await left()).toEqual(['ahead 142', 'young', 'disordered', 'ahead 143']);
      await log.maintain(T0 + 2.5 * HOUR_MS);
      expect(await left()).toEqual(['ahead 143']);
      await log.maintain(ahead + 0.5 * HOUR_MS);
      expect(await left()).toEqual(['ahead 143']);
      await log.maintain(ahead + 1.5 * HOUR_MS);
      expect(await left()).toEqual([]);
    });

    it('retention takes a record for one of a clock that ran ahead if it is more than a minute ahead', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { retentionMs: HOUR_MS });
      await log.append(topic, [record('k', 'minute ahead', T0 + 60_000), record('k', 'old', T0 - 2 * HOUR_MS)]);
      await log.maintain(T0);
      expect(texts(await readAll(log, topic))).toEqual(['minute ahead', 'old']);
      await log.maintain(T0 - 1);
      expect(texts(await readAll(log, topic))).toEqual([]);
    });

    it('a reader whose offset was deleted resumes at the earliest record', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { retentionMs: HOUR_MS });
      for (let i = 0; i < 6; i++) await log.append(topic, [record('k', `v${i}`, T0 + i * HOUR_MS)]);
      const { earliest } = await log.bounds(topic, 0);
      const iterator = log.read({ topic, partition: 0, from: 'earliest', follow: false, maxRecords: 1 });
      const reader = iterator[Symbol.asyncIterator]();
      expect(texts((await reader.next()).value.records)).toEqual(['v0']);
      await log.maintain(T0 + 5 * HOUR_MS);
      expect(texts((await reader.next()).value.records)).toEqual(['v4']);
      expect(texts(await readAll(log, topic, { offset: earliest + 1 }))).toEqual(['v4', 'v5']);
      expect(await log.offsetForTimestamp(topic, 0, T0)).toBe(earliest + 4);
      expect(await log.offsetForTimestamp(topic, 0, T0 + 5 * HOUR_MS)).toBe(earliest + 5);
    });

    it('retention may empty a partition, whose next offset stays the same', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { retentionMs: HOUR_MS });
      const reader = tail(log, { topic, partition: 0, from: 'earliest' });
      await log.append(topic, numbered(5));
      await reader.until((records) => records.length === 5);
      const { next } = await log.bounds(topic, 0);
      await log.maintain(T0 + 10 * HOUR_MS);
      expect(await log.bounds(topic, 0)).toEqual({ earliest: next, next });
      expect(await log.lastRecord(topic, 0)).toBeNull();
      expect(await log.offsetForTimestamp(topic, 0, T0)).toBe(next);
      const [range] = await log.append(topic, numbered(1, 5));
      expect(range!.firstOffset).toBe(next);
      await reader.until((records) => records.length === 6);
      await reader.stop();
    });

    it('retention is per topic: null deletes nothing, and an increased retention takes effect', async () => {
      const { log } = under();
      const forEver = await makeTopic(log);
      const short = await makeTopic(log, { retentionMs: HOUR_MS });
      for (const topic of [forEver, short]) await log.append(topic, numbered(3));
      await log.ensureTopics([{ name: short, partitions: 1, retentionMs: 100 * HOUR_MS, compacted: false }]);
      await log.maintain(T0 + 50 * HOUR_MS);
      expect(await readAll(log, short)).toHaveLength(3);
      await log.maintain(T0 + 200 * HOUR_MS);
      expect(await readAll(log, short)).toHaveLength(0);
      expect(await readAll(log, forEver)).toHaveLength(3);
    });

    it('retention deletes more records than one transaction contains', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { retentionMs: HOUR_MS });
      for (let i = 0; i < 300; i++) await log.append(topic, numbered(2, i * 2));
      await log.append(topic, [record('young', 'young', T0 + HOUR_MS)]);
      await log.maintain(T0 + 1.5 * HOUR_MS);
      expect(texts(await readAll(log, topic))).toEqual(['young']);
    });
  });

  describe('compaction', () => {
    it('compaction retains the last record per key at its offset, in order', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { compacted: true });
      for (let i = 0; i < 60; i++) await log.append(topic, [record(`k${i % 7}`, `v${i}`, T0 + i)]);
      const before = await readAll(log, topic);
      await log.maintain(T0);
      const after = await readAll(log, topic);
      expect(after).toEqual(before.slice(-7));
      expect(await log.bounds(topic, 0)).toMatchObject({ earliest: before[53]!.offset, next: before[59]!.offset + 1 });
      expect(await log.lastRecord(topic, 0)).toEqual(before[59]);
    });

    it('compaction leaves holes that readers skip', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { compacted: true });
      await log.append(topic, [record('a', 'a0'), ...numbered(20), ...numbered(20), record('b', 'b0')]);
      await log.maintain(T0);
      const records = await readAll(log, topic);
      expect(texts(records)).toEqual(['a0', ...numbered(20).map(({ value }) => String(value)), 'b0']);
      const { earliest, next } = await log.bounds(topic, 0);
      for (let offset = earliest; offset < next; offset++) {
        const expected = records.filter((one) => one.offset >= offset);
        expect(await readAll(log, topic, { offset })).toEqual(expected);
      }
    });

    it('compaction processes records appended after a pass', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { compacted: true });
      for (let pass = 0; pass < 5; pass++) {
        for (let i = 0; i < 30; i++) await log.append(topic, [record(`k${i % (5 + pass)}`, `${pass}/${i}`)]);
        await log.maintain(T0);
        const records = await readAll(log, topic);
        expect(records.map(({ key }) => key).sort()).toEqual(
          Array.from({ length: 5 + pass }, (_, i) => `k${i}`).sort(),
        );
        for (const { value } of records) expect(value!.toString().startsWith(`${pass}/`)).toBe(true);
      }
    });

    it('compaction retains a tombstone for its grace period, then removes the key', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { compacted: true });
      await log.append(topic, [record('a', '1'), record('b', '2'), record('a', null), record('c', null)]);
      const nowMs = T0 + 1000;
      await log.maintain(nowMs);
      expect((await readAll(log, topic)).map(({ key, value }) => [key, value?.toString() ?? null])).toEqual([
        ['b', '2'],
        ['a', null],
        ['c', null],
      ]);
      await log.maintain(nowMs + traits.tombstoneGraceMs - 1);
      expect(await readAll(log, topic)).toHaveLength(3);
      const { next } = await log.bounds(topic, 0);
      await log.maintain(nowMs + traits.tombstoneGraceMs);
      expect(texts(await readAll(log, topic))).toEqual(['2']);
      expect((await log.bounds(topic, 0)).next).toBe(next);
      await log.append(topic, [record('a', 'again')]);
      expect(texts(await readAll(log, topic))).toEqual(['2', 'again']);
    });

    it('retention passes over records of a clock that ran ahead when compaction has removed the record after them', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { compacted: true, retentionMs: HOUR_MS });
      const ahead = T0 + 100 * HOUR_MS;
      await log.append(topic, [record('a', 'ahead', ahead), record('b', 'right', T0), record('c', 'replaced', T0)]);
      // Too large for a chunk with the others.
      await log.append(topic, [record('c', 'young'.padEnd(70_000), T0 + HOUR_MS)]);
      const left = async () => texts(await readAll(log, topic)).map((text) => text?.trim());
      await log.maintain(T0);
      expect(await left()).toEqual(['ahead', 'right', 'young']);
      await log.maintain(T0 + 1.5 * HOUR_MS);
      expect(await left()).toEqual(['young']);
    });

    it('compaction and retention both apply to a topic with both', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { compacted: true, retentionMs: HOUR_MS });
      await log.append(topic, [record('old', 'o', T0)]);
      await log.append(topic, [record('k', '1', T0 + HOUR_MS), record('k', '2', T0 + HOUR_MS)]);
      await log.append(topic, [record('young', 'y', T0 + 2 * HOUR_MS)]);
      await log.maintain(T0 + 1.5 * HOUR_MS);
      expect(texts(await readAll(log, topic))).toEqual(['2', 'y']);
      await log.maintain(T0 + 2.5 * HOUR_MS);
      expect(texts(await readAll(log, topic))).toEqual(['y']);
    });

    it('compaction runs while a lagging reader reads and writers append', async () => {
      const { log, reopen } = under();
      const topic = await makeTopic(log, { compacted: true });
      const value = 'x'.repeat(500);
      for (let i = 0; i < 20; i++) {
        await log.append(
          topic,
          Array.from({ length: 500 }, (_, j) => record(`k${j}`, `${i} ${value}`)),
        );
      }
      const other = await reopen();
      const reader = tail(other, { topic, partition: 0, from: 'earliest', maxRecords: 50 });
      const maintained = log.maintain(T0);
      const more: Promise<unknown>[] = [];
      for (let i = 0; i < 50; i++) {
        more.push(other.append(topic, [record(`k${i}`, 'new')]));
        await more.at(-1);
      }
      await maintained;
      await reader.until((records) => records.filter((one) => String(one.value) === 'new').length === 50);
      await reader.stop();
      await other.close();
      const offsets = reader.records.map(({ offset }) => offset);
      expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b));
      await log.maintain(T0);
      const latest = new Map(reader.records.map((one) => [one.key, one] as const));
      const left = await readAll(log, topic);
      expect(left).toHaveLength(500);
      for (const one of left) expect(one).toEqual(latest.get(one.key));
    });

    it('offsetForTimestamp is exact after compaction', async () => {
      const { log } = under();
      const topic = await makeTopic(log, { compacted: true });
      for (let i = 0; i < 100; i++) {
        await log.append(topic, [record(`k${(i * 7) % 13}`, String(i), T0 + ((i * 37) % 101) * 1000)]);
      }
      await log.maintain(T0);
      const records = await readAll(log, topic);
      const { next } = await log.bounds(topic, 0);
      for (let time = T0 - 500; time <= T0 + 102_000; time += 500) {
        const first = records.find(({ timestampMs }) => timestampMs >= time)?.offset ?? next;
        expect(await log.offsetForTimestamp(topic, 0, time)).toBe(first);
      }
    });
  });

  it('maintenance may be requested by several instances at once', async () => {
    const { log, reopen } = under();
    const topic = await makeTopic(log, { compacted: true });
    for (let i = 0; i < 30; i++) await log.append(topic, [record(`k${i % 3}`, `v${i}`)]);
    const other = await reopen();
    await Promise.all([log.maintain(T0), other.maintain(T0), log.maintain(T0)]);
    await other.close();
    expect(texts(await readAll(log, topic))).toEqual(['v27', 'v28', 'v29']);
  });
}
