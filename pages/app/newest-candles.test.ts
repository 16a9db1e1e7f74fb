import { expect, it } from 'vitest';
// @ts-expect-error: a module of the browser, without types
import { newestCount } from './browser/newest-candles.js';

const count = (missedS: number, resolution = '1m') =>
  newestCount({ resolution, lastS: 60_000, nowS: 60_000 + missedS, page: 120 });

it('newestCount covers the candles from the last one shown to the running one, three at least, and is null beyond a page', () => {
  expect([0, 59, 60, 180, 600, 119 * 60].map((missedS) => count(missedS))).toEqual([3, 3, 3, 4, 11, 120]);
  expect(count(120 * 60)).toBeNull();
  expect(count(86_400 * 5 + 10, '1d')).toBe(6);
  expect(newestCount({ resolution: '1m', lastS: undefined, nowS: 60_000, page: 120 })).toBe(120);
});
