import type { RateLimitBucket, RateLimitBucketState, RateLimitStore } from './port.js';

/** Times of the requests in the window, oldest first, in a ring buffer that grows up to the limit. */
interface RingBuffer {
  times: Float64Array;
  readonly windowMs: number;
  start: number;
  length: number;
}

const INITIAL_CAPACITY = 16;

/** Drops times that have left the window, and those so late that the clock must have been set back since. */
function dropExpired(ring: RingBuffer, nowMs: number): void {
  const isOver = (timeMs: number) => timeMs <= nowMs - ring.windowMs || timeMs > nowMs + ring.windowMs;
  while (ring.length > 0 && isOver(ring.times[ring.start] ?? 0)) {
    ring.start = (ring.start + 1) % ring.times.length;
    ring.length -= 1;
  }
}

function push(ring: RingBuffer, timeMs: number): void {
  if (ring.length === ring.times.length) {
    const bigger = new Float64Array(ring.times.length * 2);
    for (let i = 0; i < ring.length; i += 1) bigger[i] = ring.times[(ring.start + i) % ring.times.length] ?? 0;
    ring.times = bigger;
    ring.start = 0;
  }
  ring.times[(ring.start + ring.length) % ring.times.length] = timeMs;
  ring.length += 1;
}

/**
 * Exact sliding window: a request at t counts until t + windowMs. Uses 8 bytes per request in the window; removes buckets without a request in
 * their window once per `windowMs`.
 */
export function createMemoryRateLimitStore(options: { windowMs: number }): RateLimitStore & { readonly size: number } {
  const rings = new Map<string, RingBuffer>();
  let sweptMs = Number.NEGATIVE_INFINITY;

  const sweep = (nowMs: number) => {
    if (Math.abs(nowMs - sweptMs) < options.windowMs) return;
    sweptMs = nowMs;
    for (const [key, ring] of rings) {
      dropExpired(ring, nowMs);
      if (ring.length === 0) rings.delete(key);
    }
  };
  const ringOf = ({ key, windowMs = options.windowMs }: RateLimitBucket): RingBuffer => {
    let ring = rings.get(key);
    if (ring === undefined) {
      ring = { times: new Float64Array(INITIAL_CAPACITY), windowMs, start: 0, length: 0 };
      rings.set(key, ring);
    }
    return ring;
  };

  return {
    get size() {
      return rings.size;
    },
    async take(buckets, nowMs, requests = 1) {
      sweep(nowMs);
      const requested = buckets.map((bucket) => ({ bucket, ring: ringOf(bucket) }));
      for (const { ring } of requested) dropExpired(ring, nowMs);
      const allowed = requested.every(({ bucket, ring }) => ring.length + requests <= bucket.limit);
      const states = requested.map(({ bucket, ring }): RateLimitBucketState => {
        if (allowed) for (let n = 0; n < requests; n += 1) push(ring, nowMs);
        const missing = allowed ? 0 : ring.length + requests - bucket.limit - 1;
        const over = Math.max(0, Math.min(missing, ring.length - 1));
        const freed = ring.length === 0 ? nowMs : (ring.times[(ring.start + over) % ring.times.length] ?? nowMs);
        return {
          limit: bucket.limit,
          remaining: Math.max(0, bucket.limit - ring.length),
          resetMs: freed + ring.windowMs,
        };
      });
      return { allowed, states };
    },
  };
}
