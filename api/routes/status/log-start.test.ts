import { expect, it } from 'vitest';
import type { LogRecord, ReadOptions } from '../../../infra/log/port.js';
import { createLogStart } from './log-start.js';

it('log start is the first block that the log has, read again once the log has deleted it', async () => {
  const records: LogRecord[] = [];
  let earliest = 0;
  let reads = 0;
  const start = createLogStart({
    bounds: async () => ({ earliest, next: records.length }),
    async *read({ topic, partition, from }: ReadOptions) {
      reads++;
      const { offset } = from as { offset: number };
      yield { topic, partition, records: records.slice(offset, offset + 1), nextOffset: offset + 1 };
    },
  });
  expect(await start()).toEqual({ from_block: null, from: null });
  for (const block of [70, 71, 72])
    records.push({ offset: records.length, key: String(block), value: null, timestampMs: block * 1000 });
  expect(await start()).toEqual({ from_block: 70, from: '1970-01-01T00:01:10Z' });
  expect(await start()).toEqual({ from_block: 70, from: '1970-01-01T00:01:10Z' });
  expect(reads).toBe(1);
  earliest = 2;
  expect(await start()).toEqual({ from_block: 72, from: '1970-01-01T00:01:12Z' });
  earliest = 3;
  expect(await start()).toEqual({ from_block: null, from: null });
});
