import { expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { topics } from '../../schemas/topics.js';
import { createHistoryTrimmer } from './history-trimmer.js';

const DAY_MS = 86_400_000;
/** Noon of day 100: with 30 days the records of days before day 70 are too old. */
const NOW = 100.5 * DAY_MS;
const topic = topics.chainFinal;

/** A log with one record per day from day 0 to 99 in partition 0, at the offset of its day; partition 1 is empty. */
function setUp(days = 30, nowMs = NOW) {
  const starts = [0, 0];
  const log = {
    partitions: async () => starts.length,
    bounds: async (_topic: string, partition: number) => ({
      earliest: starts[partition] as number,
      next: partition === 0 ? 100 : 0,
    }),
    lastRecord: async (_topic: string, partition: number) =>
      partition === 0 ? { offset: 99, key: '', value: null, timestampMs: 99 * DAY_MS } : null,
    offsetForTimestamp: async (_topic: string, partition: number, timestampMs: number) =>
      partition === 0 ? Math.ceil(timestampMs / DAY_MS) : 0,
    deleteBefore: async (_topic: string, partition: number, offset: number) => {
      starts[partition] = offset;
    },
  };
  let neededFrom = 100;
  let tickRowsDeleted = 0;
  let fails: Error | null = null;
  const metrics = createMetrics({ process: 'test', defaults: false });
  const trimmer = createHistoryTrimmer({
    log,
    days,
    rawTopics: [{ topic, neededFrom: async (partition) => (partition === 0 ? neededFrom : 0) }],
    deleteTickRows: async () => {
      tickRowsDeleted++;
      if (fails !== null) throw fails;
    },
    logger: silentLogger(),
    metrics,
    nowMs: () => nowMs,
    everyMs: 1,
    marginRecords: 5,
  });
  return {
    trimmer,
    metrics,
    earliest: () => starts[0],
    need: (offset: number) => {
      neededFrom = offset;
    },
    fail: (error: Error | null) => {
      fails = error;
    },
    passes: () => tickRowsDeleted,
  };
}

it('history trimmer deletes the records of days before the retained ones at the second pass', async () => {
  const { trimmer, earliest, metrics } = setUp();
  await trimmer.trimOnce();
  expect(earliest()).toBe(0);
  await trimmer.trimOnce();
  expect(earliest()).toBe(70);
  const { values } = await metrics.registry.getSingleMetric('oddstream_history_deleted_records_total')!.get();
  expect(values).toEqual([
    expect.objectContaining({ value: 70, labels: expect.objectContaining({ topic: topic.name }) }),
  ]);
  await trimmer.trimOnce();
  expect(earliest()).toBe(70);
});

it('history trimmer with a clock that is a year ahead deletes as two days after the newest record', async () => {
  const { trimmer, earliest } = setUp(30, NOW + 365 * DAY_MS);
  await trimmer.trimOnce();
  await trimmer.trimOnce();
  // The newest record is of day 99.
  expect(earliest()).toBe(71);
});

it('history trimmer deletes nothing that the slowest reader needs, now or at the pass before, nor the margin before it', async () => {
  const { trimmer, earliest, need } = setUp(1);
  need(20);
  await trimmer.trimOnce();
  need(60);
  await trimmer.trimOnce();
  expect(earliest()).toBe(15);
  // The tables were restored.
  need(30);
  await trimmer.trimOnce();
  expect(earliest()).toBe(25);
  need(0);
  await trimmer.trimOnce();
  await trimmer.trimOnce();
  expect(earliest()).toBe(25);
  need(100);
  await trimmer.trimOnce();
  await trimmer.trimOnce();
  expect(earliest()).toBe(95);
});

it('history trimmer continues after a failure that may pass, and ends with any other', async () => {
  const { trimmer, fail, passes } = setUp();
  const stop = new AbortController();
  fail(new RetryableError('the tables are unreachable'));
  const running = trimmer.run(stop.signal);
  while (passes() < 3) await new Promise((resolve) => setImmediate(resolve));
  fail(new TypeError('wrong'));
  await expect(running).rejects.toThrow('wrong');
  fail(null);
  const again = trimmer.run(stop.signal);
  stop.abort();
  await again;
});
