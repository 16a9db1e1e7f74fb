import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RecordBatch } from '../../infra/log/port.js';
import { followChunks } from './chunk-reader.js';

const NOW_MS = Date.UTC(2026, 10, 21);
const LINGER_MS = 500;

beforeEach(() => {
  vi.useFakeTimers({ now: NOW_MS });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A partition to which the test appends, and the offset ranges of the chunks that its reader has closed. */
function setup(options: { maxRecords?: number; busy?: () => Promise<unknown> } = {}) {
  const stop = new AbortController();
  const batches: RecordBatch[] = [];
  let wake: () => void = () => undefined;
  let next = 0;
  stop.signal.addEventListener('abort', () => wake());
  async function* read(): AsyncGenerator<RecordBatch> {
    while (!stop.signal.aborted) {
      const batch = batches.shift();
      if (batch !== undefined) yield batch;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  const closed: [first: number, last: number][] = [];
  const reading = (async () => {
    const { signal } = stop;
    const source = { log: { read }, topic: 'chain.final', partition: 0, signal, fromOffset: 0, lingerMs: LINGER_MS };
    for await (const { firstOffset, lastOffset } of followChunks({ ...source, maxRecords: 1_000, ...options }))
      closed.push([firstOffset, lastOffset]);
  })();
  return {
    closed,
    append: (count: number, ageMs = 0) => {
      const records = Array.from({ length: count }, () => ({
        offset: next++,
        key: '',
        value: null,
        timestampMs: Date.now() - ageMs,
      }));
      batches.push({ topic: 'chain.final', partition: 0, records, nextOffset: next });
      wake();
    },
    pass: (ms: number) => vi.advanceTimersByTimeAsync(ms),
    end: async () => {
      stop.abort();
      await reading;
    },
  };
}

describe('followChunks', () => {
  it('closes a chunk of new records lingerMs after the first of them, also while more arrive', async () => {
    const { closed, append, pass, end } = setup();
    for (let at = 0; at < 1_000; at += 100) {
      append(1);
      await pass(100);
    }
    expect(closed).toEqual([
      [0, 4],
      [5, 9],
    ]);
    await end();
  });

  it('closes a chunk of records that are older than a minute when none has arrived for lingerMs', async () => {
    const { closed, append, pass, end } = setup();
    for (let at = 0; at < 2_000; at += 400) {
      append(10, 61_000);
      await pass(400);
    }
    expect(closed).toEqual([]);
    await pass(100);
    expect(closed).toEqual([[0, 49]]);
    await end();
  });

  it('closes a chunk of old records after five times lingerMs, however many arrive', async () => {
    const { closed, append, pass, end } = setup();
    for (let at = 0; at < 5 * LINGER_MS; at += 100) {
      append(1, 61_000);
      await pass(100);
    }
    expect(closed).toHaveLength(1);
    expect(closed[0]?.[1]).toBeGreaterThanOrEqual(20);
    await end();
  });

  it('leaves a chunk open until the work on the chunk before has ended or failed', async () => {
    let finish: () => void = () => undefined;
    let fail: (error: Error) => void = () => undefined;
    let work: Promise<void> = new Promise((resolve) => {
      finish = resolve;
    });
    const { closed, append, pass, end } = setup({ busy: () => work });
    append(1);
    await pass(2_000);
    append(1);
    await pass(1_000);
    expect(closed).toEqual([]);
    finish();
    await pass(0);
    expect(closed).toEqual([[0, 1]]);
    work = new Promise((_, reject) => {
      fail = reject;
    });
    append(1);
    await pass(LINGER_MS);
    expect(closed).toHaveLength(1);
    fail(new Error('the table store is unavailable'));
    await pass(0);
    expect(closed.at(-1)).toEqual([2, 2]);
    await end();
  });

  it('closes a full chunk at once, and carries the batch that does not fit into the next', async () => {
    const { closed, append, pass, end } = setup({ maxRecords: 10, busy: () => new Promise(() => undefined) });
    append(6);
    append(4);
    append(7);
    append(4);
    await pass(0);
    expect(closed).toEqual([
      [0, 9],
      [10, 16],
    ]);
    await end();
  });
});
