import { expect, it } from 'vitest';
import { createRankings } from './rankings.js';

it('cuts later pages of a walk from the order of its first one', async () => {
  let nowMs = 0;
  let order = ['a', 'b', 'c'];
  const rankings = createRankings({ nowMs: () => nowMs });
  const page = (offset: number, walk = 'w') => rankings.page({ walk, offset, limit: 2, load: async () => order });
  expect(await page(0)).toEqual({ ids: ['a', 'b'], hasMore: true });
  order = ['c', 'x', 'a', 'b'];
  expect(await page(2)).toEqual({ ids: ['c'], hasMore: false });
  expect(await page(2, 'other')).toEqual({ ids: ['a', 'b'], hasMore: false });
  expect(await page(0)).toEqual({ ids: ['c', 'x'], hasMore: true });
  nowMs = 16 * 60_000;
  order = ['n', 'e', 'w'];
  expect(await page(2)).toEqual({ ids: ['w'], hasMore: false });
});

it('forgets the oldest walks beyond 150,000 ids', async () => {
  const rankings = createRankings({ nowMs: () => 0 });
  let loads = 0;
  const page = (walk: string, offset: number) =>
    rankings.page({
      walk,
      offset,
      limit: 1,
      load: async () => {
        loads += 1;
        return Array.from({ length: 60_000 }, (_, index) => String(index));
      },
    });
  for (const walk of ['a', 'b', 'c']) await page(walk, 0);
  await page('c', 1);
  await page('b', 1);
  expect(loads).toBe(3);
  expect(await page('a', 1)).toEqual({ ids: ['1'], hasMore: true });
  expect(loads).toBe(4);
});
