import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { warmUpCache } from './cache-warmup.js';

it('warmUpCache prefetches every market once, largest first, with pauses', async () => {
  const markets = Array.from({ length: 12_300 }, (_, n) => ({ condition_id: `c${n}`, tokens: [`${n}y`, `${n}n`] }));
  const tables: Tables = {
    reachable: async () => true,
    rows: async <T>({ params }: Sql) =>
      markets.slice(Number(params.offset), Number(params.offset) + Number(params.rows)) as T[],
  };
  const prefetched = { conditions: [] as string[], tokens: [] as string[] };
  const into = (list: string[]) => ({
    prefetch: async (ids: readonly string[]) => {
      list.push(...ids);
    },
  });
  const pauses: number[] = [];
  const warmUp = { tables, most: 40_000 };
  const known = await warmUpCache({
    ...warmUp,
    ofConditions: [into(prefetched.conditions)],
    ofTokens: [into(prefetched.tokens)],
    pause: async (ms) => {
      pauses.push(ms);
    },
  });
  const tokens = markets.flatMap((market) => market.tokens);
  expect(known).toBe(12_300);
  expect(prefetched).toEqual({
    conditions: markets.map((market) => market.condition_id),
    tokens,
  });
  expect(pauses).toHaveLength(13);
});
