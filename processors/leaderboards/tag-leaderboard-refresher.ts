import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { deleteFutureRows } from '../future-rows.js';
import { snapshotSettings, tagLeaderboardSnapshotSql, wideTags } from './leaderboard-snapshots.sql.js';
import { createLoadingPause, type Pause, pauseForShareMs } from './loading-pause.js';
import { takeSnapshots } from './take-snapshots.js';

export interface TagLeaderboardRefresher {
  /**
   * Computes one snapshot per wide tag, the oldest first; they are in the tables when the promise resolves. A tag that fails does not prevent the others.
   * Awaits `pause` after each with its duration; if it resolves with true, the rest is left out.
   */
  refresh(signal?: AbortSignal, pause?: (tookMs: number) => Promise<boolean>): Promise<void>;
  /**
   * Refreshes periodically until the signal, in a limited share of the time, in addition to those of all markets. The pass after the load ignores it:
   * snapshots of incomplete tables are served until they are replaced.
   */
  run(signal: AbortSignal): Promise<void>;
}

/** Pause after the first pass; it doubles after each pass up to the maximum. */
const FIRST_PAUSE_MS = 10_000;
const MAX_PAUSE_MS = 600_000;

/**
 * Refreshes the snapshots that the leaderboards of tags with many markets are read from, one tag after the other: ranking the wallets of a tag reads all
 * positions in its tokens, which takes too long for a request. As soon as the history has loaded, all of them are taken again. Snapshots of a clock that ran ahead, which would replace later ones, are deleted first.
 */
export function createTagLeaderboardRefresher(options: {
  clickhouse: Pick<ClickHouse, 'command' | 'query'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  /** Whether the tables are still being loaded; default: false. */
  loading?: () => Promise<boolean>;
  pause?: Pause;
}): TagLeaderboardRefresher {
  const { clickhouse, logger, nowMs } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const { isLoading, pauseWhileLoading } = createLoadingPause(options.loading, pause);
  const seconds = options.metrics.gauge(
    'tag_leaderboard_refresh_seconds',
    'Duration of the slowest tag leaderboard refresh in the last pass',
  );
  const refresh: TagLeaderboardRefresher['refresh'] = async (signal, pauseAfter = async () => false) => {
    let slowestMs = 0;
    await deleteFutureRows(clickhouse, { name: 'tag_leaderboards', column: 'taken_at' }, nowMs(), signal);
    const tags = await clickhouse.query<{ name: string }>(wideTags, {}, { settings: snapshotSettings, signal });
    let beganMs = 0;
    await takeSnapshots(tags, {
      table: () => 'tag_leaderboards',
      take: async ({ name: tag }) => {
        beganMs = performance.now();
        const params = { tag, tags: [tag], taken_at: nowMs() };
        await clickhouse.command(tagLeaderboardSnapshotSql, params, { settings: snapshotSettings, signal });
      },
      after: async () => {
        const tookMs = performance.now() - beganMs;
        slowestMs = Math.max(slowestMs, tookMs);
        return pauseAfter(tookMs);
      },
      metrics: options.metrics,
      signal,
    }).finally(() => seconds.set(slowestMs / 1000));
  };
  return {
    refresh,
    async run(signal) {
      let wasLoading = await isLoading();
      /** Resolves with true, at once, if the history has loaded since the last call; otherwise with false after `ms`. */
      const pauseUnlessLoaded = async (ms: number): Promise<boolean> => {
        if (wasLoading) {
          const hasLoaded = !(await isLoading()) || (await pauseWhileLoading(ms, signal));
          wasLoading = !hasLoaded;
          return hasLoaded;
        }
        await pause(ms, signal);
        wasLoading = await isLoading();
        return false;
      };
      let pauseMs = FIRST_PAUSE_MS;
      let isLimited = true;
      while (!signal.aborted) {
        let hasLoaded = false;
        try {
          await refresh(signal, async (tookMs) => {
            if (isLimited) hasLoaded = await pauseUnlessLoaded(pauseForShareMs(tookMs));
            return hasLoaded;
          });
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError)) throw error;
          logger.warn({ err: error }, 'tag leaderboard refresh failed, trying again later');
        }
        hasLoaded ||= await pauseUnlessLoaded(pauseMs);
        isLimited = !hasLoaded;
        pauseMs = hasLoaded ? FIRST_PAUSE_MS : Math.min(MAX_PAUSE_MS, pauseMs * 2);
      }
    },
  };
}
