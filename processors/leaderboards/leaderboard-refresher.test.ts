import { expect, it } from 'vitest';
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
  // Three statements per refresh; the second refresh failed at its first statement.
  expect(statements).toBe(16);
});

it('leaderboard refresher pauses at most 10 s while the tables load, and restarts with short intervals after that', async () => {
  const stop = new AbortController();
  const pauses: number[] = [];
  const refresher = createLeaderboardRefresher({
    clickhouse: { command: async () => undefined },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 0,
    loading: async () => pauses.length < 4,
    pause: async (ms) => {
      pauses.push(ms);
      if (pauses.length === 7) stop.abort();
    },
  });
  await refresher.run(stop.signal);
  expect(pauses).toEqual([5_000, 10_000, 10_000, 10_000, 5_000, 10_000, 20_000]);
});
