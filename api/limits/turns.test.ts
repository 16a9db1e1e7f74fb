import { expect, it } from 'vitest';
import type { ApiError } from '../errors/failure.js';
import { createTurns } from './turns.js';

const turnsOf = (perAccount: number, total: number, waitMs: number) =>
  createTurns({
    perAccount,
    total,
    waitMs,
    message: 'busy',
    accountScope: 'own',
    totalScope: 'all',
    nowMs: () => 5_000,
  });

/** Work that ends when told. */
function held() {
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

it('lets an account run so many at once, the next when one ends', async () => {
  const turns = turnsOf(2, 10, 5_000);
  const [first, second] = [held(), held()];
  const running = [turns.take('a', first.work), turns.take('a', second.work)];
  const order: string[] = [];
  const third = turns.take('a', async () => order.push('third'));
  const other = turns.take('b', async () => order.push('other'));
  await other;
  expect(order).toEqual(['other']);
  first.end();
  await third;
  expect(order).toEqual(['other', 'third']);
  second.end();
  await Promise.all(running);
});

it('refuses who waited too long, and tells whose limit it was', async () => {
  const own = turnsOf(1, 10, 5);
  const first = held();
  const running = own.take('a', first.work);
  expect(await failureOf(own.take('a', async () => 1))).toEqual({
    kind: 'rate_limited',
    message: 'busy',
    scope: 'own',
    retryAtMs: 6_000,
    nowMs: 5_000,
    limitPerMinute: 1,
  });
  first.end();
  await running;
  // A failure ends a turn too.
  await expect(own.take('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await own.take('a', async () => 7)).toBe(7);

  const all = turnsOf(2, 1, 5);
  const only = held();
  const used = all.take('a', only.work);
  expect(await failureOf(all.take('b', async () => 1))).toEqual({
    kind: 'overloaded',
    message: 'busy',
    scope: 'all',
    retryAfterS: 1,
  });
  only.end();
  await used;
});
