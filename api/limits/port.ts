/** One bucket of a request: `limit` requests per sliding window under `key`, which names the window too where it is not the common one. */
export interface RateLimitBucket {
  readonly key: string;
  readonly limit: number;
  /** At most the common one, which is the default. */
  readonly windowMs?: number;
}

export interface RateLimitBucketState {
  readonly limit: number;
  readonly remaining: number;
  /** When the oldest request in the window leaves it and a slot comes back; now + window for an empty bucket. */
  readonly resetMs: number;
}

export interface RateLimitResult {
  readonly allowed: boolean;
  /** State after the request, in the order asked. */
  readonly states: readonly RateLimitBucketState[];
}

/** A sliding window shared by everything that counts requests. In memory here; shared between API instances by another engine. */
export interface RateLimitStore {
  /** Takes one slot in every bucket, or in none when any of them is full: a refused request costs nothing. */
  take(buckets: readonly RateLimitBucket[], nowMs: number): Promise<RateLimitResult>;
}
