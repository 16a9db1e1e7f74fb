import { isValidKeyFormat } from '../../schemas/api-keys.js';
import type { PlanTerms } from '../../schemas/plans.js';
import type { Plan } from '../../schemas/types.gen.js';
import { ApiError } from '../errors/failure.js';

/** Account and key of a request. */
export interface Caller {
  readonly accountId: string;
  readonly keyHash: string;
  /** Hash of the key whose copy-PnL pool the key reads: of its successor, once it is replaced. */
  readonly poolKeyHash: string;
  /** Under which limits per key count: the same before and after a rotation. */
  readonly limitKeyHash: string;
  readonly plan: Plan;
  /** Limits of the account. */
  readonly terms: PlanTerms;
}

/** Lookup of keys. Unknown and inactive keys are both `null`. */
export interface KeyDirectory {
  lookup(rawKey: string): Caller | null;
}

/** Throws ApiError: missing_key if there is no key or it has the wrong format, unknown_key if it is unknown or inactive. */
export function authenticate(rawKey: string | null, keys: KeyDirectory): Caller {
  if (rawKey === null || !isValidKeyFormat(rawKey)) throw new ApiError({ kind: 'missing_key' });
  const caller = keys.lookup(rawKey);
  if (caller === null) throw new ApiError({ kind: 'unknown_key' });
  return caller;
}
