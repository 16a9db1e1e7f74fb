import { expect, it } from 'vitest';
import type { Tables } from '../tables/port.js';
import { createIsWide } from './wide-tags.js';

it('asks the tables about a wide list of tags once, about others every time', async () => {
  const reach: Record<string, string> = { crypto: '1001', sports: '1000' };
  const asked: unknown[] = [];
  const tables = {
    rows: async ({ params }: { params: { tags: readonly string[] } }) => {
      asked.push(params.tags);
      return [{ reach: reach[params.tags.join()] ?? '0' }];
    },
  } as unknown as Tables;
  const isWide = createIsWide(tables);
  expect([await isWide(['crypto']), await isWide(['crypto'])]).toEqual([true, true]);
  expect([await isWide(['sports']), await isWide([])]).toEqual([false, false]);
  reach.sports = '1001';
  expect([await isWide(['sports']), await isWide(['sports'])]).toEqual([true, true]);
  expect(asked).toEqual([['crypto'], ['sports'], [], ['sports']]);
});
