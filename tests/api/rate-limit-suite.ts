import { createClient } from '@redis/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSignInThrottle, type SignInThrottle } from '../../api/auth/sign-in-throttle.js';
import { ApiError } from '../../api/errors/failure.js';
import { createFallbackRateLimitStore } from '../../api/limits/fallback-rate-limit-store.js';
import { createMemoryRateLimitStore } from '../../api/limits/memory-rate-limit-store.js';
import { openRateLimitStore } from '../../api/limits/open-rate-limit-store.js';
import type { RateLimitBucket, RateLimitStore } from '../../api/limits/port.js';
import { createRedisRateLimitStore, type RedisRateLimitStore } from '../../api/limits/redis-rate-limit-store.js';
import { silentLogger } from '../../infra/telemetry/logger.js';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { eventually } from '../support/product.js';
import type { TestRedis } from '../support/redis.js';

const WINDOW = 1_000;
let names = 0;

/** Naive implementation with a list per bucket: a request at t counts until t + window. */
function naiveStore() {
  const times = new Map<string, number[]>();
  return (buckets: readonly RateLimitBucket[], nowMs: number, requests: number) => {
    const lists = buckets.map(({ key, windowMs = WINDOW }) =>
      (times.get(key) ?? []).filter((time) => time + windowMs > nowMs),
    );
    const allowed = buckets.every(({ limit }, index) => (lists[index] ?? []).length + requests <= limit);
    const states = buckets.map(({ key, limit, windowMs = WINDOW }, index) => {
      const list = [...(lists[index] ?? []), ...(allowed ? Array<number>(requests).fill(nowMs) : [])];
      times.set(key, list);
      // The request fits once the first of them that are too many leaves the window.
      const oldest = list[allowed ? 0 : Math.max(0, Math.min(list.length - 1, list.length + requests - limit - 1))];
      return { limit, remaining: Math.max(0, limit - list.length), resetMs: (oldest ?? nowMs) + windowMs };
    });
    return { allowed, states };
  };
}

