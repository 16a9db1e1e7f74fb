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
  /** One picture of all wallets and positions, in the tables when it resolves. */
  refresh(signal?: AbortSignal): Promise<void>;
  /** Pictures until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** The pause after the first picture; each further one is twice as long, up to the longest: while the history loads, pictures age fast. */
const FIRST_INTERVAL_MS = 5_000;
const MAX_INTERVAL_MS = 60_000;
/** The longest pause while the history loads: the picture after it is the one that is whole. */
const MAX_INTERVAL_WHILE_LOADING_MS = 10_000;
/** Of the time, the part that pictures may take: one of all wallets of a large venue takes most of a core, and pages wait longer beside it. */
const MAX_TIME_SHARE = 0.04;

/**
 * Takes the pictures that leaderboards and the largest positions are read from: one a minute, more in the first two minutes, and fewer where one takes
 * longer than a twenty-fifth of its time. While the tables load and just after it they are taken as in the first seconds.
 */
export function createLeaderboardRefresher(options: {
  clickhouse: Pick<ClickHouse, 'command'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  /** Whether the tables it reads still load; they do not unless given. */
  loading?: () => Promise<boolean>;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): LeaderboardRefresher {
  const { clickhouse, logger, nowMs } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const seconds = options.metrics.gauge(
    'leaderboard_refresh_seconds',
    'How long the last picture of all wallets and positions took',
  );
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
          logger.warn({ err: error }, 'no picture of all wallets and positions, trying again later');
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
