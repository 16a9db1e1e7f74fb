import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { commonLimits } from '../../schemas/plans.js';
import { createFallbackRateLimitStore } from './fallback-rate-limit-store.js';
import { createMemoryRateLimitStore } from './memory-rate-limit-store.js';
import type { RateLimitStore } from './port.js';

/** Opens the store of this instance, or the Redis store that all instances share. An unreachable Redis does not delay start-up. */
export async function openRateLimitStore(deps: {
  redisUrl: string | undefined;
  logger: Logger;
  metrics: Metrics;
}): Promise<{ readonly store: RateLimitStore; close(): Promise<void> }> {
  const { redisUrl, logger, metrics } = deps;
  const windowMs = commonLimits.rateWindowMs;
  const local = createMemoryRateLimitStore({ windowMs });
  if (redisUrl === undefined) return { store: local, close: async () => undefined };
  const { createRedisRateLimitStore } = await import('./redis-rate-limit-store.js');
  const shared = createRedisRateLimitStore({ url: redisUrl, windowMs, logger });
  shared.connect().catch((error: unknown) => logger.error({ err: error }, 'cannot connect to Redis'));
  return { store: createFallbackRateLimitStore({ shared, local, logger, metrics }), close: () => shared.close() };
}