/** Suite for any store; `open` returns a further view of the same counts. */
export function describeRateLimitStore(open: () => Promise<RateLimitStore>, shared: boolean): void {
  it('agrees with a naive implementation for random traffic over two buckets and any instance', async () => {
    const windows = shared ? [await open(), await open()] : [await open()];
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 300 }),
      both: fc.boolean(),
      requests: fc.constantFrom(1, 1, 1, 2, 5),
      account: fc.constantFrom('a', 'b:c'),
      instance: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
        const run = `run${names++}`;
        const rule = naiveStore();
        let nowMs = Date.now();
        for (const { wait, both, account, instance, requests } of steps) {
          nowMs += wait;
          const standard = { key: `standard:${run}${account}`, limit: 12 };
          const buckets = both ? [standard, { key: `heavy:${run}${account}`, limit: 3, windowMs: 400 }] : [standard];
          const window = windows[instance % windows.length] as RateLimitStore;
          expect(await window.take(buckets, nowMs, requests)).toEqual(rule(buckets, nowMs, requests));
        }
      }),
      { numRuns: 40 },
    );
  });

  it('does not count the requests of a clock that ran ahead once it is set back', async () => {
    const window = await open();
    const bucket = { key: `standard:ahead${names++}`, limit: 3 };
    const nowMs = Date.now();
    const allowed = async (atMs: number) => (await window.take([bucket], nowMs + atMs)).allowed;
    const results = [];
    for (const atMs of [5 * 86_400_000, 5 * 86_400_000, 0, 1, 2, 3, 1_000]) results.push(await allowed(atMs));
    expect(results).toEqual([true, true, true, true, true, false, true]);
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

/** Suite of the store in Redis and of what happens without it. `start` returns an empty server of its own, on the given port or a free one. */
export function describeRedisRateLimits(name: string, start: (port?: number) => Promise<TestRedis>): void {
  describe(`rate-limit store in ${name}`, () => {
    let redis: TestRedis;
    const opened: RedisRateLimitStore[] = [];
    const open = async (url = redis.url) => {
      const window = createRedisRateLimitStore({ url, windowMs: WINDOW, logger: silentLogger() });
      opened.push(window);
      await window.connect();
      return window;
    };
    beforeAll(async () => {
      redis = await start();
    });
    afterAll(async () => {
      for (const window of opened) await window.close();
      await redis?.stop();
    });

    describeRateLimitStore(open, true);

    it('falls back to local limits while Redis hangs or is unreachable, and returns to shared ones', async () => {
      let instance = await start();
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
      await instance.pause();
      expect(await allowed('standard:hangs')).toBe(2);
      await instance.resume();
      await instance.stop();
      expect(await allowed('standard:gone')).toBe(2);
      instance = await start(Number(new URL(instance.url).port));
      await eventually('the connection', () => shared.take([{ key: 'standard:x', limit: 5 }], Date.now()));
      const other = await open(instance.url);
      // The store that failed is tried again after a second.
      const later = Date.now() + 1_100;
      await other.take([{ key: 'standard:back', limit: 1 }], later);
      expect((await window.take([{ key: 'standard:back', limit: 1 }], later)).allowed).toBe(false);
      await instance.stop();
    });

    it('delays one request per second while Redis hangs, and fails none', async () => {
      const instance = await start();
      const metrics = createMetrics({ process: 'test', defaults: false });
      const shared = await open(instance.url);
      let tried = 0;
      const window = createFallbackRateLimitStore({
        shared: {
          take(...args) {
            tried += 1;
            return shared.take(...args);
          },
        },
        local: createMemoryRateLimitStore({ windowMs: WINDOW }),
        logger: silentLogger(),
        metrics,
      });
      const bucket = { key: 'standard:hanging', limit: 1_000 };
      await instance.pause();
      const startMs = Date.now();
      for (let n = 0; n < 300; n += 1) expect((await window.take([bucket], startMs + n * 10)).allowed).toBe(true);
      expect(tried).toBe(3);
      expect(await metrics.registry.metrics()).toMatch(/api_rate_limit_fallback_total(\{[^}]*\})? 300/);
      expect(await metrics.registry.metrics()).toMatch(/api_rate_limit_store_up(\{[^}]*\})? 0/);
      await instance.resume();
      await eventually('Redis to respond', () => shared.take([bucket], Date.now()));
      await window.take([bucket], startMs + 10_000);
      expect(await metrics.registry.metrics()).toMatch(/api_rate_limit_store_up(\{[^}]*\})? 1/);
      await instance.stop();
    });

    describe('limits of signing in', () => {
      const MINUTE_MS = 60_000;
      const limited = (work: Promise<void>) =>
        work.then(
          () => null,
          (error: unknown) => (error instanceof ApiError ? error.failure : error),
        );

      it('hold over two API processes for 15 minutes each, without addresses and emails in Redis', async () => {
        const instance = await start();
        const stores = [await open(instance.url), await open(instance.url)];
        const throttles = stores.map((rateLimitStore) =>
          createSignInThrottle({ rateLimitStore, secret: 'one secret' }),
        );
        const throttle = (n: number) => throttles[n % 2] as SignInThrottle;
        const startMs = Date.now();
        const guess = (n: number, atMs: number, clientIp = `192.0.2.${n}`) =>
          limited(throttle(n).password('desk@fund.example', { clientIp, nowMs: atMs }));
        for (let n = 0; n < 10; n += 1) expect(await guess(n, startMs + n * MINUTE_MS)).toBeNull();
        expect(await guess(10, startMs + 10 * MINUTE_MS)).toMatchObject({
          kind: 'rate_limited',
          retryAtMs: startMs + 15 * MINUTE_MS,
        });
        expect(await guess(11, startMs + 15 * MINUTE_MS - 1)).not.toBeNull();
        expect(await guess(12, startMs + 15 * MINUTE_MS)).toBeNull();
        // The second guess leaves the window a minute later.
        expect(await guess(13, startMs + 15 * MINUTE_MS)).not.toBeNull();
        expect(await guess(14, startMs + 16 * MINUTE_MS)).toBeNull();

        const from = (n: number, clientIp: string) =>
          limited(throttle(n).signIn({ clientIp, nowMs: startMs + 20 * MINUTE_MS }));
        for (let n = 0; n < 30; n += 1) expect(await from(n, `2001:db8::${n}`)).toBeNull();
        expect(await from(30, '2001:db8::ffff')).toMatchObject({ kind: 'rate_limited' });
        expect(await from(31, '2001:db8:0:1::1')).toBeNull();

        const client = createClient({ url: instance.url });
        await client.connect();
        const keys = await client.keys('*');
        expect(keys.length).toBeGreaterThan(10);
        expect(keys.filter((key) => /fund|192\.0|2001|db8/.test(key))).toEqual([]);
        for (const key of keys) expect(await client.pTTL(key)).toBeLessThanOrEqual(16 * MINUTE_MS);
        for (const key of keys) expect(await client.pTTL(key)).toBeGreaterThan(14 * MINUTE_MS);
        client.destroy();
        await instance.stop();
      });

      it('apply per process while Redis is unreachable', async () => {
        const instance = await start();
        const metrics = createMetrics({ process: 'test', defaults: false });
        const { store, close } = await openRateLimitStore({ redisUrl: instance.url, logger: silentLogger(), metrics });
        const throttle = createSignInThrottle({ rateLimitStore: store, secret: 'one secret' });
        await instance.stop();
        const startMs = Date.now();
        const guess = (n: number) =>
          limited(throttle.password('desk@fund.example', { clientIp: `192.0.2.${n}`, nowMs: startMs + n * MINUTE_MS }));
        const results = [];
        for (let n = 0; n < 12; n += 1) results.push(await guess(n));
        expect(results.map((result) => result === null)).toEqual([...Array(10).fill(true), false, false]);
        expect(await guess(15)).toBeNull();
        expect(await metrics.registry.metrics()).toMatch(/api_rate_limit_store_up(\{[^}]*\})? 0/);
        await close();
      });
    });
  });
}
