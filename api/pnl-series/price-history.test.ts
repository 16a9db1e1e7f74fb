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
  const reads: string[][] = [];
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
  const readPriceHistory = createPriceHistoryReader({
    metadata,
    readHourlyCloses: Object.assign(
      async (ids: readonly string[]) => {
        reads.push([...ids].sort());
        return (id: string) => closes.get(id) ?? [];
      },
      { prefetch: async () => undefined },
    ),
    changes: { subscribe: (_sources, listener) => void listeners.push(listener), sync: async () => undefined },
  });
  return {
    reads,
    closes,
    readPriceHistory: (one: TimeGrid, firstBuckets: ReadonlyMap<string, number>) =>
      readPriceHistory(one, firstBuckets, () => undefined),
    change: (...args: Parameters<ChangeListener>) => listeners.map((one) => one(...args)),
  };
}
/** Three spans of one minute, an hour apart. */
const gridFrom = (startS: number): TimeGrid => ({
  startS,
  stepS: HOUR_S,
  spanS: 60,
  spans: 3,
  isWalletSpecific: false,
});
const from = (...entries: [string, number][]) => new Map(entries);

it('createPriceHistoryReader computes a history once per time grid, and again after a late event', async () => {
  const { reads, closes, readPriceHistory, change } = setUp(null);
  const some = gridFrom(NOON - HOUR_S);
  const history = { priceSteps: [0, 300_000, 1, 400_000], settled: null };
  expect(await readPriceHistory(some, from(['1', 0]))).toEqual(new Map([['1', history]]));
  expect(await readPriceHistory({ ...some }, from(['1', 2]))).toEqual(new Map([['1', history]]));
  expect(reads).toEqual([['1', '2']]);
  closes.set('2', []);
  change(['9'], 'fills', newestTimeOf(some) + 1);
  expect((await readPriceHistory(some, from(['1', 0]))).get('1')).toBe(
    (await readPriceHistory(some, from(['1', 0]))).get('1'),
  );
  expect(reads).toHaveLength(1);
  change(['9'], 'fills', newestTimeOf(some));
  expect((await readPriceHistory(some, from(['1', 0]))).get('1')?.priceSteps).toEqual([0, 300_000]);
  expect(reads).toHaveLength(2);
  change(null, 'resolutions', 0);
  await readPriceHistory(some, from(['1', 0]));
  expect(reads).toHaveLength(3);
});

it('createPriceHistoryReader caches histories per time grid', async () => {
  const { reads, readPriceHistory } = setUp(null);
  const some = gridFrom(NOON - HOUR_S);
  const others = [{ startS: some.startS - HOUR_S }, { stepS: 2 * HOUR_S }, { windows: 4, own: false }];
  for (const other of [some, ...others.map((change) => ({ ...some, ...change }))])
    await readPriceHistory(other, from(['1', 0]));
  expect(reads).toHaveLength(4);
  // Histories of a wallet-specific grid are not shared.
  for (let n = 0; n < 2; n++) await readPriceHistory({ ...some, isWalletSpecific: true }, from(['1', 0]));
  expect(reads).toHaveLength(6);
  await readPriceHistory(some, from(['1', 0]));
  expect(reads).toHaveLength(6);
});

it('createPriceHistoryReader reads no closes of a token that settled before the position, until an earlier position needs them', async () => {
  const { reads, readPriceHistory } = setUp(NOON);
  const settled = { bucketIndex: 1, price: 1_000_000n };
  const some = gridFrom(NOON - HOUR_S);
  expect(await readPriceHistory(some, from(['1', 1]))).toEqual(new Map([['1', { priceSteps: null, settled }]]));
  expect(reads).toEqual([[]]);
  const history = { priceSteps: [0, 300_000, 1, 400_000], settled };
  expect(await readPriceHistory(some, from(['1', 0]))).toEqual(new Map([['1', history]]));
  expect(await readPriceHistory(some, from(['1', 2]))).toEqual(new Map([['1', history]]));
  expect(reads).toHaveLength(2);
});

it('createPriceHistoryReader returns a history for every token, empty for an unknown one', async () => {
  const { readPriceHistory } = setUp(null);
  const found = await readPriceHistory(gridFrom(NOON), from(['3', 0], ['1', 0]));
  expect(found.get('3')).toEqual({ priceSteps: [], settled: null });
  expect(await readPriceHistory(gridFrom(NOON), new Map())).toEqual(new Map());
});
