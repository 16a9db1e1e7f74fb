import { expect, it } from 'vitest';
import type { Sql } from '../tables/port.js';
import { createScoreReader } from './score-reader.js';

const window = { fromS: 0, toS: 100 } as never;
const options = { includeTrades: false, maxTrades: 1 };
const failure = new Error('memory limit exceeded');

/** Tables in which both wallets have cash, and the activity of `0xbad` cannot be read. */
const tables = {
  rows: async <T>(sql: Sql): Promise<T[]> => {
    if (Object.values(sql.params).includes('0xbad')) throw failure;
    const isCash = Object.values(sql.params).some((value) => Array.isArray(value));
    return (isCash ? [{ wallet: '0xbad' }, { wallet: '0xa' }] : []) as T[];
  },
  reachable: async () => true,
};

it('score reader returns the error of a wallet that cannot be read beside the scores of the others', async () => {
  const scores = createScoreReader({ tables });
  const [bad, good] = await scores.scores(['0xbad', '0xa'], window, options);
  expect(bad).toBe(failure);
  expect(good).toMatchObject({ wallet: '0xa', partial: false });
  await expect(scores.score('0xbad', window, options)).rejects.toBe(failure);
});

it('score reader reports a backtest whose scan may have been cut off', async () => {
  let nowMs = 0;
  const slow = {
    ...tables,
    rows: async <T>(): Promise<T[]> => {
      nowMs += 30_000;
      return [];
    },
  };
  const { copier } = createScoreReader({ tables: slow, clockMs: () => nowMs, scanBudgetMs: 30_000 });
  expect(await copier('0xa', window, { slippageBps: 1, delayS: 0, minLiquidity: 0n })).toEqual({
    days: [],
    isPartial: true,
  });
});
