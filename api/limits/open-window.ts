import type { Logger } from '../../infra/telemetry/logger.js';
import type { Metrics } from '../../infra/telemetry/metrics.js';
import { commonLimits } from '../../schemas/plans.js';
import { createMemoryWindow } from './memory-window.js';
import type { RateWindow } from './port.js';
import { createRedisWindow } from './redis-window.js';
import { createSharedWindow } from './shared-window.js';

/** The window of this instance, or the one in Redis that all instances share. A Redis that is away holds nothing up. */
export function openRateWindow(deps: { redisUrl: string | undefined; logger: Logger; metrics: Metrics }): {
  readonly window: RateWindow;
  close(): Promise<void>;
} {
  const { redisUrl, logger, metrics } = deps;
  const windowMs = commonLimits.rateWindowMs;
  const own = createMemoryWindow({ windowMs });
  if (redisUrl === undefined) return { window: own, close: async () => undefined };
  const shared = createRedisWindow({ url: redisUrl, windowMs, logger });
  shared.connect().catch((error: unknown) => logger.error({ err: error }, 'cannot connect to Redis'));
  return { window: createSharedWindow({ shared, own, logger, metrics }), close: () => shared.close() };
}
