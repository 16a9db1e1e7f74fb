import type { Caller } from '../auth/caller.js';

/** A completed authenticated request. */
export interface CompletedRequest {
  readonly caller: Caller;
  /** Path template of the route, e.g. `/v1/event/{slug}`. */
  readonly route: string;
  readonly status: number;
  readonly completedAtMs: number;
  /** False for responses that are not billed: rejected by authentication or a rate limit, or 5xx. */
  readonly billable: boolean;
  /** How many requests it counts as. */
  readonly requests: number;
}

/** Called exactly once per completed authenticated request. Must not throw and must not block. */
export type MeterRequest = (request: CompletedRequest) => void;

/** Rejections by authentication, plan and rate limit. */
const NOT_BILLED: ReadonlySet<number> = new Set([401, 402, 403, 429]);

/** False for rejections by authentication, plan or rate limit, and for server errors. */
export const isBillable = (status: number): boolean => !NOT_BILLED.has(status) && status < 500;
