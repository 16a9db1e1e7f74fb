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
}

/** Called exactly once per completed authenticated request. Must not throw and must not block. */
export type MeterRequest = (request: CompletedRequest) => void;

/** Statuses that are not billed: authentication, plan, rate limit and server errors. */
export function isBillable(status: number): boolean {
  return status !== 401 && status !== 403 && status !== 429 && status < 500;
}
