import { expect, it } from 'vitest';
import type { ChangeListener } from '../catalog/change-feed.js';
import type { MetadataLookups } from '../catalog/metadata.js';
import type { HourlyClose } from './packed-hourly-closes.js';
import { createPriceHistoryReader } from './price-history.js';
import { newestTimeOf, type TimeGrid } from './time-grid.js';

const HOUR_S = 3_600;
const NOON = 1_790_000_000 - (1_790_000_000 % HOUR_S);
/** Two tokens of a market, of which nothing is known but this. */
const conditionId = '0xc';
const known = { conditionId, outcomeIndex: 0 };

function setUp(resolvedAtS: number | null) {
  const asked: string[][] = [];
  const listeners: ChangeListener[] = [];
  const closes = new Map<string, HourlyClose[]>([
    ['1', [{ endS: NOON - HOUR_S, price: 300_000, place: 1 }]],
    ['2', [{ endS: NOON, price: 600_000, place: 2 }]],
  ]);
  const metadata = {
    tokensOf: async (ids: readonly string[]) => new Map(ids.map((id) => [id, id === '3' ? null : known])),
    marketsOf: async () => new Map([[conditionId, { tokenIds: ['1', '2'] }]]),
    resolutionsOf: async () =>
      new Map([[conditionId, resolvedAtS === null ? null : { resolvedAtS, payouts: [1n, 0n], denominator: 1n }]]),
  } as unknown as MetadataLookups;
  const lines = createPriceHistoryReader({
    metadata,
    readHourlyCloses: Object.assign(
      async (ids: readonly string[]) => {
        asked.push([...ids].sort());
        return (id: string) => closes.get(id) ?? [];
      },
      { prefetch: async () => undefined },
    ),
    changes: { subscribe: (_sources, listener) => void listeners.push(listener), sync: async () => undefined },
  });
  return {
    asked,
    closes,
    lines: (one: TimeGrid, heldFrom: ReadonlyMap<string, number>) => lines(one, heldFrom, () => undefined),
    change: (...told: Parameters<ChangeListener>) => listeners.map((one) => one(...told)),
  };
}
/** Three moments an hour apart, each of one minute. */
const frame = (startS: number): TimeGrid => ({ startS, stepS: HOUR_S, spanS: 60, spans: 3, isWalletSpecific: false });
const from = (...entries: [string, number][]) => new Map(entries);

it('puts a line together once for a frame, and anew when something older came in late', async () => {
  const { asked, closes, lines, change } = setUp(null);
  const some = frame(NOON - HOUR_S);
  const line = { priceSteps: [0, 300_000, 1, 400_000], settled: null };
  expect(await lines(some, from(['1', 0]))).toEqual(new Map([['1', line]]));
  expect(await lines({ ...some }, from(['1', 2]))).toEqual(new Map([['1', line]]));
  expect(asked).toEqual([['1', '2']]);
  closes.set('2', []);
  change(['9'], 'fills', newestTimeOf(some) + 1);
  expect((await lines(some, from(['1', 0]))).get('1')).toBe((await lines(some, from(['1', 0]))).get('1'));
  expect(asked).toHaveLength(1);
  change(['9'], 'fills', newestTimeOf(some));
  expect((await lines(some, from(['1', 0]))).get('1')?.priceSteps).toEqual([0, 300_000]);
  expect(asked).toHaveLength(2);
  change(null, 'resolutions', 0);
  await lines(some, from(['1', 0]));
  expect(asked).toHaveLength(3);
});

it('knows frames apart', async () => {
  const { asked, lines } = setUp(null);
  const some = frame(NOON - HOUR_S);
  const others = [{ startS: some.startS - HOUR_S }, { stepS: 2 * HOUR_S }, { windows: 4, own: false }];
  for (const other of [some, ...others.map((change) => ({ ...some, ...change }))]) await lines(other, from(['1', 0]));
  expect(asked).toHaveLength(4);
  // Lines of a wallet's own frame serve nobody else.
  for (let n = 0; n < 2; n++) await lines({ ...some, isWalletSpecific: true }, from(['1', 0]));
  expect(asked).toHaveLength(6);
  await lines(some, from(['1', 0]));
  expect(asked).toHaveLength(6);
});

it('reads no closes of what was settled before it was held, until somebody held it earlier', async () => {
  const { asked, lines } = setUp(NOON);
  const settled = { bucketIndex: 1, price: 1_000_000n };
  const some = frame(NOON - HOUR_S);
  expect(await lines(some, from(['1', 1]))).toEqual(new Map([['1', { priceSteps: null, settled }]]));
  expect(asked).toEqual([[]]);
  const line = { priceSteps: [0, 300_000, 1, 400_000], settled };
  expect(await lines(some, from(['1', 0]))).toEqual(new Map([['1', line]]));
  expect(await lines(some, from(['1', 2]))).toEqual(new Map([['1', line]]));
  expect(asked).toHaveLength(2);
});

it('gives every token a line, of nothing where nothing is known', async () => {
  const { lines } = setUp(null);
  const found = await lines(frame(NOON), from(['3', 0], ['1', 0]));
  expect(found.get('3')).toEqual({ priceSteps: [], settled: null });
  expect(await lines(frame(NOON), new Map())).toEqual(new Map());
});
