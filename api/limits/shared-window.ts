import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { RateWindow } from './port.js';

const WARN_EVERY_MS = 10_000;

/** `shared`, and `own` while it is away: a limit then holds per instance, and no request fails for it. */
export function createSharedWindow(deps: {
  shared: RateWindow;
  own: RateWindow;
  logger: Logger;
  metrics: Metrics;
}): RateWindow {
  const alone = deps.metrics.counter('api_rate_window_alone_total', 'Requests limited without the shared window');
  const up = deps.metrics.gauge('api_rate_window_up', 'Whether the shared rate window answered last');
  let warnedMs = Number.NEGATIVE_INFINITY;
  return {
    async take(buckets, nowMs) {
      try {
        const admission = await deps.shared.take(buckets, nowMs);
        up.set(1);
        return admission;
      } catch (error) {
        up.set(0);
        alone.inc();
        if (nowMs - warnedMs >= WARN_EVERY_MS) {
          warnedMs = nowMs;
          deps.logger.warn({ err: error }, 'the shared rate window is away: limits hold per instance meanwhile');
        }
        return deps.own.take(buckets, nowMs);
      }
    },
  };
}
