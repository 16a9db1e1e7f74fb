import { describe, expect, it } from 'vitest';
import type { OracleLiveEvent, OraclePrice } from '../source.js';
import { MAX_MERGED_PRICES, mergePrices } from './merge-prices.js';

const price = (second: number): OraclePrice => ({
  feed: 'BTC/USD',
  isTwap: false,
  windowS: null,
  timestampMs: second * 1000,
  priceE18: 1n,
  bidE18: null,
  askE18: null,
  receivedMs: 0,
  source: 'test',
});
const prices = (...seconds: number[]): OracleLiveEvent => ({ type: 'prices', prices: seconds.map(price) });
const lost: OracleLiveEvent = { type: 'connected', connected: false, detail: 'lost' };

describe('mergePrices', () => {
  it('merges consecutive prices in their order, and keeps those before and after another event apart', () => {
    expect(mergePrices([prices(3), prices(1, 2), lost, prices(2), lost, lost, prices(5), prices(4)])).toEqual([
      ...[prices(3, 1, 2), lost, prices(2), lost, lost, prices(5, 4)],
    ]);
    expect(mergePrices([])).toEqual([]);
  });

  it('limits the prices of an event, and does not divide those of one frame', () => {
    const many = (count: number) => prices(...Array.from({ length: count }, (_, second) => second));
    const sizes = mergePrices([
      many(MAX_MERGED_PRICES - 1),
      many(1),
      many(1),
      many(MAX_MERGED_PRICES + 1),
      many(2),
    ]).map((event) => (event.type === 'prices' ? event.prices.length : 0));
    expect(sizes).toEqual([5000, 1, 5001, 2]);
  });
});
