import { expect, it } from 'vitest';
import type { ApiError } from '../errors/failure.js';
import { createConcurrencyLimiter } from './concurrency-limiter.js';

const limiterOf = (perAccount: number, total: number, maxWaitMs: number) =>
  createConcurrencyLimiter({
    perAccount,
    total,
    maxWaitMs,
    message: 'busy',
    accountScope: 'own',
    totalScope: 'all',
    nowMs: () => 5_000,
  });

/** Work that ends on demand. */
function pendingWork() {
  let end: () => void = () => undefined;
  const until = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { work: () => until, end };
}
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => (error as ApiError).failure,
  );

it('createConcurrencyLimiter runs `perAccount` tasks of an account at once and starts the next when one ends', async () => {
  const limiter = limiterOf(2, 10, 5_000);
  const [first, second] = [pendingWork(), pendingWork()];
  const running = [limiter.run('a', first.work), limiter.run('a', second.work)];
  const order: string[] = [];
  const third = limiter.run('a', async () => order.push('third'));
  const other = limiter.run('b', async () => order.push('other'));
  await other;
  expect(order).toEqual(['other']);
  first.end();
  await third;
  expect(order).toEqual(['other', 'third']);
  second.end();
  await Promise.all(running);
});

it('createConcurrencyLimiter rejects after the wait limit and names the limit that was reached', async () => {
  const limiter = limiterOf(1, 10, 5);
  const first = pendingWork();
  const running = limiter.run('a', first.work);
  expect(await failureOf(limiter.run('a', async () => 1))).toEqual({
    kind: 'rate_limited',
    message: 'busy',
    scope: 'own',
    retryAtMs: 6_000,
    nowMs: 5_000,
    limitPerMinute: 1,
    headers: { 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '6' },
  });
  first.end();
  await running;
  // A failure releases the permit too.
  await expect(limiter.run('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await limiter.run('a', async () => 7)).toBe(7);

  const all = limiterOf(2, 1, 5);
  const only = pendingWork();
  const used = all.run('a', only.work);
  expect(await failureOf(all.run('b', async () => 1))).toEqual({
    kind: 'overloaded',
    message: 'busy',
    scope: 'all',
    retryAfterS: 1,
  });
  only.end();
  await used;
});

it('createConcurrencyLimiter gives a returned permit to another account first, however many tasks of the same one wait', async () => {
  const limiter = limiterOf(1, 1, 5_000);
  const first = pendingWork();
  const order: string[] = [];
  const queued = [limiter.run('a', first.work)];
  for (const account of ['a', 'a', 'b', 'a', 'c'])
    queued.push(limiter.run(account, async () => void order.push(account)));
  first.end();
  await Promise.all(queued);
  expect(order).toEqual(['b', 'a', 'c', 'a', 'a']);
});
