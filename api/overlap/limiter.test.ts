import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ApiError } from '../errors/failure.js';
import { createOverlapLimiter, type OverlapCaller } from './limiter.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MAX_WAIT_MS = 10_000;
const account = (accountId: string): OverlapCaller => ({ accountId, clientIp: '192.0.2.1' });
const address = (clientIp: string): OverlapCaller => ({ accountId: null, clientIp });

/** A limiter, the names of the running requests in order of their start, and what ends them. */
function setUp() {
  const limiter = createOverlapLimiter({ nowMs: () => 5_000, maxWaitMs: MAX_WAIT_MS });
  const running = new Map<string, () => void>();
  const outcomes = new Map<string, string>();
  const start = (name: string, caller: OverlapCaller) => {
    const work = () => new Promise<void>((resolve) => void running.set(name, resolve));
    limiter.run(caller, work).then(
      () => outcomes.set(name, 'done'),
      (error: ApiError) => outcomes.set(name, error.failure.kind),
    );
  };
  const end = async (name: string) => {
    running.get(name)?.();
    running.delete(name);
    await vi.advanceTimersByTimeAsync(0);
  };
  const names = () => [...running.keys()];
  return { start, end, names, outcomes };
}

it('createOverlapLimiter keeps a permit for accounts, whatever the number of addresses without a key', async () => {
  const { start, end, names, outcomes } = setUp();
  for (let n = 0; n < 20; n++) start(`v4 ${n}`, address(`198.51.100.${n}`));
  start('customer', account('a'));
  await vi.advanceTimersByTimeAsync(0);
  expect(names()).toEqual(['v4 0', 'customer']);
  await end('customer');
  start('other customer', account('b'));
  await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
  expect(names()).toEqual(['v4 0', 'other customer']);
  expect(outcomes.get('v4 7')).toBe('overloaded');
});

it('createOverlapLimiter counts a /64 of IPv6 as one address, which does not keep others waiting', async () => {
  const { start, end, names, outcomes } = setUp();
  for (let n = 0; n < 5; n++) start(`v6 ${n}`, address(`2001:db8:1:2::${n + 1}`));
  start('other', address('2001:db8:1:3::1'));
  await vi.advanceTimersByTimeAsync(0);
  expect(names()).toEqual(['v6 0']);
  await end('v6 0');
  expect(names()).toEqual(['other']);
  await end('other');
  expect(names()).toEqual(['v6 1']);
  await vi.advanceTimersByTimeAsync(MAX_WAIT_MS);
  expect(outcomes.get('v6 4')).toBe('rate_limited');
});
