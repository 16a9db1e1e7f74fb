import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import type { Caller } from '../../auth/caller.js';
import { enforceCopyPnlLimit } from '../../copy-pnl/request-limit.js';
import { ApiError } from '../../errors/failure.js';
import { errorSchema, type RequestContext } from '../../http/route.js';
import type { RateLimitStore } from '../../limits/port.js';

const INTERVAL_S = commonLimits.copyPnlIntervalMsPerKey / 1000;

/** Common settings of the copy-PnL routes. */
export const common = {
  apiGroup: 'v2',
  tag: 'Copy-PnL',
  auth: 'key',
  feature: 'copyPnl',
  otherResponses: {
    429: {
      description: `One request per ${INTERVAL_S} s and key, over all paths under /v2/copy-pnl.`,
      schema: errorSchema.extend({ retryAfterMs: z.int() }),
      example: {
        error: `copy-pnl rate limited (1 req per ${INTERVAL_S}s per key).`,
        retryAfterMs: 3200,
        reset_at: 1811000013,
      },
    },
  },
} as const;

/** The caller, after its request was counted. Call it after the inputs are validated. */
export async function admit(store: RateLimitStore, context: RequestContext): Promise<Caller> {
  if (context.caller === null) throw new ApiError({ kind: 'missing_key' });
  await enforceCopyPnlLimit(store, context);
  return context.caller;
}
