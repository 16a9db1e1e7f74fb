import { expect, it } from 'vitest';
import type { Sql } from '../tables/port.js';
import { readEquity } from './equity.js';
import { MAX_POSITIONS } from './reader.js';

const filter = { fromS: null, toS: null, maxMarkets: null, includeUnrealized: false };
const row = {
  ...{ token: '1', size: '0', received: '0', avg_price: '0', realized_pnl: '5', paid: '10', first_at: 1, last_at: 2 },
};

async function read(positions: number, budgetMs?: number) {
  let cutOffAfterS: number | undefined;
  const tables = {
    rows: async <T>(sql: Sql) => {
      cutOffAfterS = sql.cutOffAfterS;
      return Array.from({ length: positions }, () => row as T);
    },
    reachable: async () => true,
  };
  const metadata = { tokensOf: async () => new Map() } as never;
  const { partial, positions: listed } = await readEquity(
    { tables, metadata, prices: async () => new Map(), budgetMs },
    '0xa',
    filter,
  );
  return { partial, listed, cutOffAfterS };
}

it('readEquity is partial only if the wallet has more positions than are read', async () => {
  expect(await read(MAX_POSITIONS)).toEqual({ partial: null, listed: MAX_POSITIONS, cutOffAfterS: 10 });
  expect(await read(MAX_POSITIONS + 1)).toMatchObject({ partial: 'positions', listed: MAX_POSITIONS });
});

it('readEquity returns what was read until its time was used up', async () => {
  expect(await read(3, 0)).toMatchObject({ partial: 'time', listed: 3 });
});
