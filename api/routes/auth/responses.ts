import { tooManyAttempts } from '../../auth/sign-in-throttle.js';
import { errorSchema, type ResponseSpec } from '../../http/route.js';

/** 2027-05-22T15:40:00Z. */
const RETRY_AT_S = 1_811_000_400;

/** The 429 of the routes that a sign-in throttle limits, for `otherResponses`. */
export const throttled: Readonly<Record<number, ResponseSpec>> = {
  429: {
    description: 'Too many attempts of this client address or for this email.',
    schema: errorSchema,
    example: { error: tooManyAttempts(RETRY_AT_S * 1000), reset_at: RETRY_AT_S },
  },
};
