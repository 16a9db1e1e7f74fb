import { expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createTagLeaderboardRefresher } from './tag-leaderboard-refresher.js';

it('takes a picture of each wide tag and rests after each, a round every ten minutes in the end, also after one that failed', async () => {
  const stop = new AbortController();
  const painted: unknown[] = [];
  const pauses: number[] = [];
  let rounds = 0;
  const painter = createTagLeaderboardRefresher({
    clickhouse: {
      query: async <T>() => {
        if (++rounds === 2) throw new RetryableError('away');
        return [{ tag: 'coins' }, { tag: 'sports' }] as T[];
      },
      command: async (_sql, params) => {
        painted.push(params?.tag);
      },
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 0,
    pause: async (ms) => {
      pauses.push(ms);
      if (rounds === 8 && ms === 600_000) stop.abort();
    },
  });
  await painter.run(stop.signal);
  // Seven rounds of two tags: the second ended before its first.
  expect(painted).toEqual(Array.from({ length: 7 }, () => ['coins', 'sports']).flat());
  const rounded = pauses.filter((ms) => ms >= 10_000);
  expect(rounded).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000]);
  expect(pauses).toHaveLength(rounded.length + painted.length);
});
