import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { createTitleLookup } from './titles.js';

function catalogue() {
  const asked: string[][] = [];
  const known = new Set(['1', '2']);
  const tables: Tables = {
    reachable: async () => true,
    async rows<T>(sql: Sql): Promise<T[]> {
      if ('conditions' in sql.params) return [];
      const tokens = sql.params.tokens as readonly string[];
      asked.push([...tokens]);
      return tokens
        .filter((token) => known.has(token))
        .map((token) => ({ token, condition_id: '0xc', outcome_index: 1, outcome: 'No' }) as T);
    },
  };
  const clock = { nowMs: 0 };
  return { asked, known, clock, titlesOf: createTitleLookup({ tables, nowMs: () => clock.nowMs }) };
}

it('reads each token once per 30 s, unknown ones again after a second, and names every token asked for', async () => {
  const { asked, known, clock, titlesOf } = catalogue();
  const first = await titlesOf(['1', '9', '1']);
  expect([...first.keys()]).toEqual(['1', '9']);
  expect(first.get('1')).toMatchObject({ outcome: 'No', outcomeIndex: 1, conditionId: '0xc', market: null });
  expect(first.get('9')).toMatchObject({ outcome: null, conditionId: null });
  clock.nowMs = 999;
  await titlesOf(['1', '2', '9']);
  known.add('9');
  clock.nowMs = 1_000;
  expect((await titlesOf(['1', '9'])).get('9')).toMatchObject({ outcome: 'No' });
  clock.nowMs = 30_000;
  await titlesOf(['1', '2']);
  expect(asked).toEqual([['1', '9'], ['2'], ['9'], ['1']]);
});

it('asks for nothing when there is nothing to name', async () => {
  const { asked, titlesOf } = catalogue();
  expect((await titlesOf([])).size).toBe(0);
  expect(asked).toEqual([]);
});
