import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMemoryRateLimitStore } from './memory-rate-limit-store.js';
import type { RateLimitBucket } from './port.js';

const WINDOW = 1000;

/** Second implementation with a plain list per bucket: a request at t counts until t + window. */
function naiveStore() {
  const times = new Map<string, number[]>();
  return (buckets: readonly RateLimitBucket[], nowMs: number, requests: number) => {
    const lists = buckets.map((bucket) => (times.get(bucket.key) ?? []).filter((time) => time + WINDOW > nowMs));
    const allowed = buckets.every((bucket, index) => (lists[index] ?? []).length + requests <= bucket.limit);
    const states = buckets.map((bucket, index) => {
      const list = [...(lists[index] ?? []), ...(allowed ? Array<number>(requests).fill(nowMs) : [])];
      times.set(bucket.key, list);
      // The request fits once the first of them that are too many leaves the window.
      const oldest =
        list[allowed ? 0 : Math.max(0, Math.min(list.length - 1, list.length + requests - bucket.limit - 1))];
      return {
        limit: bucket.limit,
        remaining: Math.max(0, bucket.limit - list.length),
        resetMs: (oldest ?? nowMs) + WINDOW,
      };
    });
    return { allowed, states };
  };
}

describe('createMemoryRateLimitStore', () => {
  it('agrees with the naive implementation for random traffic over two buckets', async () => {
    const step = fc.record({
      wait: fc.integer({ min: 0, max: 400 }),
      both: fc.boolean(),
      requests: fc.constantFrom(1, 1, 1, 2, 5),
      account: fc.constantFrom('a', 'b'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const window = createMemoryRateLimitStore({ windowMs: WINDOW });
        const rule = naiveStore();
        let nowMs = 5_000;
        for (const { wait, both, account, requests } of steps) {
          nowMs += wait;
          const buckets = [{ key: `s:${account}`, limit: 20 }, ...(both ? [{ key: `h:${account}`, limit: 3 }] : [])];
          expect(await window.take(buckets, nowMs, requests)).toEqual(rule(buckets, nowMs, requests));
        }
      }),
    );
  });

  it('grows beyond its initial ring capacity and frees requests one by one', async () => {
    const window = createMemoryRateLimitStore({ windowMs: WINDOW });
    const bucket = [{ key: 'a', limit: 100 }];
    for (let n = 0; n < 100; n += 1) expect((await window.take(bucket, n)).allowed).toBe(true);
    expect((await window.take(bucket, 999)).allowed).toBe(false);
    expect((await window.take(bucket, 1000)).allowed).toBe(true);
    expect((await window.take(bucket, 1000)).allowed).toBe(false);
  });

  it('counts a bucket with a longer window for all of its window, also across sweeps', async () => {
    const window = createMemoryRateLimitStore({ windowMs: WINDOW });
    const bucket = { key: 'guesses', limit: 2, windowMs: 10 * WINDOW };
    expect((await window.take([bucket], 0)).allowed).toBe(true);
    expect((await window.take([bucket], 500)).allowed).toBe(true);
    for (let n = 1; n < 10; n += 1) await window.take([{ key: 'other', limit: 5 }], n * WINDOW + 1);
    const full = await window.take([bucket], 9_999);
    expect([full.allowed, full.states[0]?.resetMs]).toEqual([false, 10_000]);
    expect((await window.take([bucket], 10_000)).allowed).toBe(true);
    expect((await window.take([bucket], 10_001)).allowed).toBe(false);
  });

  it('removes buckets without requests', async () => {
    const window = createMemoryRateLimitStore({ windowMs: WINDOW });
    for (let n = 0; n < 50; n += 1) await window.take([{ key: String(n), limit: 5 }], n);
    expect(window.size).toBe(50);
    await window.take([{ key: 'late', limit: 5 }], 5_000);
    expect(window.size).toBe(1);
  });
});
