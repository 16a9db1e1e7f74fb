import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { deleteFutureRows } from '../future-rows.js';
import {
  largestPositionsSnapshotSql,
  rankingsSnapshotSql,
  snapshotSettings,
  totalsSnapshotSql,
} from './leaderboard-snapshots.sql.js';
import { createLoadingPause, type Pause, pauseForShareMs } from './loading-pause.js';
import { takeSnapshots } from './take-snapshots.js';

export interface LeaderboardRefresher {
  /** Computes one snapshot of all wallets and positions; it is in the tables when the promise resolves. A table that fails does not prevent the others. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Refreshes periodically until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** Pause after the first snapshot; it doubles up to the maximum, since snapshots become outdated quickly while the history loads. */
const FIRST_INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = 60_000;
/** Longest pause while the history loads. */
const MAX_INTERVAL_WHILE_LOADING_MS = 10_000;
/** First pause after the history has loaded; it doubles as well. */
const FIRST_INTERVAL_AFTER_LOAD_MS = 1_000;
/**
 * Refreshes after the load that ignore the share of the time: the API responds as ready once a snapshot was taken after its tables were complete, which it
 * may notice a few seconds after this process.
 */
const UNLIMITED_REFRESHES_AFTER_LOAD = 4;

const snapshots = [
  { name: 'leaderboards', sql: rankingsSnapshotSql },
  { name: 'venue_totals', sql: totalsSnapshotSql },
  { name: 'largest_positions', sql: largestPositionsSnapshotSql },
] as const;

/**
 * Refreshes the snapshots that the leaderboards and largest positions are read from: once a minute, more often in the first two minutes, and
 * less often, but every 20 minutes, where a refresh takes more than 1/25 of the interval. As soon as the history has loaded, the short first intervals apply again. Snapshots of a clock
 * that ran ahead are deleted.
 */
export function createLeaderboardRefresher(options: {
  clickhouse: Pick<ClickHouse, 'command' | 'query'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  /** Whether the tables are still being loaded; default: false. */
  loading?: () => Promise<boolean>;
  pause?: Pause;
}): LeaderboardRefresher {
  const { clickhouse, logger, nowMs } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const seconds = options.metrics.gauge('leaderboard_refresh_seconds', 'Duration of the last leaderboard refresh');
  const refresh: LeaderboardRefresher['refresh'] = async (signal) => {
    const takenAtMs = nowMs();
    await takeSnapshots(snapshots, {
      table: ({ name }) => name,
      take: async ({ name, sql }) => {
        await clickhouse.command(sql, { taken_at: takenAtMs }, { settings: snapshotSettings, signal });
        // After the insert, so that there is a snapshot to serve at any time.
        await deleteFutureRows(clickhouse, { name, column: 'taken_at' }, takenAtMs, signal);
      },
      metrics: options.metrics,
      signal,
    });
  };
  const { isLoading, pauseWhileLoading } = createLoadingPause(options.loading, pause);
  return {
    refresh,
    async run(signal) {
      let pauseMs = FIRST_INTERVAL_MS;
      let unlimited = 0;
      while (!signal.aborted) {
        const beganMs = performance.now();
        try {
          await refresh(signal);
          seconds.set((performance.now() - beganMs) / 1000);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError)) throw error;
          logger.warn({ err: error }, 'leaderboard refresh failed, trying again later');
        }
        const limitMs = unlimited > 0 ? 0 : pauseForShareMs(performance.now() - beganMs);
        unlimited = Math.max(0, unlimited - 1);
        if (await isLoading()) {
          const hasLoaded = await pauseWhileLoading(
            Math.max(Math.min(pauseMs, MAX_INTERVAL_WHILE_LOADING_MS), limitMs),
            signal,
          );
          pauseMs = hasLoaded ? FIRST_INTERVAL_AFTER_LOAD_MS : pauseMs * 2;
          if (hasLoaded) unlimited = UNLIMITED_REFRESHES_AFTER_LOAD;
        } else {
          await pause(Math.max(pauseMs, limitMs), signal);
          pauseMs *= 2;
        }
        pauseMs = Math.min(MAX_INTERVAL_MS, pauseMs);
      }
    },
  };
}
