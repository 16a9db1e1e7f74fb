import { expect, it } from 'vitest';
import { createTtlCache } from '../cache/ttl-cache.js';
import type { Sql } from '../tables/port.js';
import { createMarketTitle } from './market-title.js';

const titles = (rows: (sql: Sql) => Promise<readonly object[]>) =>
  createMarketTitle({
    tables: { rows } as never,
    cache: createTtlCache({ maxEntries: 10, nowMs: () => 0 }),
  });

it('is the question of the market, read once', async () => {
  let reads = 0;
  const titleOf = titles(async () => {
    reads += 1;
    return [{ question: 'Snow?' }];
  });
  expect([await titleOf('will-it-snow'), await titleOf('WILL-IT-SNOW')]).toEqual(['Snow?', 'Snow?']);
  expect(reads).toBe(1);
});

it('is null for other texts, unknown markets and failures, without a read or an error', async () => {
  const titleOf = titles(async () => []);
  expect([await titleOf('a b'), await titleOf('unknown')]).toEqual([null, null]);
  expect(await titles(() => Promise.reject(new Error('down')))('slug')).toBeNull();
});

it('does not keep the page waiting for tables that do not respond', async () => {
  expect(await titles(() => new Promise(() => undefined))('slug')).toBeNull();
});
