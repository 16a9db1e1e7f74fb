import { expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createTagLeaderboardRefresher } from './tag-leaderboard-refresher.js';

it('tag leaderboard refresher takes a snapshot of each wide tag with a pause after each, and lengthens the interval to ten minutes, also after a failed pass', async () => {
  const stop = new AbortController();
  const refreshedTags: unknown[] = [];
  const pauses: number[] = [];
  let passes = 0;
  const refresher = createTagLeaderboardRefresher({
    clickhouse: {
      query: async <T>(sql: string) => {
        if (!sql.includes('FROM tag_tokens')) return [];
        if (++passes === 2) throw new RetryableError('unreachable');
        return [{ tag: 'coins' }, { tag: 'sports' }] as T[];
      },
      command: async (_sql, params) => {
        refreshedTags.push(params?.tag);
      },
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 0,
    pause: async (ms) => {
      pauses.push(ms);
      if (passes === 8 && ms === 600_000) stop.abort();
    },
  });
  await refresher.run(stop.signal);
  // Eight passes of two tags; the second failed before its first tag.
  expect(refreshedTags).toEqual(Array.from({ length: 7 }, () => ['coins', 'sports']).flat());
  const pausesBetweenPasses = pauses.filter((ms) => ms >= 10_000);
  expect(pausesBetweenPasses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]);
  expect(pauses).toHaveLength(pausesBetweenPasses.length + refreshedTags.length);
});
