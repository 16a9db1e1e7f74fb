import { expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
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

it('wallet tags updater checks for changes every ten seconds, also after a failed pass, and stops at its signal', async () => {
  const stop = new AbortController();
  const pauses: number[] = [];
  let reads = 0;
  const updater = createWalletTagsUpdater({
    clickhouse: {
      // Nothing is committed, so a pass writes nothing.
      query: async () => {
        if (++reads === 3) throw new RetryableError('unreachable');
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
      if (pauses.length === 4) stop.abort();
    },
  });
  await updater.run(stop.signal);
  expect(pauses).toEqual([10_000, 10_000, 10_000, 10_000]);
  expect(reads).toBe(7);
});
