/** A bucket of a request: `limit` requests per sliding window under `key`. The key contains the window's length unless it is the common one. */
export interface RateLimitBucket {
  readonly key: string;
  readonly limit: number;
  /** Default: the common window. The same in all requests of a key. */
  readonly windowMs?: number;
}

export interface RateLimitBucketState {
  readonly limit: number;
  readonly remaining: number;
  /** Time at which the oldest request leaves the window and frees capacity; now + window for an empty bucket. */
  readonly resetMs: number;
}

export interface RateLimitResult {
  readonly allowed: boolean;
  /** State of each bucket after the request, in the order of the buckets. */
  readonly states: readonly RateLimitBucketState[];
}

/** Sliding-window counters, in memory of one process or shared between API instances through Redis. */
export interface RateLimitStore {
  /**
   * Counts `requests` (default 1) in every bucket, or none if any bucket has no room for all of them: rejected requests are not counted. Then `resetMs` is when
   * they fit.
   */
  take(buckets: readonly RateLimitBucket[], nowMs: number, requests?: number): Promise<RateLimitResult>;
}
