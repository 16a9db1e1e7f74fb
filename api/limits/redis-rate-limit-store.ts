import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, defineScript } from '@redis/client';
import type { Logger } from '../../infra/telemetry/logger.js';
import type { RateLimitBucket, RateLimitBucketState, RateLimitStore } from './port.js';

/**
 * KEYS: one sorted set per bucket with a member per request, scored with its time. ARGV: now (ms), a unique id of this request, how many it counts as,
 * then per key its limit and window (ms). Removes requests that have left the window, and those so late that a clock must have been set back since. Returns 1 (allowed) or 0, then per key the number of counted requests and the score of the one that expires next.
 */
const TAKE_LUA = `
local now, request, requests = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local allowed = 1
for i, key in ipairs(KEYS) do
  local window = tonumber(ARGV[3 + 2 * i])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now - window)
  redis.call('ZREMRANGEBYSCORE', key, '(' .. string.format('%.0f', now + window), '+inf')
  if redis.call('ZCARD', key) + requests > tonumber(ARGV[2 + 2 * i]) then allowed = 0 end
end
local result = {allowed}
for i, key in ipairs(KEYS) do
  if allowed == 1 then
    for n = 1, requests do redis.call('ZADD', key, now, request .. ':' .. n) end
    redis.call('PEXPIRE', key, tonumber(ARGV[3 + 2 * i]) + 60000)
  end
  local counted = redis.call('ZCARD', key)
  local missing = 0
  if allowed == 0 then missing = counted + requests - tonumber(ARGV[2 + 2 * i]) - 1 end
  local over = math.max(0, math.min(missing, counted - 1))
  local next = redis.call('ZRANGE', key, over, over, 'WITHSCORES')
  result[#result + 1] = counted
  result[#result + 1] = tonumber(next[2] or now)
end
return result
`;

/** Maximum time that a request waits for Redis; then the instance uses its local store. */
const COMMAND_TIMEOUT_MS = 250;
const MAX_RECONNECT_DELAY_MS = 2_000;

const takeScript = defineScript({
  SCRIPT: TAKE_LUA,
  parseCommand(parser, keys: readonly string[], args: readonly string[]) {
    parser.pushKeysLength([...keys]);
    parser.push(...args);
  },
  transformReply: (reply: unknown) => reply as number[],
});

/** Key with a hash tag, so that all buckets of an account are in one hash slot of a Redis cluster. */
function redisKey(bucket: RateLimitBucket): string {
  const [kind, ...rest] = bucket.key.split(':');
  return `oddstream:rate:{${rest.join(':')}}:${kind}`;
}

async function withTimeout<T>(reply: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(COMMAND_TIMEOUT_MS, undefined, { signal: over.signal }).then(() => {
    throw new Error(`Redis did not respond within ${COMMAND_TIMEOUT_MS} ms`);
  });
  // The promise that loses the race may reject later: its rejection is handled here.
  late.catch(() => undefined);
  reply.catch(() => undefined);
  try {
    return await Promise.race([reply, late]);
  } finally {
    over.abort();
  }
}

export interface RedisRateLimitStore extends RateLimitStore {
  /** Rejects if the first connection fails. The client reconnects by itself afterwards. */
  connect(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The sliding window of memory-rate-limit-store.ts in Redis, so that all API instances share the buckets. `take` rejects within COMMAND_TIMEOUT_MS while
 * Redis is unreachable. The limits are as exact as the instances' clocks are synchronized (NTP).
 */
export function createRedisRateLimitStore(options: {
  url: string;
  windowMs: number;
  logger: Logger;
}): RedisRateLimitStore {
  const { windowMs, logger } = options;
  const client = createClient({
    url: options.url,
    scripts: { take: takeScript },
    disableOfflineQueue: true,
    socket: {
      connectTimeout: 5_000,
      reconnectStrategy: (attempts) => Math.min(50 * 2 ** Math.min(attempts, 10), MAX_RECONNECT_DELAY_MS),
    },
  });
  client.on('error', (error: unknown) => logger.warn({ err: error }, 'Redis unreachable, reconnecting'));

  return {
    async connect() {
      await client.connect();
    },
    async take(buckets, nowMs, requests = 1) {
      const terms = buckets.flatMap((bucket) => [bucket.limit, bucket.windowMs ?? windowMs]);
      const args = [nowMs, randomUUID(), requests, ...terms].map(String);
      const [allowed, ...numbers] = await withTimeout(client.take(buckets.map(redisKey), args));
      const states = buckets.map((bucket, index): RateLimitBucketState => {
        const { limit } = bucket;
        const [counted = 0, freedMs = nowMs] = numbers.slice(2 * index, 2 * index + 2);
        return { limit, remaining: Math.max(0, limit - counted), resetMs: freedMs + (bucket.windowMs ?? windowMs) };
      });
      return { allowed: allowed === 1, states };
    },
    async close() {
      if (client.isOpen) client.destroy();
    },
  };
}
