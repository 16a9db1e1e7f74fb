import { describe, expect, it } from 'vitest';
import { createRecentFetches } from './recent-fetches.js';

function setup() {
  const clock = { nowMs: 1_000_000 };
  let loads = 0;
  const recent = createRecentFetches<number>({ nowMs: () => clock.nowMs });
  const get = (key: string) => recent.get(key, async () => ++loads);
  return { clock, recent, get, loads: () => loads };
}

describe('recent fetches', () => {
  it('repeat a result for less than 30 seconds after its start', async () => {
    const { clock, get } = setup();
    expect(await get('a')).toEqual({ value: 1, startedMs: 1_000_000, isRepeated: false });
    clock.nowMs += 29_999;
    expect(await get('a')).toEqual({ value: 1, startedMs: 1_000_000, isRepeated: true });
    clock.nowMs += 1;
    expect(await get('a')).toEqual({ value: 2, startedMs: 1_030_000, isRepeated: false });
    // A clock that was set back does not extend a result.
    clock.nowMs -= 3_600_000;
    expect((await get('a')).isRepeated).toBe(false);
  });

  it('share one load among concurrent requests, and its failure, which is not repeated afterwards', async () => {
    const { recent, get } = setup();
    const failing = () => Promise.reject(new Error('down'));
    const results = await Promise.allSettled([recent.get('a', failing), get('a'), get('a')]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect((await get('a')).value).toBe(1);
  });

  it('forget the oldest of more than 1,000 results', async () => {
    const { get, loads } = setup();
    for (let n = 0; n < 1_001; n++) await get(String(n));
    expect((await get('1000')).isRepeated).toBe(true);
    expect((await get('1')).isRepeated).toBe(true);
    expect((await get('0')).isRepeated).toBe(false);
    expect(loads()).toBe(1_002);
  });
});
