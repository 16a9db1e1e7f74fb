import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import type { RateLimitStore } from './port.js';

const WARN_INTERVAL_MS = 10_000;
/** After a failure of the shared store one request per interval tries it; a store that hangs delays no other. */
const RETRY_INTERVAL_MS = 1_000;

/** Uses `shared`, or `local` while `shared` fails: limits then apply per instance, and no request fails. */
export function createFallbackRateLimitStore(deps: {
  shared: RateLimitStore;
  local: RateLimitStore;
  logger: Logger;
  metrics: Metrics;
}): RateLimitStore {
  const fallbacks = deps.metrics.counter('api_rate_limit_fallback_total', 'Requests limited without the shared window');
  const up = deps.metrics.gauge(
    'api_rate_limit_store_up',
    '1 if the last call to the shared rate-limit store succeeded, else 0',
  );
  let warnedMs = Number.NEGATIVE_INFINITY;
  /** Time from which the failing store is tried again; null while it works. */
  let retryMs: number | null = null;
  const takeLocally: RateLimitStore['take'] = (...request) => {
    fallbacks.inc();
    return deps.local.take(...request);
  };
  return {
    async take(buckets, nowMs, requests) {
      if (retryMs !== null) {
        if (nowMs < retryMs) return takeLocally(buckets, nowMs, requests);
        retryMs = nowMs + RETRY_INTERVAL_MS;
      }
      try {
        const admission = await deps.shared.take(buckets, nowMs, requests);
        up.set(1);
        retryMs = null;
        return admission;
      } catch (error) {
        up.set(0);
        retryMs ??= nowMs + RETRY_INTERVAL_MS;
        if (nowMs - warnedMs >= WARN_INTERVAL_MS) {
          warnedMs = nowMs;
          deps.logger.warn(
            { err: error },
            'shared rate-limit store unavailable: limits apply per instance until it responds',
          );
        }
        return takeLocally(buckets, nowMs, requests);
      }
    },
  };
}
