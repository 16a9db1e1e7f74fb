import { z } from 'zod';
import { commonLimits } from '../../../schemas/plans.js';
import type { Caller } from '../../auth/caller.js';
import { ApiError } from '../../errors/failure.js';
import { errorSchema, type RequestContext } from '../../http/route.js';

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

/** The caller of a route that needs a key. */
export function requireCaller({ caller }: RequestContext): Caller {
  if (caller === null) throw new ApiError({ kind: 'missing_key' });
  return caller;
}
