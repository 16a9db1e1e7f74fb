import { expect, it, vi } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createLeaderboardRefresher } from './leaderboard-refresher.js';

it('leaderboard refresher runs often at first, then once a minute, also after a failed refresh', async () => {
  const stop = new AbortController();
  const pauses: number[] = [];
  let statements = 0;
  const refresher = createLeaderboardRefresher({
    clickhouse: {
      query: async () => [],
      command: async () => {
        if (++statements === 4) throw new RetryableError('unreachable');
      },
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 0,
    pause: async (ms) => {
      pauses.push(ms);
      if (pauses.length === 6) stop.abort();
    },
  });
  await refresher.run(stop.signal);
  expect(pauses).toEqual([5_000, 10_000, 20_000, 40_000, 60_000, 60_000]);
  // Three statements per refresh; the first one of the second refresh failed.
  expect(statements).toBe(18);
});

it('leaderboard refresher takes the snapshots after one that fails, counts and names it, and ends with errors that a retry does not fix', async () => {
  const metrics = createMetrics({ process: 'test', defaults: false });
  const taken: string[] = [];
  let failure: Error = new RetryableError('memory limit');
  const refresher = createLeaderboardRefresher({
    clickhouse: {
      query: async () => [],
      command: async (sql) => {
        if (sql.includes('INTO leaderboards')) throw failure;
        taken.push(/INTO (\w+)/.exec(sql)?.[1] ?? '');
      },
    },
    logger: silentLogger(),
    metrics,
    nowMs: () => 0,
  });
  await expect(refresher.refresh()).rejects.toThrow(new RetryableError('leaderboards: memory limit'));
  expect(taken).toEqual(['venue_totals', 'largest_positions']);
  expect(await metrics.registry.metrics()).toMatch(
    /leaderboard_snapshot_failures_total\{.*table="leaderboards".*\} 1\n/,
  );
  failure = new Error('unknown column');
  await expect(refresher.run(new AbortController().signal)).rejects.toThrow('unknown column');
  expect(taken).toHaveLength(2);
});

it.each([
  ['30 s, a 25th of the time', 30_000, 750_000],
  ['300 s each until their timeouts, before the snapshots expire', 900_000, 1_200_000],
])('leaderboard refresher pauses after statements that take %s', async (_, tookMs, pauseMs) => {
  const stop = new AbortController();
  const pauses: number[] = [];
  let elapsedMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
  const refresher = createLeaderboardRefresher({
    clickhouse: {
      query: async () => [],
      command: async () => {
        elapsedMs += tookMs / 3;
        if (tookMs > 300_000) throw new RetryableError('Timeout error.');
      },
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => elapsedMs,
    pause: async (ms) => {
      pauses.push(ms);
      stop.abort();
    },
  });
  await refresher.run(stop.signal).finally(() => clock.mockRestore());
  expect(pauses).toEqual([pauseMs]);
});

/** Pauses of a refresher whose history has loaded after `loadedMs`; `pausesWanted` ends the run. */
async function pausesOf(loadedMs: number, pausesWanted: number) {
  const stop = new AbortController();
  const events: string[] = [];
  let elapsedMs = 0;
  let pauses = 0;
  const refresher = createLeaderboardRefresher({
    clickhouse: {
      query: async () => [],
      command: async (sql) => {
        if (sql.includes('INTO leaderboards')) events.push('refresh');
      },
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 0,
    loading: async () => elapsedMs < loadedMs,
    pause: async (ms) => {
      events.push(`${ms}`);
      elapsedMs += ms;
      if (++pauses === pausesWanted) stop.abort();
    },
  });
  await refresher.run(stop.signal);
  return events;
}
const polls = (count: number) => Array.from({ length: count }, () => '500');

it('leaderboard refresher pauses at most 10 s while the history loads, and asks twice a second whether it has loaded', async () => {
  expect(await pausesOf(60_000, 50)).toEqual([
    ...['refresh', ...polls(10), 'refresh', ...polls(20), 'refresh', ...polls(20)],
  ]);
});

it('leaderboard refresher refreshes as soon as the history has loaded, then at short intervals', async () => {
  expect(await pausesOf(8_000, 22)).toEqual([
    ...['refresh', ...polls(10), 'refresh', ...polls(6)],
    ...[1, 2, 4, 8, 16, 32].flatMap((seconds) => ['refresh', `${seconds * 1000}`]),
  ]);
});
