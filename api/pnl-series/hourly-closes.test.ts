import { expect, it } from 'vitest';
import type { ChangeFeed, ChangeListener } from '../catalog/change-feed.js';
import type { Sql, Tables } from '../tables/port.js';
import { createHourlyClosesReader } from './hourly-closes.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const NOON = 400 * DAY + 12 * HOUR;

/** Tables in which each token was traded once, two hours before NOON; and what was read from them. */
function setUp() {
  const reads: { tokens: readonly string[]; fromS: number }[] = [];
  const listeners: ChangeListener[] = [];
  const tables: Tables = {
    reachable: async () => true,
    async rows<T>(sql: Sql): Promise<T[]> {
      const { tokens, from } = sql.params as { readonly tokens: readonly string[]; readonly from: number };
      reads.push({ tokens: [...tokens], fromS: from });
      return tokens.map((token) => ({ token, ends: [NOON - HOUR], prices: [250_000], places: [7] }) as T);
    },
  };
  const changes: ChangeFeed = {
    subscribe: (_sources, listener) => void listeners.push(listener),
    sync: async () => undefined,
  };
  const closes = createHourlyClosesReader({
    tables,
    nowMs: () => (NOON + 2_700) * 1000,
    changes,
    cachedMarkets: 1_000,
  });
  const trade = (token: string) => {
    for (const listener of listeners) listener([token], 'fills');
  };
  return { reads, trade, closes };
}

it('createHourlyClosesReader reads the closes of a month once, and those of a token again after a trade', async () => {
  const { reads, trade, closes } = setUp();
  const fromS = NOON - 31 * DAY;
  expect((await closes.since(['1', '2'], NOON - 7 * DAY)).get('1')).toEqual(Float64Array.of(NOON - HOUR, 250_000, 7));
  await closes.since(['2', '1'], NOON - DAY);
  trade('2');
  await closes.since(['1', '2'], NOON - DAY);
  expect(reads).toEqual([
    { tokens: ['1', '2'], fromS },
    { tokens: ['2'], fromS },
  ]);
});

it('createHourlyClosesReader reads ranges before the cached month from the tables each time', async () => {
  const { reads, closes } = setUp();
  for (let n = 0; n < 2; n++) await closes.since(['1'], NOON - 200 * DAY);
  expect(reads.map(({ fromS }) => fromS)).toEqual([NOON - 200 * DAY, NOON - 200 * DAY]);
});
