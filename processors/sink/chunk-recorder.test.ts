import { describe, expect, it, vi } from 'vitest';
import { createChunkRecorder } from './chunk-recorder.js';

const row = (sink: string) => ({
  sink,
  topic: 'chain.final',
  partition: 0,
  first_offset: 10,
  last_offset: 19,
  planned_at: 1_790_000_000_000,
});

/** A store whose inserts end when the test says so. */
function pendingStore() {
  const inserts: { text: string; end(error?: Error): void }[] = [];
  const insertBytes = vi.fn(
    (_table: string, _format: string, body: Buffer) =>
      new Promise<void>((resolve, reject) => {
        inserts.push({
          text: body.toString('latin1'),
          end: (error) => (error === undefined ? resolve() : reject(error)),
        });
      }),
  );
  return { inserts, store: { insertBytes } as never };
}

describe('chunk recorder', () => {
  it('inserts rows of several sinks at once that come within 20 ms, and those that come during an insert with the next', async () => {
    vi.useFakeTimers();
    try {
      const { inserts, store } = pendingStore();
      const recorder = createChunkRecorder({ store, shared: true });
      const done: string[] = [];
      const record = (sink: string) => void recorder.record(row(sink)).then(() => done.push(sink));
      record('fills');
      await vi.advanceTimersByTimeAsync(15);
      record('blocks');
      expect(inserts).toHaveLength(0);
      await vi.advanceTimersByTimeAsync(5);
      expect(inserts).toHaveLength(1);
      expect(inserts[0]?.text).toMatch(/fills.*blocks/s);
      record('ticks');
      record('positions');
      await vi.advanceTimersByTimeAsync(1_000);
      expect([inserts.length, done]).toEqual([1, []]);
      inserts[0]?.end();
      await vi.advanceTimersByTimeAsync(20);
      expect(done).toEqual(['fills', 'blocks']);
      expect(inserts).toHaveLength(2);
      expect(inserts[1]?.text).toMatch(/ticks.*positions/s);
    } finally {
      vi.useRealTimers();
    }
  });

  it('rejects every row of a failed insert with its error, and inserts the next row', async () => {
    const { inserts, store } = pendingStore();
    const recorder = createChunkRecorder({ store });
    const first = recorder.record(row('fills'));
    const second = recorder.record(row('blocks'));
    inserts[0]?.end(new Error('connection lost'));
    await expect(first).rejects.toThrow('connection lost');
    await vi.waitFor(() => expect(inserts).toHaveLength(2));
    inserts[1]?.end();
    await second;
    const third = recorder.record(row('ticks'));
    await vi.waitFor(() => expect(inserts).toHaveLength(3));
    inserts[2]?.end();
    await third;
  });
});
