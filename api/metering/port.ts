import type { Caller } from '../auth/caller.js';

/** A completed authenticated request. */
export interface CompletedRequest {
  readonly caller: Caller;
  /** The route's own path, e.g. `/v1/event/{slug}`. */
  readonly route: string;
  readonly status: number;
  readonly completedAtMs: number;
  /** False for responses that are never billed: rejected by authentication or a rate limit, or a 5xx. */
  readonly billable: boolean;
}

/** Called exactly once per completed authenticated request. Must not throw and must not block. */
export type MeterRequest = (request: CompletedRequest) => void;

/** Statuses that are never billed. */
export function isBillable(status: number): boolean {
  return status !== 401 && status !== 403 && status !== 429 && status < 500;
}
