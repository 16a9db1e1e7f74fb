import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { snapshotSettings, tagLeaderboardSnapshotSql, wideTags } from './leaderboard-snapshots.sql.js';

export interface TagLeaderboardRefresher {
  /** One picture of each wide tag, in the tables when it resolves. `pause` follows each, given how long it took. */
  paint(signal?: AbortSignal, pause?: (tookMs: number) => Promise<unknown>): Promise<void>;
  /** Pictures until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** The pause after the first round; each further one is twice as long, up to the longest. */
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 600_000;
/** Of the time, the part that these pictures may take beside those of everything. */
const SHARE = 0.04;

/**
 * Takes the pictures that the leaderboards of tags with many markets are read from, tag after tag: to rank a tag's wallets is to read all positions in its
 * tokens, so no request does where they are many.
 */
export function createTagLeaderboardRefresher(options: {
  clickhouse: Pick<ClickHouse, 'command' | 'query'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): TagLeaderboardRefresher {
  const { clickhouse, logger, nowMs } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const seconds = options.metrics.gauge(
    'leaderboards_tag_picture_seconds',
    'How long the slowest picture of a tag took in the last round',
  );
  const paint: TagLeaderboardRefresher['paint'] = async (signal, rest = async () => undefined) => {
    let slowestMs = 0;
    const tags = await clickhouse.query<{ tag: string }>(wideTags, {}, { settings: snapshotSettings, signal });
    for (const { tag } of tags) {
      if (signal?.aborted === true) return;
      const beganMs = performance.now();
      const params = { tag, tags: [tag], taken_at: nowMs() };
      await clickhouse.command(tagLeaderboardSnapshotSql, params, { settings: snapshotSettings, signal });
      const tookMs = performance.now() - beganMs;
      slowestMs = Math.max(slowestMs, tookMs);
      await rest(tookMs);
    }
    seconds.set(slowestMs / 1000);
  };
  return {
    paint,
    async run(signal) {
      for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
        try {
          await paint(signal, (tookMs) => pause(tookMs / SHARE, signal));
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError)) throw error;
          logger.warn({ err: error }, 'no pictures of tags, trying again later');
        }
        await pause(pauseMs, signal);
      }
    },
  };
}
