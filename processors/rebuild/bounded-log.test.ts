import { expect, it } from 'vitest';
import type { RecordBatch } from '../../infra/log/port.js';
import { boundedLog, discardPlans, type SinkLog } from './bounded-log.js';

const topic = 'usage.totals';
const record = (offset: number) => ({ offset, key: 'k', value: Buffer.from('v'), timestampMs: offset });

/** A partition whose other records were removed by compaction; its next offset is 20. Batches have two records. */
const compacted = (...offsets: number[]): SinkLog => ({
  ...discardPlans,
  bounds: async () => ({ earliest: 0, next: 20 }),
  async *read({ partition }): AsyncGenerator<RecordBatch> {
    for (let at = 0; at < offsets.length; at += 2) {
      const records = offsets.slice(at, at + 2).map(record);
      const nextOffset = at + 2 < offsets.length ? (records.at(-1)?.offset ?? 0) + 1 : 20;
      yield { topic, partition, records, nextOffset };
    }
  },
});
const bounded = (log: SinkLog, end: number) => boundedLog({ log, ends: () => end, plans: discardPlans });
async function offsetsOf(log: SinkLog): Promise<number[]> {
  const offsets: number[] = [];
  for await (const { records } of log.read({ topic, partition: 0, from: 'earliest', follow: false }))
    offsets.push(...records.map(({ offset }) => offset));
  return offsets;
}

it.each([
  { name: 'the record before the end is there', left: [0, 3, 7, 9], end: 8, read: [0, 3, 7], next: 8 },
  {
    name: 'compaction removed the last records before the end',
    left: [0, 3, 4, 9, 12],
    end: 8,
    read: [0, 3, 4],
    next: 5,
  },
  { name: 'compaction removed all later records', left: [0, 3], end: 8, read: [0, 3], next: 4 },
  { name: 'compaction removed every record before the end', left: [9, 11], end: 8, read: [], next: 0 },
  { name: 'the partition is empty', left: [], end: 8, read: [], next: 0 },
])('boundedLog reads $read before offset $end and ends at $next when $name', async ({ left, end, read, next }) => {
  const log = bounded(compacted(...left), end);
  expect(await log.bounds(topic, 0)).toEqual({ earliest: 0, next: end });
  expect(await offsetsOf(log)).toEqual(read);
  expect(await log.bounds(topic, 0)).toEqual({ earliest: 0, next });
  expect(await log.bounds(topic, 1)).toEqual({ earliest: 0, next: end });
});

it('boundedLog keeps its end when a read is interrupted', async () => {
  const log = bounded(compacted(0, 3, 4, 9), 8);
  for await (const { records } of log.read({ topic, partition: 0, from: 'earliest', follow: false })) {
    expect(records.map(({ offset }) => offset)).toEqual([0, 3]);
    break;
  }
  expect(await log.bounds(topic, 0)).toEqual({ earliest: 0, next: 8 });
});
