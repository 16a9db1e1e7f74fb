import { expect, it } from 'vitest';
import { createRankings } from './rankings.js';

it('createRankings cuts later pages of a session from the order of its first page', async () => {
  let nowMs = 0;
  let order = ['a', 'b', 'c'];
  const rankings = createRankings({ nowMs: () => nowMs });
  const page = (offset: number, sessionKey = 'w') =>
    rankings.page({ sessionKey, offset, limit: 2, load: async () => order });
  expect(await page(0)).toEqual({ ids: ['a', 'b'], hasMore: true });
  order = ['c', 'x', 'a', 'b'];
  expect(await page(2)).toEqual({ ids: ['c'], hasMore: false });
  expect(await page(2, 'other')).toEqual({ ids: ['a', 'b'], hasMore: false });
  expect(await page(0)).toEqual({ ids: ['c', 'x'], hasMore: true });
  nowMs = 16 * 60_000;
  order = ['n', 'e', 'w'];
  expect(await page(2)).toEqual({ ids: ['w'], hasMore: false });
});

it('createRankings continues after a prefix with the remaining ids, each once, even if the order changed', async () => {
  let order = ['a', 'b', 'c', 'd', 'e', 'f'];
  let loads = 0;
  const rankings = createRankings({ nowMs: () => 0 });
  const page = (offset: number) =>
    rankings.page({
      sessionKey: 'w',
      offset,
      limit: 1,
      loadPrefix: async () => ({ ids: order.slice(0, 3), isComplete: order.length <= 3 }),
      load: async () => {
        loads++;
        return order;
      },
    });
  expect(await page(0)).toEqual({ ids: ['a'], hasMore: true });
  // One that was not listed yet rises to the top, one that was falls to the end, and one is new.
  order = ['e', 'n', 'b', 'c', 'd', 'a', 'f'];
  expect(await page(1)).toEqual({ ids: ['b'], hasMore: true });
  expect(loads).toBe(0);
  expect(await page(2)).toEqual({ ids: ['c'], hasMore: true });
  expect(loads).toBe(1);
  order = ['d', 'c'];
  const rest = [await page(3), await page(4), await page(5), await page(6)];
  expect(rest.map(({ ids }) => ids[0])).toEqual(['e', 'n', 'd', 'f']);
  expect(rest.map(({ hasMore }) => hasMore)).toEqual([true, true, true, false]);
  expect(await page(0)).toEqual({ ids: ['d'], hasMore: true });
  expect(await page(1)).toEqual({ ids: ['c'], hasMore: false });
  expect(await page(2)).toEqual({ ids: [], hasMore: false });
  expect(loads).toBe(1);
});

it('createRankings evicts the oldest sessions beyond 150,000 ids', async () => {
  const rankings = createRankings({ nowMs: () => 0 });
  let loads = 0;
  const page = (sessionKey: string, offset: number) =>
    rankings.page({
      sessionKey,
      offset,
      limit: 1,
      load: async () => {
        loads += 1;
        return Array.from({ length: 60_000 }, (_, index) => String(index));
      },
    });
  for (const session of ['a', 'b', 'c']) await page(session, 0);
  await page('c', 1);
  await page('b', 1);
  expect(loads).toBe(3);
  expect(await page('a', 1)).toEqual({ ids: ['1'], hasMore: true });
  expect(loads).toBe(4);
});
