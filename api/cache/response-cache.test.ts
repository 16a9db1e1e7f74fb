import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../infra/telemetry/metrics.js';
import { bytesOf } from './bytes-of.js';
import { createResponseCache, type ResponseCache } from './response-cache.js';

function setup() {
  const clock = { nowMs: 0 };
  const cache = createResponseCache({ nowMs: () => clock.nowMs });
  let loads = 0;
  const load = async () => {
    loads += 1;
    return loads;
  };
  return { clock, cache, load, loads: () => loads };
}

describe('createResponseCache', () => {
  it('returns a cached value with its age until its time to live is over', async () => {
    const { clock, cache, load } = setup();
    expect(await cache.get('k', 100, load)).toEqual({ value: 1, ageMs: 0, hit: false });
    clock.nowMs = 99;
    expect(await cache.get('k', 100, load)).toEqual({ value: 1, ageMs: 99, hit: true });
    clock.nowMs = 100;
    expect(await cache.get('k', 100, load)).toEqual({ value: 2, ageMs: 0, hit: false });
  });

  it('counts the age from the start of the load', async () => {
    const { clock, cache } = setup();
    await cache.get('k', 100, async () => {
      clock.nowMs = 60;
      return 'slow';
    });
    expect(await cache.get('k', 100, async () => 'new')).toEqual({ value: 'slow', ageMs: 60, hit: true });
  });

  it('refreshes a slow value in the background before it expires, if it is still requested', async () => {
    const { clock, cache } = setup();
    const loads: (() => void)[] = [];
    const slow = () => new Promise<number>((resolve) => loads.push(() => resolve(loads.length)));
    const first = cache.get('k', 100, slow);
    clock.nowMs = 20;
    loads[0]?.();
    expect((await first).value).toBe(1);
    clock.nowMs = 50;
    expect(await cache.get('k', 100, slow)).toEqual({ value: 1, ageMs: 50, hit: true });
    expect(loads).toHaveLength(1);
    clock.nowMs = 60;
    expect(await cache.get('k', 100, slow)).toEqual({ value: 1, ageMs: 60, hit: true });
    expect(await cache.get('k', 100, slow)).toEqual({ value: 1, ageMs: 60, hit: true });
    expect(loads).toHaveLength(2);
    clock.nowMs = 90;
    loads[1]?.();
    await new Promise((resolve) => setImmediate(resolve));
    clock.nowMs = 110;
    expect(await cache.get('k', 100, slow)).toEqual({ value: 2, ageMs: 50, hit: true });
    // A failed refresh keeps the cached value; a request after its expiry loads again.
    clock.nowMs = 150;
    expect((await cache.get('k', 100, () => Promise.reject(new Error('down')))).value).toBe(2);
    await new Promise((resolve) => setImmediate(resolve));
    clock.nowMs = 160;
    await expect(cache.get('k', 100, () => Promise.reject(new Error('still down')))).rejects.toThrow('still down');
  });

  it('shares one load among concurrent requests, and caches neither failures nor values with ttl 0', async () => {
    const { cache, load, loads } = setup();
    await Promise.all([cache.get('k', 100, load), cache.get('k', 100, load), cache.get('k', 100, load)]);
    expect(loads()).toBe(1);
    const failing = () => Promise.reject(new Error('down'));
    await expect(Promise.all([cache.get('f', 100, failing), cache.get('f', 100, failing)])).rejects.toThrow('down');
    expect((await cache.get('f', 100, load)).value).toBe(2);
    await cache.get('z', () => 0, load);
    expect((await cache.get('z', 100, load)).hit).toBe(false);
  });

  it('does not return a value from the future after the clock is set back', async () => {
    const { clock, cache, load } = setup();
    clock.nowMs = 1000;
    await cache.get('k', 100, load);
    clock.nowMs = 500;
    expect((await cache.get('k', 100, load)).hit).toBe(false);
  });
});

