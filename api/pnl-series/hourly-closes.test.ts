import { expect, it } from 'vitest';
import type { ChangeFeed, ChangeListener } from '../catalog/change-feed.js';
import type { Sql, Tables } from '../tables/port.js';
import { createHourlyClosesReader } from './hourly-closes.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;
const NOON = 400 * DAY + 12 * HOUR;

/** Trades of tokens, read as the tables would give them, and a clock. */
function setUp() {
  const clock = { nowMs: (NOON + 2_700) * 1000 };
  const trades: { token: string; atS: number; price: number }[] = [];
  const reads: { tokens: readonly string[]; fromS: number }[] = [];
  const listeners: ChangeListener[] = [];
  const tables: Tables = {
    reachable: async () => true,
    async rows<T>(sql: Sql): Promise<T[]> {
      const { tokens, from } = sql.params as { readonly tokens: readonly string[]; readonly from: number };
      reads.push({ tokens: [...tokens], fromS: from });
      return tokens.flatMap((token) => {
        const closes = new Map<number, { price: number; place: number }>();
        for (const [place, trade] of trades.entries())
          if (trade.token === token)
            closes.set(Math.max(from, Math.floor(trade.atS / HOUR) * HOUR + HOUR), { price: trade.price, place });
        if (closes.size === 0) return [];
        const values = [...closes.values()];
        return [
          {
            token,
            ends: [...closes.keys()],
            prices: values.map(({ price }) => price),
            places: values.map(({ place }) => place),
          } as T,
        ];
      });
    },
  };
  const changes: ChangeFeed = {
    subscribe: (_sources, listener) => void listeners.push(listener),
    sync: async () => undefined,
  };
  const trade = (token: string, atS: number, price: number) => {
    trades.push({ token, atS, price });
    for (const listener of listeners) listener([token], 'fills', atS);
  };
  const closesOf = createHourlyClosesReader({ tables, nowMs: () => clock.nowMs, changes });
  return { clock, reads, trade, closesOf };
}

const WEEK_AGO = NOON - 7 * DAY;

it('createHourlyClosesReader caches the closes of a month until an hour with a trade has ended', async () => {
  const { clock, reads, trade, closesOf } = setUp();
  trade('1', NOON - 100 * DAY, 100);
  trade('1', NOON - 2 * HOUR, 200);
  trade('2', NOON - 2 * HOUR, 900);
  const from = NOON - 31 * DAY;
  const first = { endS: from, price: 100, place: 0 };
  const second = { endS: NOON - HOUR, price: 200, place: 1 };
  expect((await closesOf(['1', '3'], WEEK_AGO))('1')).toEqual([first, second]);
  expect(reads).toEqual([{ tokens: ['1', '3'], fromS: from }]);
  // Nothing is outdated within the current hour, because only full hours have a close.
  trade('1', NOON + 2_700, 300);
  clock.nowMs += 120_000;
  expect((await closesOf(['1', '2', '3'], WEEK_AGO))('1')).toEqual([first, second]);
  expect(reads.slice(1)).toEqual([{ tokens: ['2'], fromS: from }]);
  clock.nowMs = (NOON + HOUR) * 1000;
  const later = await closesOf(['1', '2', '3'], WEEK_AGO);
  expect(later('1')).toContainEqual({ endS: NOON + HOUR, price: 300, place: 3 });
  expect(later('2')).toEqual([{ endS: NOON - HOUR, price: 900, place: 2 }]);
  expect(later('3')).toEqual([]);
  expect(reads.slice(2)).toEqual([{ tokens: ['1'], fromS: from + HOUR }]);
});

it('createHourlyClosesReader reads a token again after a late trade of a closed hour, and after its first trade', async () => {
  const { reads, trade, closesOf } = setUp();
  trade('1', NOON - 5 * HOUR, 100);
  await closesOf(['1', '2'], WEEK_AGO);
  trade('1', NOON - 3 * HOUR, 150);
  trade('2', NOON - 3 * HOUR, 250);
  const closes = await closesOf(['1', '2'], WEEK_AGO);
  expect(closes('1')).toHaveLength(2);
  expect(closes('2')).toEqual([{ endS: NOON - 2 * HOUR, price: 250, place: 2 }]);
  expect(reads.map(({ tokens }) => tokens)).toEqual([
    ['1', '2'],
    ['1', '2'],
  ]);
});

it('createHourlyClosesReader reads ranges before the cached month from the tables each time', async () => {
  const { reads, trade, closesOf } = setUp();
  trade('1', NOON - 100 * DAY, 100);
  for (let n = 0; n < 2; n++)
    expect((await closesOf(['1'], NOON - 200 * DAY))('1')).toEqual([
      { endS: NOON - 100 * DAY + HOUR, price: 100, place: 0 },
    ]);
  expect(reads.map(({ fromS }) => fromS)).toEqual([NOON - 200 * DAY, NOON - 200 * DAY]);
});
