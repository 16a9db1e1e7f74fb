import { describe, expect, it } from 'vitest';
import { createTtlCache } from './ttl-cache.js';

function setup(maxEntries = 10) {
  const clock = { nowMs: 0 };
  const cache = createTtlCache({ maxEntries, nowMs: () => clock.nowMs });
  let loads = 0;
  const load = async () => {
    loads += 1;
    return loads;
  };
  return { clock, cache, load, loads: () => loads };
}

describe('createTtlCache', () => {
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

  it('keeps at most maxEntries, evicting the oldest', async () => {
    const { cache, load } = setup(2);
    await cache.get('a', 100, load);
    await cache.get('b', 100, load);
    await cache.get('c', 100, load);
    expect((await cache.get('c', 100, load)).hit).toBe(true);
    expect((await cache.get('b', 100, load)).hit).toBe(true);
    expect((await cache.get('a', 100, load)).hit).toBe(false);
  });

  it('removes expired entries before others', async () => {
    const clock = { nowMs: 0 };
    const cache = createTtlCache({ maxEntries: 10, nowMs: () => clock.nowMs, weigh: () => 5, maxWeight: 10 });
    const load = async () => 'value';
    await cache.get('long', 3_600_000, load);
    await cache.get('short', 1_000, load);
    clock.nowMs = 20_000;
    await cache.get('new', 1_000, load);
    expect((await cache.get('long', 3_600_000, load)).hit).toBe(true);
    expect((await cache.get('new', 1_000, load)).hit).toBe(true);
  });

  it('does not return a value from the future after the clock is set back', async () => {
    const { clock, cache, load } = setup();
    clock.nowMs = 1000;
    await cache.get('k', 100, load);
    clock.nowMs = 500;
    expect((await cache.get('k', 100, load)).hit).toBe(false);
  });
});

it('evicts the oldest entries beyond maxWeight', async () => {
  const cache = createTtlCache({ maxEntries: 100, nowMs: () => 0, weigh: (value) => Number(value), maxWeight: 10 });
  const loads: string[] = [];
  const get = (key: string, weight: number) =>
    cache.get(key, 1000, async () => {
      loads.push(key);
      return weight;
    });
  await get('a', 4);
  await get('b', 4);
  await get('a', 4);
  await get('c', 4);
  await get('b', 4);
  await get('a', 4);
  await get('huge', 11);
  await get('huge', 11);
  expect(loads).toEqual(['a', 'b', 'c', 'a', 'huge', 'huge']);
});

it('evicts the entry that loads fastest among the oldest', async () => {
  let nowMs = 0;
  const cache = createTtlCache({ maxEntries: 3, nowMs: () => nowMs });
  const load = (key: string, tookMs: number) =>
    cache.get(key, 60_000, async () => {
      nowMs += tookMs;
      return key;
    });
  await load('slow', 100);
  await load('fast', 1);
  await load('also slow', 90);
  await load('new', 50);
  const hits = [];
  for (const key of ['slow', 'also slow', 'new']) hits.push((await load(key, 0)).hit);
  expect(hits).toEqual([true, true, true]);
  expect((await load('fast', 200)).hit).toBe(false);
});

it('neither returns a value of another dataVersion nor waits for its load', async () => {
  let version = 'half';
  const cache = createTtlCache({ maxEntries: 10, nowMs: () => 0, dataVersion: () => version });
  let finish: (value: string) => void = () => undefined;
  const early = cache.get('k', 60_000, () => new Promise<string>((resolve) => (finish = resolve)));
  version = 'all';
  expect(await cache.get('k', 60_000, async () => 'whole')).toEqual({ value: 'whole', ageMs: 0, hit: false });
  finish('part');
  expect((await early).value).toBe('part');
  expect((await cache.get('k', 60_000, async () => 'whole again')).value).toBe('whole again');
  expect((await cache.get('k', 60_000, async () => 'never')).value).toBe('whole again');
});
