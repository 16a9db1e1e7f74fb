import { expect, it } from 'vitest';
import type { Facts } from '../catalogue/facts.js';
import type { Close } from './packed-closes.js';
import { createPriceLines, LINES_S } from './price-lines.js';

const HOUR_S = 3_600;
const NOON = 1_790_000_000 - (1_790_000_000 % HOUR_S);
/** Two tokens of a market, of which nothing is known but this. */
const conditionId = '0xc';
const known = { conditionId, outcomeIndex: 0 };

function setUp(resolvedAtS: number | null) {
  const clock = { nowMs: NOON * 1000 };
  const asked = { closes: [] as string[][], prices: 0 };
  const closes = new Map<string, Close[]>([
    ['1', [{ endS: NOON - HOUR_S, price: 300_000, place: 1 }]],
    ['2', [{ endS: NOON, price: 600_000, place: 2 }]],
  ]);
  const facts = {
    tokensOf: async (ids: readonly string[]) => new Map(ids.map((id) => [id, id === '3' ? null : known])),
    marketsOf: async () => new Map([[conditionId, { tokenIds: ['1', '2'] }]]),
    resolutionsOf: async () =>
      new Map([[conditionId, resolvedAtS === null ? null : { resolvedAtS, payouts: [1n, 0n], denominator: 1n }]]),
  } as unknown as Facts;
  const lines = createPriceLines({
    facts,
    closesOf: Object.assign(
      async (ids: readonly string[]) => {
        asked.closes.push([...ids].sort());
        return (id: string) => closes.get(id) ?? [];
      },
      { hold: async () => undefined },
    ),
    prices: async (ids) => {
      asked.prices++;
      return new Map(ids.map((id) => [id, { usd: 410_000n, source: 'clob_mid' as const, updatedAtS: null }]));
    },
    nowMs: () => clock.nowMs,
  });
  return { clock, asked, closes, lines };
}
const grid = (startS: number) => ({ startS, stepS: HOUR_S, points: 3 });
const from = (...entries: [string, number][]) => new Map(entries);

it('puts a line together once for all grids of an hour, and anew after its time', async () => {
  const { clock, asked, closes, lines } = setUp(null);
  const start = NOON - HOUR_S;
  const line = { marks: [0, 300_000, 1, 400_000], settled: null, now: 410_000n };
  expect(await lines(grid(start), from(['1', 0]))).toEqual(new Map([['1', line]]));
  // The grid of a minute later sees the same hours.
  expect(await lines(grid(start + 60), from(['1', 2]))).toEqual(new Map([['1', line]]));
  expect(asked.closes).toEqual([['1', '2']]);
  closes.set('2', []);
  clock.nowMs += LINES_S * 1000;
  expect((await lines(grid(start), from(['1', 0]))).get('1')?.marks).toEqual([0, 300_000]);
  expect(asked.closes).toHaveLength(2);
});

it('knows grids apart by their hour, spacing and length', async () => {
  const { asked, lines } = setUp(null);
  const some = grid(NOON - HOUR_S);
  for (const other of [some, { ...some, startS: some.startS - 60 }, { ...some, stepS: 60 }, { ...some, points: 4 }])
    await lines(other, from(['1', 0]));
  expect(asked.closes).toHaveLength(4);
});

it('reads no closes of what was settled before it was held, until somebody held it earlier', async () => {
  const { asked, lines } = setUp(NOON);
  const settled = { atS: NOON, price: 1_000_000n };
  const some = grid(NOON - HOUR_S);
  expect(await lines(some, from(['1', 1]))).toEqual(new Map([['1', { marks: null, settled, now: 410_000n }]]));
  expect(asked.closes).toEqual([[]]);
  const line = { marks: [0, 300_000, 1, 400_000], settled, now: 410_000n };
  expect(await lines(some, from(['1', 0]))).toEqual(new Map([['1', line]]));
  expect(await lines(some, from(['1', 2]))).toEqual(new Map([['1', line]]));
  expect(asked.prices).toBe(2);
});

it('gives every token a line, of nothing where nothing is known', async () => {
  const { lines } = setUp(null);
  const found = await lines(grid(NOON), from(['3', 0], ['1', 0]));
  expect(found.get('3')).toEqual({ marks: [], settled: null, now: 410_000n });
  expect(await lines(grid(NOON), new Map())).toEqual(new Map());
});
