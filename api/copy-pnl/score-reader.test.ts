import { ClickHouseError } from '@clickhouse/client';
import { expect, it } from 'vitest';
import { RetryableError } from '../../infra/errors.js';
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

/** Error of a statement as the client throws it. */
const errorOf = (code: string, message: string): Error =>
  new RetryableError('ClickHouse cannot query now', { cause: new ClickHouseError({ code, message, type: '' }) });

it("score reader returns a wallet's own limit as its error, and throws what concerns every wallet", async () => {
  const scoresAfter = (error: Error) =>
    createScoreReader({
      tables: { ...tables, rows: (sql) => tables.rows(sql).catch(() => Promise.reject(error)) as Promise<never[]> },
    }).scores(['0xbad', '0xa'], window, options);
  for (const error of [
    errorOf('241', 'Query memory limit exceeded: would use 1.51 GiB'),
    errorOf('159', 'Timeout exceeded: elapsed 10 s'),
  ])
    expect(await scoresAfter(error)).toEqual([error, expect.objectContaining({ wallet: '0xa' })]);
  for (const error of [
    errorOf('241', '(total) memory limit exceeded: would use 2.01 GiB'),
    errorOf('202', 'Too many simultaneous queries'),
    new RetryableError('No response within 40000 ms'),
  ])
    await expect(scoresAfter(error)).rejects.toBe(error);
});

it('score reader marks the wallets whose cash a late scan lacks as partial, and sends no statement without a cut-off', async () => {
  let nowMs = 0;
  const fills = (count: number) =>
    Array.from({ length: count }, () => ({
      action: 'BUY',
      tokens: ['1'],
      amounts: ['2'],
      shares: '2',
      usdc: '1',
      fee_shares: '0',
      ts: 5,
      slippage: '0',
    }));
  const rowsOf: Record<string, number> = { '0xwhole': 2, '0xcut': 3, '0xunread': 1, '0xnone': 0 };
  const slow = {
    ...tables,
    rows: async <T>(sql: Sql): Promise<T[]> => {
      if (sql.cutOffAfterS === undefined) throw errorOf('159', 'Timeout exceeded: elapsed 10 s');
      if (!('wallets' in sql.params)) return fills(rowsOf[String(sql.params.wallet)] ?? 0) as T[];
      nowMs += 30_000;
      return [
        { wallet: '0xwhole', rows: '2', fills: '2' },
        { wallet: '0xcut', rows: '1', fills: '1' },
      ] as T[];
    },
  };
  const { scores } = createScoreReader({ tables: slow, clockMs: () => nowMs });
  const found = await scores(Object.keys(rowsOf), window, { includeTrades: true, maxTrades: 2 });
  expect(found).toMatchObject([
    { wallet: '0xwhole', partial: false, tradesTruncated: false, trades: [{ ts: 5, side: 'BUY' }, { ts: 5 }] },
    { wallet: '0xcut', partial: true, tradesTruncated: true, trades: [{ ts: 5 }, { ts: 5 }] },
    { wallet: '0xunread', partial: true, cash: null, trades: [{ ts: 5 }] },
    { wallet: '0xnone', partial: false, cash: null, trades: [] },
  ]);
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
