import { afterEach, expect, it, vi } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { committedSql } from './wallet-tags.sql.js';
import { addressRanges, createWalletTagsUpdater } from './wallet-tags-updater.js';

it('addressRanges assigns every address to exactly one range', () => {
  const addresses = [`0x${'0'.repeat(40)}`, `0x0fff${'f'.repeat(36)}`, `0x1${'0'.repeat(39)}`, `0x${'f'.repeat(40)}`];
  for (const [digits, count] of [
    [0, 1],
    [1, 16],
    [2, 256],
  ] as const) {
    const ranges = addressRanges(digits);
    expect(ranges).toHaveLength(count);
    for (const address of addresses)
      expect(ranges.filter(({ low, high }) => address >= low && address < high)).toHaveLength(1);
  }
});

afterEach(() => vi.restoreAllMocks());

/** Pauses after the first passes of an updater to which nothing is committed, so that it writes nothing. `onQuery` may fail a statement. */
async function pausesOf(passes: number, onQuery: (sql: string, passed: number) => void): Promise<readonly number[]> {
  const stop = new AbortController();
  const pauses: number[] = [];
  const updater = createWalletTagsUpdater({
    clickhouse: {
      query: async (sql) => {
        onQuery(sql, pauses.length);
        return [];
      },
      command: () => Promise.reject(new Error('unexpected write')),
      insertRows: () => Promise.reject(new Error('unexpected write')),
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 0,
    pause: async (ms) => {
      pauses.push(ms);
      if (pauses.length === passes) stop.abort();
    },
  });
  await updater.run(stop.signal);
  return pauses;
}

it('wallet tags updater checks for changes every ten seconds, also after a failed pass, and stops at its signal', async () => {
  let reads = 0;
  const pauses = await pausesOf(4, () => {
    if (++reads === 3) throw new RetryableError('unreachable');
  });
  expect(pauses).toEqual([10_000, 10_000, 10_000, 10_000]);
  expect(reads).toBe(7);
});

it('wallet tags updater pauses four times as long as a pass took, but at most a minute, also after a failed pass', async () => {
  let elapsedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
  const passes = [
    { tookMs: 4_000, fails: false },
    { tookMs: 900_000, fails: false },
    { tookMs: 300_000, fails: true },
    { tookMs: 100, fails: false },
  ];
  const pauses = await pausesOf(passes.length, (sql, passed) => {
    const pass = passes[passed];
    if (sql !== committedSql || pass === undefined) return;
    elapsedMs += pass.tookMs;
    if (pass.fails) throw new RetryableError('timeout');
  });
  expect(pauses).toEqual([16_000, 60_000, 60_000, 10_000]);
});
