import { commonLimits } from '../../schemas/plans.js';
import type { RequestContext } from '../http/route.js';
import { enforceFeatureLimit, type FeatureLimit } from '../limits/feature-limit.js';
import type { RateLimitStore } from '../limits/port.js';

/** The bucket that all paths under /v2/copy-pnl share. */
const copyPnlLimit: FeatureLimit = {
  name: 'copy-pnl',
  requests: 1,
  windowMs: commonLimits.copyPnlIntervalMsPerKey,
  message: () => `copy-pnl rate limited (1 req per ${commonLimits.copyPnlIntervalMsPerKey / 1000}s per key).`,
};

/**
 * Counts one request of the caller's key on any path under /v2/copy-pnl; a batch is one request. Throws ApiError `rate_limited` within 5 s of the
 * last accepted request of the key. Call it after the inputs are validated, so that a rejected request does not count.
 */
export const enforceCopyPnlLimit = (
  store: RateLimitStore,
  context: Pick<RequestContext, 'caller' | 'nowMs'>,
): Promise<void> => enforceFeatureLimit(store, copyPnlLimit, context);
