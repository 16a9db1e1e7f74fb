import { isValidKeyFormat } from '../../schemas/api-keys.js';
import type { Plan } from '../../schemas/types.gen.js';
import { ApiError } from '../errors/failure.js';

/** Who a request belongs to. */
export interface Caller {
  readonly accountId: string;
  readonly keyHash: string;
  readonly plan: Plan;
}

/** The accounts' state as the API needs it. Unknown and inactive keys are both `null`. */
export interface KeyDirectory {
  lookup(rawKey: string): Caller | null;
}

/** Throws ApiError: missing_key when there is none or it is not key-shaped, unknown_key when it opens nothing. */
export function authenticate(rawKey: string | null, keys: KeyDirectory): Caller {
  if (rawKey === null || !isValidKeyFormat(rawKey)) throw new ApiError({ kind: 'missing_key' });
  const caller = keys.lookup(rawKey);
  if (caller === null) throw new ApiError({ kind: 'unknown_key' });
  return caller;
}
