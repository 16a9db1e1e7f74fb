import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFallbackRateLimitStore } from '../../api/limits/fallback-rate-limit-store.js';
import { createMemoryRateLimitStore } from '../../api/limits/memory-rate-limit-store.js';
import type { RateLimitBucket, RateLimitStore } from '../../api/limits/port.js';
import { createRedisRateLimitStore, type RedisRateLimitStore } from '../../api/limits/redis-rate-limit-store.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { eventually } from '../support/product.js';
import { startTestRedis, type TestRedis, whyNoRedis } from '../support/redis.js';

const WINDOW = 1_000;
let names = 0;

/** Naive implementation with a list per bucket: a request at t counts until t + window. */
function naiveStore() {
  const times = new Map<string, number[]>();
  return (buckets: readonly RateLimitBucket[], nowMs: number) => {
    const lists = buckets.map(({ key, windowMs = WINDOW }) =>
      (times.get(key) ?? []).filter((time) => time + windowMs > nowMs),
    );
    const allowed = buckets.every(({ limit }, index) => (lists[index] ?? []).length < limit);
    const states = buckets.map(({ key, limit, windowMs = WINDOW }, index) => {
      const list = [...(lists[index] ?? []), ...(allowed ? [nowMs] : [])];
      times.set(key, list);
      const oldest = list[Math.max(0, list.length - limit)];
      return { limit, remaining: Math.max(0, limit - list.length), resetMs: (oldest ?? nowMs) + windowMs };
    });
    return { allowed, states };
  };
}

/** Suite for any store; `open` returns a further view of the same counts. */
function conformance(open: () => Promise<RateLimitStore>, shared: boolean): void {
  it('agrees with a naive implementation for random traffic over two buckets and any instance', async () => {
    const windows = shared ? [await open(), await open()] : [await open()];
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 300 }),
      both: fc.boolean(),
      account: fc.constantFrom('a', 'b:c'),
      instance: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const run = `run${names++}`;
        const rule = naiveStore();
        let nowMs = Date.now();
        for (const { wait, both, account, instance } of steps) {
          nowMs += wait;
          const standard = { key: `standard:${run}${account}`, limit: 12 };
          const buckets = both ? [standard, { key: `heavy:${run}${account}`, limit: 3, windowMs: 400 }] : [standard];
          const window = windows[instance % windows.length] as RateLimitStore;
          expect(await window.take(buckets, nowMs)).toEqual(rule(buckets, nowMs));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('accepts exactly as many concurrent requests as the limit allows', async () => {
    const windows = shared ? [await open(), await open(), await open()] : [await open()];
    const bucket = { key: `standard:crowd${names++}`, limit: 50 };
    const nowMs = Date.now();
    const requested = Array.from({ length: 150 }, (_, n) =>
      (windows[n % windows.length] as RateLimitStore).take([bucket], nowMs),
    );
    expect((await Promise.all(requested)).filter(({ allowed }) => allowed)).toHaveLength(50);
  });
}

describe('rate-limit store in memory', () =>
  conformance(async () => createMemoryRateLimitStore({ windowMs: WINDOW }), false));

describe.skipIf(whyNoRedis() !== null)('rate-limit store in Redis', () => {
  let redis: TestRedis;
  const opened: RedisRateLimitStore[] = [];
  const open = async (url = redis.url) => {
    const window = createRedisRateLimitStore({ url, windowMs: WINDOW, logger: silentLogger() });
    opened.push(window);
    await window.connect();
    return window;
  };
  beforeAll(async () => {
    redis = await startTestRedis();
  });
  afterAll(async () => {
    for (const window of opened) await window.close();
    await redis.stop();
  });

  conformance(open, true);

  it('falls back to local limits while Redis hangs or is unreachable, and returns to shared ones', async () => {
    let instance = await startTestRedis();
    const shared = await open(instance.url);
    const window = createFallbackRateLimitStore({
      shared,
      local: createMemoryRateLimitStore({ windowMs: WINDOW }),
      logger: silentLogger(),
      metrics: createMetrics({ process: 'test' }),
    });
    const take = (key: string, times: number) =>
      Promise.all(Array.from({ length: times }, () => window.take([{ key, limit: 2 }], Date.now())));
    const allowed = async (key: string) => (await take(key, 5)).filter((admission) => admission.allowed).length;
    expect(await allowed('standard:before')).toBe(2);
    process.kill(instance.pid, 'SIGSTOP');
    expect(await allowed('standard:hangs')).toBe(2);
    process.kill(instance.pid, 'SIGCONT');
    await instance.stop();
    expect(await allowed('standard:gone')).toBe(2);
    instance = await startTestRedis(Number(new URL(instance.url).port));
    await eventually('the connection', () => shared.take([{ key: 'standard:x', limit: 5 }], Date.now()));
    const other = await open(instance.url);
    const now = Date.now();
    await other.take([{ key: 'standard:back', limit: 1 }], now);
    expect((await window.take([{ key: 'standard:back', limit: 1 }], now)).allowed).toBe(false);
    await instance.stop();
  });
});
