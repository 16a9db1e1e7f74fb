import { expect, it } from 'vitest';
import type { Condition } from '../catalog/conditions.js';
import type { Resolution } from '../catalog/resolution.js';
import { createEventMarketReader } from './event-markets.js';
import { type Price, unpriced } from './position.js';

const resolution: Resolution = { payouts: [1n, 0n], denominator: 1n, winner: 0, resolvedAtS: 9 };
const conditions: Record<string, Pick<Condition, 'tokenIds' | 'resolution'>> = {
  '0xb': { tokenIds: ['3', '4'], resolution: null },
  '0xc': { tokenIds: [], resolution },
};
const settled: Price = { usd: 1_000_000n, source: 'settlement', updatedAtS: 9 };

/** Markets that the reader returns for these rows, and the ids of each lookup of conditions. */
async function read(rows: readonly { condition_id: string; tokens: readonly string[]; closed?: boolean }[]) {
  const requested: (readonly string[])[] = [];
  const markets = await createEventMarketReader({
    tables: {
      reachable: async () => true,
      rows: async <T>() => rows.map((row) => ({ outcome_prices: ['0.5', '0.5'], closed: false, ...row }) as T),
    },
    conditionsOf: async (ids) => {
      requested.push(ids);
      return new Map(ids.map((id) => [id, conditions[id] as Condition]));
    },
    prices: async (ids) => new Map(ids.map((id) => [id, id === '5' || id === '6' ? settled : unpriced])),
  })({ text: '', params: {} });
  return { markets: markets.map(({ tokens, closed }) => ({ tokens, closed })), requested };
}

it('createEventMarketReader reads the conditions of all markets without tokens at once, and of no others', async () => {
  const { markets, requested } = await read([
    { condition_id: '0xa', tokens: ['1', '2'] },
    { condition_id: '0xb', tokens: [] },
    { condition_id: '0xc', tokens: [] },
  ]);
  expect(requested).toEqual([['0xb', '0xc']]);
  expect(markets.map(({ tokens }) => tokens)).toEqual([['1', '2'], ['3', '4'], []]);
});

it('createEventMarketReader closes markets that the catalogue has closed, that are settled or whose condition is resolved', async () => {
  const { markets } = await read([
    { condition_id: '0xa', tokens: ['1', '2'] },
    { condition_id: '0xb', tokens: [] },
    { condition_id: '0xc', tokens: [] },
    { condition_id: '0xd', tokens: ['5', '6'] },
    { condition_id: '0xe', tokens: ['7', '8'], closed: true },
  ]);
  expect(markets.map(({ closed }) => closed)).toEqual([false, false, true, true, true]);
});
