import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../../infra/clickhouse/client.js';
import { RetryableError } from '../../infra/errors.js';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { boardsPicture, largestPicture, pictureSettings, totalsPicture } from './pictures.sql.js';

export interface Painter {
  /** One picture of all wallets and positions, in the tables when it resolves. */
  paint(signal?: AbortSignal): Promise<void>;
  /** Pictures until the signal. */
  run(signal: AbortSignal): Promise<void>;
}

/** The pause after the first picture; each further one is twice as long, up to the longest: while the history loads, pictures age fast. */
const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 60_000;
/** The longest pause while the history loads: the picture after it is the one that is whole. */
const LONGEST_WHILE_LOADING_MS = 10_000;
/** Of the time, the part that pictures may take: one of all wallets of a large venue takes most of a core, and pages wait longer beside it. */
const SHARE = 0.04;

/**
 * Takes the pictures that leaderboards and the largest positions are read from: one a minute, more in the first two minutes, and fewer where one takes
 * longer than a twenty-fifth of its time. While the tables load and just after it they are taken as in the first seconds.
 */
export function createPainter(options: {
  clickhouse: Pick<ClickHouse, 'command'>;
  logger: Logger;
  metrics: Metrics;
  nowMs: () => number;
  /** Whether the tables it reads still load; they do not unless given. */
  loading?: () => Promise<boolean>;
  pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}): Painter {
  const { clickhouse, logger, nowMs } = options;
  const pause = options.pause ?? ((ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined));
  const seconds = options.metrics.gauge(
    'leaderboards_picture_seconds',
    'How long the last picture of all wallets and positions took',
  );
  const paint: Painter['paint'] = async (signal) => {
    const params = { taken_at: nowMs() };
    for (const picture of [boardsPicture, totalsPicture, largestPicture])
      await clickhouse.command(picture, params, { settings: pictureSettings, signal });
  };
  return {
    paint,
    async run(signal) {
      let wasLoading = false;
      for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 2)) {
        const beganMs = performance.now();
        try {
          await paint(signal);
          seconds.set((performance.now() - beganMs) / 1000);
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof RetryableError)) throw error;
          logger.warn({ err: error }, 'no picture of all wallets and positions, trying again later');
        }
        const tookMs = performance.now() - beganMs;
        const isLoading = (await options.loading?.().catch(() => false)) ?? false;
        if (isLoading) pauseMs = Math.min(pauseMs, LONGEST_WHILE_LOADING_MS);
        else if (wasLoading) pauseMs = FIRST_PAUSE_MS;
        wasLoading = isLoading;
        await pause(Math.max(pauseMs, tookMs / SHARE), signal);
      }
    },
  };
}
