import { expect, it } from 'vitest';
import type { Sql, Tables } from '../tables/port.js';
import { prefetchLargestWallets } from './prefetch.js';

it('prefetchLargestWallets prefetches the wallets of the snapshot one by one and can stop after each', async () => {
  const wallets = ['0xa', '0xb', '0xc'];
  const tables: Tables = {
    reachable: async () => true,
    rows: async <T>({ text }: Sql) =>
      (text.includes("board = 'positions'") ? wallets.map((wallet) => ({ wallet })) : []) as T[],
  };
  const done: string[] = [];
  const period = { stepS: 3_600, points: 25 };
  const count = await prefetchLargestWallets({
    tables,
    period,
    profitSeries: {
      prefetch: async (wallet, requested) => {
        expect(requested).toBe(period);
        await new Promise((resolve) => setTimeout(resolve, 5));
        done.push(wallet);
        if (wallet === '0xb') throw new Error('timeout');
      },
    },
    pause: async () => {
      done.push('pause');
    },
  });
  expect(count).toBe(2);
  expect(done).toEqual(wallets.flatMap((wallet) => [wallet, 'pause']));
});
