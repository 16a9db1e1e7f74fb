import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { warmUpCache } from './cache-warmup.js';

it('takes in every market of the catalogue once, largest first, and rests in between', async () => {
  const markets = Array.from({ length: 12_300 }, (_, n) => ({ condition_id: `c${n}`, tokens: [`${n}y`, `${n}n`] }));
  const tables: Tables = {
    reachable: async () => true,
    rows: async <T>({ params }: Sql) =>
      markets.slice(Number(params.offset), Number(params.offset) + Number(params.rows)) as T[],
  };
  const asked = { conditions: [] as string[], tokens: [] as string[] };
  const into = (list: string[]) => ({
    prefetch: async (ids: readonly string[]) => {
      list.push(...ids);
    },
  });
  const pauses: number[] = [];
  const known = await warmUpCache({
    tables,
    ofConditions: [into(asked.conditions)],
    ofTokens: [into(asked.tokens)],
    pause: async (ms) => {
      pauses.push(ms);
    },
  });
  const tokens = markets.flatMap((market) => market.tokens);
  expect(known).toBe(12_300);
  expect(asked).toEqual({
    conditions: markets.map((market) => market.condition_id),
    tokens,
  });
  expect(pauses).toHaveLength(13);
});
