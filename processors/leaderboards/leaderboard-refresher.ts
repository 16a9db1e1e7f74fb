import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import {
  largestPositionsSnapshotSql,
  rankingsSnapshotSql,
  snapshotSettings,
  totalsSnapshotSql,
} from './leaderboard-snapshots.sql.js';

export interface LeaderboardRefresher {
  /** Computes one snapshot of all wallets and positions; it is in the tables when the promise resolves. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Refreshes periodically until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** Pause after the first snapshot; it doubles up to the maximum, since snapshots become outdated quickly while the history loads. */
const FIRST_INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = 60_000;
/** Longest pause while the history loads: the first snapshot after the load is the first complete one. */
const MAX_INTERVAL_WHILE_LOADING_MS = 10_000;
/** Largest share of the time that refreshes may use: a snapshot of all wallets of a large venue uses most of a core and slows concurrent page requests. */
const MAX_TIME_SHARE = 0.04;

/**
 * Refreshes the snapshots that the leaderboards and largest positions are read from: once a minute, more often in the first two minutes, and
 * less often where a refresh takes more than 1/25 of the interval. While the tables load and just after, the short first intervals apply.
 */
export function createLeaderboardRefresher(options: {
  clickhouse: Pick<ClickHouse, 'command'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  /** Whether the tables are still being loaded; default: false. */
  loading?: () => Promise<boolean>;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): LeaderboardRefresher {
  const { clickhouse, logger, nowMs } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const seconds = options.metrics.gauge('leaderboard_refresh_seconds', 'Duration of the last leaderboard refresh');
  const refresh: LeaderboardRefresher['refresh'] = async (signal) => {
    const params = { taken_at: nowMs() };
    for (const sql of [rankingsSnapshotSql, totalsSnapshotSql, largestPositionsSnapshotSql])
      await clickhouse.command(sql, params, { settings: snapshotSettings, signal });
  };
  return {
    refresh,
    async run(signal) {
      let wasLoading = false;
      for (let pauseMs = FIRST_INTERVAL_MS; !signal.aborted; pauseMs = Math.min(MAX_INTERVAL_MS, pauseMs * 2)) {
        const beganMs = performance.now();
        try {
          await refresh(signal);
          seconds.set((performance.now() - beganMs) / 1000);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError)) throw error;
          logger.warn({ err: error }, 'leaderboard refresh failed, trying again later');
        }
        const tookMs = performance.now() - beganMs;
        const isLoading = (await options.loading?.().catch(() => false)) ?? false;
        if (isLoading) pauseMs = Math.min(pauseMs, MAX_INTERVAL_WHILE_LOADING_MS);
        else if (wasLoading) pauseMs = FIRST_INTERVAL_MS;
        wasLoading = isLoading;
        await pause(Math.max(pauseMs, tookMs / MAX_TIME_SHARE), signal);
      }
    },
  };
}
