import type { Caller } from '../auth/caller.js';

/** One completed authenticated request, as metering wants to know it. */
export interface CompletedRequest {
  readonly caller: Caller;
  /** The route's own path, e.g. `/v1/event/{slug}`. */
  readonly route: string;
  readonly status: number;
  readonly completedAtMs: number;
  /** False for answers that are never billed: refused by authentication or a rate limit, or a 5xx. */
  readonly billable: boolean;
}

/** Called exactly once per completed authenticated request. Must not throw and must not block. */
export type MeterRequest = (request: CompletedRequest) => void;

/** Statuses that are never billed. */
export function isBillable(status: number): boolean {
  return status !== 401 && status !== 403 && status !== 429 && status < 500;
}
