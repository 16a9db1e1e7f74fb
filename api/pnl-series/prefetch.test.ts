import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { prefetchLargestWallets } from './prefetch.js';

it('holds the series of the wallets of the picture one after the other, and may be ended after each', async () => {
  const wallets = ['0xa', '0xb', '0xc'];
  const tables: Tables = {
    reachable: async () => true,
    rows: async <T>({ text }: Sql) =>
      (text.includes("board = 'positions'") ? wallets.map((wallet) => ({ wallet })) : []) as T[],
  };
  const done: string[] = [];
  const period = { stepS: 3_600, points: 25 };
  const held = await prefetchLargestWallets({
    tables,
    period,
    profitSeries: {
      prefetch: async (wallet, asked) => {
        expect(asked).toBe(period);
        await new Promise((resolve) => setTimeout(resolve, 5));
        done.push(wallet);
        if (wallet === '0xb') throw new Error('no time for so many');
      },
    },
    pause: async () => {
      done.push('rest');
    },
  });
  expect(held).toBe(2);
  expect(done).toEqual(wallets.flatMap((wallet) => [wallet, 'rest']));
});