describe('createResponseCache getLimited', () => {
  function deferred<T>() {
    let resolve: (value: T) => void = () => undefined;
    let reject: (error: Error) => void = () => undefined;
    const promise = new Promise<T>((onValue, onError) => {
      resolve = onValue;
      reject = onError;
    });
    return { promise, resolve, reject };
  }
  /** A request for `k` that waits until it gets or is refused its permit; its load ends on demand. */
  function request(cache: ResponseCache, ttlMs = 100) {
    const permit = deferred<void>();
    const loaded = deferred<string>();
    const state = { loads: 0 };
    const result = cache.getLimited<string>('k', ttlMs, async (shared) => {
      await permit.promise;
      return shared(() => {
        state.loads += 1;
        return loaded.promise;
      });
    });
    result.catch(() => undefined);
    return { state, result, permit, loaded };
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it('neither waits for a request without a permit nor fails with it', async () => {
    const { cache } = setup();
    const [early, late] = [request(cache), request(cache)];
    late.permit.resolve();
    late.loaded.resolve('late');
    expect(await late.result).toEqual({ value: 'late', ageMs: 0, hit: false });
    const other = request(cache, 0);
    early.permit.reject(new Error('no permit'));
    // The value is there, although the request has no permit.
    expect(await early.result).toEqual({ value: 'late', ageMs: 0, hit: true });
    expect(await other.result).toEqual({ value: 'late', ageMs: 0, hit: true });
    expect([early.state.loads, late.state.loads, other.state.loads]).toEqual([0, 1, 0]);
  });

  it('shares a load that has its permit, and its failure', async () => {
    const { cache } = setup();
    const [first, second, third] = [request(cache), request(cache), request(cache)];
    first.permit.resolve();
    await settled();
    second.permit.resolve();
    third.permit.reject(new Error('no permit'));
    const fourth = request(cache);
    await settled();
    first.loaded.reject(new Error('too slow'));
    for (const { result } of [first, second, third, fourth]) await expect(result).rejects.toThrow('too slow');
    expect([first, second, third, fourth].map(({ state }) => state.loads)).toEqual([1, 0, 0, 0]);
  });

  it('fails without a permit if there is neither a value nor a running load', async () => {
    const { cache } = setup();
    const [first, second] = [request(cache), request(cache)];
    first.permit.reject(new Error('no permit'));
    await expect(first.result).rejects.toThrow('no permit');
    second.permit.resolve();
    second.loaded.resolve('second');
    expect((await second.result).value).toBe('second');
  });

  it('waits for one permit at a time to refresh a value in the background', async () => {
    const { clock, cache } = setup();
    const first = request(cache);
    first.permit.resolve();
    await settled();
    clock.nowMs = 20;
    first.loaded.resolve('first');
    await first.result;
    clock.nowMs = 60;
    const hits = [request(cache), request(cache)];
    for (const hit of hits) expect(await hit.result).toEqual({ value: 'first', ageMs: 60, hit: true });
    for (const hit of hits) hit.permit.resolve();
    await settled();
    expect(hits.map(({ state }) => state.loads)).toEqual([1, 0]);
    hits[0]?.loaded.resolve('second');
    await settled();
    clock.nowMs = 110;
    expect(await request(cache).result).toEqual({ value: 'second', ageMs: 50, hit: true });
  });
});

it('evicts the least recently used entries beyond maxBytes, and does not keep a value above half of it', async () => {
  const cache = createResponseCache({ maxBytes: 8_000, nowMs: () => 0 });
  const loads: string[] = [];
  const get = (key: string, length = 3_000) =>
    cache.get(key, 1000, async () => {
      loads.push(key);
      return 'x'.repeat(length);
    });
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key);
  expect(loads).toEqual(['a', 'b', 'c', 'b']);
  for (let n = 0; n < 2; n++) await get('huge', 5_000);
  expect(loads).toEqual(['a', 'b', 'c', 'b', 'huge', 'huge']);
});

it('removes expired entries and counts hits, misses and bytes', async () => {
  const clock = { nowMs: 0 };
  const metrics = createMetrics({ process: 'api', defaults: false });
  const cache = createResponseCache({ nowMs: () => clock.nowMs, metrics });
  const bytes = async () => Number(/api_cache_bytes\b.* (\d+)\n/.exec(await metrics.registry.metrics())?.[1]);
  const load = async () => 'x'.repeat(10_000);
  await cache.get('long', 3_600_000, load);
  const one = await bytes();
  for (const key of ['a', 'b', 'c']) await cache.get(key, 1_000, load);
  expect(await bytes()).toBeGreaterThan(3 * one);
  clock.nowMs = 20_000;
  await cache.get('new', 1_000, load);
  expect(await bytes()).toBeLessThan(3 * one);
  expect((await cache.get('long', 3_600_000, load)).hit).toBe(true);
  await Promise.all([cache.get('d', 1_000, load), cache.get('d', 1_000, load)]);
  const text = await metrics.registry.metrics();
  for (const count of ['hit".* 1', 'miss".* 6', 'shared".* 1'])
    expect(text).toMatch(new RegExp(`requests_total.*${count}\n`));
});

it('loads for every request when it is switched off', async () => {
  const cache = createResponseCache({ maxBytes: 0, nowMs: () => 0 });
  let loads = 0;
  const get = () => cache.get('k', 1000, async () => ++loads);
  expect(await Promise.all([get(), get()])).toEqual([
    { value: 1, ageMs: 0, hit: false },
    { value: 2, ageMs: 0, hit: false },
  ]);
});

it('bytesOf estimates by a sample and grows with the data', () => {
  const row = (n: number) => ({ id: `0x${'ab'.repeat(32)}`, size: BigInt(n), tags: ['nba', 'nfl'], at: n, none: null });
  const rows = (count: number) => Array.from({ length: count }, (_, n) => row(n));
  expect(bytesOf(rows(20_000)) / bytesOf(rows(10))).toBeCloseTo(2_000, -2);
  expect(bytesOf(row(1))).toBe(24 + 5 * 8 + (16 + 66) + 24 + (16 + 2 * 8 + 2 * 19) + 8 + 8);
  expect(bytesOf(new Map([['key', 'value']]))).toBe(24 + 8 + 19 + 8 + 21);
  expect([bytesOf([]), bytesOf(new Set([1])), bytesOf(undefined)]).toEqual([16, 40, 8]);
});

it('neither returns a value of another dataVersion nor waits for its load', async () => {
  let version = 'half';
  const cache = createResponseCache({ nowMs: () => 0, dataVersion: () => version });
  let finish: (value: string) => void = () => undefined;
  const early = cache.get('k', 60_000, () => new Promise<string>((resolve) => (finish = resolve)));
  version = 'all';
  expect(await cache.get('k', 60_000, async () => 'whole')).toEqual({ value: 'whole', ageMs: 0, hit: false });
  finish('part');
  expect((await early).value).toBe('part');
  expect((await cache.get('k', 60_000, async () => 'whole again')).value).toBe('whole again');
  expect((await cache.get('k', 60_000, async () => 'never')).value).toBe('whole again');
});
