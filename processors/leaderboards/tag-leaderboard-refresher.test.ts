import { afterEach, expect, it, vi } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { createTagLeaderboardRefresher } from './tag-leaderboard-refresher.js';

afterEach(() => vi.restoreAllMocks());

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
        return [{ name: 'coins' }, { name: 'sports' }] as T[];
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

it('tag leaderboard refresher takes the snapshots after a tag that always fails, with a pause after each, in every pass', async () => {
  const stop = new AbortController();
  const events: unknown[] = [];
  const metrics = createMetrics({ process: 'test', defaults: false });
  let elapsedMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
  const refresher = createTagLeaderboardRefresher({
    clickhouse: {
      query: async <T>(sql: string) =>
        (sql.includes('FROM tag_tokens') ? [{ name: 'coins' }, { name: 'large' }, { name: 'sports' }] : []) as T[],
      command: async (_sql, params) => {
        elapsedMs += 2_000;
        if (params?.tag === 'large') throw new RetryableError('memory limit');
        events.push(params?.tag);
      },
    },
    logger: silentLogger(),
    metrics,
    nowMs: () => 0,
    pause: async (ms) => {
      events.push(ms);
      if (events.length === 12) stop.abort();
    },
  });
  await refresher.run(stop.signal);
  // Refreshes use 1/25 of the time.
  const pass = ['coins', 50_000, 50_000, 'sports', 50_000];
  expect(events).toEqual([...pass, 10_000, ...pass, 20_000]);
  const counted = /leaderboard_snapshot_failures_total\{.*table="tag_leaderboards".*\} 2\n/;
  expect(await metrics.registry.metrics()).toMatch(counted);
});

/** Tags and pauses (ms) of a refresher whose history has loaded after `loadedMs` and whose snapshots take 2 s each; `pausesWanted` ends the run. */
async function eventsOf(loadedMs: number, pausesWanted: number) {
  const stop = new AbortController();
  const events: string[] = [];
  let elapsedMs = 0;
  let pauses = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => elapsedMs);
  const refresher = createTagLeaderboardRefresher({
    clickhouse: {
      query: async <T>(sql: string) =>
        (sql.includes('FROM tag_tokens') ? [{ name: 'coins' }, { name: 'sports' }] : []) as T[],
      command: async (_sql, params) => {
        elapsedMs += 2_000;
        events.push(String(params?.tag));
      },
    },
    logger: silentLogger(),
    metrics: createMetrics({ process: 'test', defaults: false }),
    nowMs: () => 0,
    loading: async () => elapsedMs < loadedMs,
    pause: async (ms) => {
      events.push(String(ms));
      elapsedMs += ms;
      if (++pauses === pausesWanted) stop.abort();
    },
  });
  await refresher.run(stop.signal);
  return events;
}
const polls = (count: number) => Array.from({ length: count }, () => '500');

it('tag leaderboard refresher takes all snapshots without pauses as soon as the history has loaded', async () => {
  const afterwards = ['coins', 'sports', '10000', 'coins', '50000', 'sports', '50000', '20000'];
  // In the pause of 50 s after the first tag; in that between the passes; while a snapshot is taken.
  expect(await eventsOf(12_000, 24)).toEqual(['coins', ...polls(20), ...afterwards]);
  expect(await eventsOf(106_000, 208)).toEqual([
    'coins',
    ...polls(100),
    'sports',
    ...polls(100),
    ...polls(4),
    ...afterwards,
  ]);
  expect(await eventsOf(53_000, 104)).toEqual(['coins', ...polls(100), 'sports', ...afterwards]);
});
