import { expect, it } from 'vitest';
import { priceStepsOf } from './price-steps.js';

it('priceStepsOf uses the outcome of the market that traded last', () => {
  // Six spans of one bucket each.
  const timeGrid = { startS: 7_200, stepS: 3_600, spanS: 60, spans: 6, isWalletSpecific: false };
  const close = (i: number, price: number, place: number) => ({ endS: 7_200 + i * 3_600, price, place });
  const yes = [close(-1, 500_000, 9), close(0, 600_000, 10), close(2, 700_000, 30), close(6, 1, 90)];
  // Above a dollar, as odd fills are: the other outcome is worth nothing.
  const no = [close(1, 350_000, 20), close(2, 310_000, 31), close(3, 1_200_000, 40)];
  // The hour of the newest bucket is still open.
  expect(priceStepsOf(timeGrid, yes, no)).toEqual([0, 600_000, 1, 650_000, 2, 690_000, 3, 0]);
  expect(priceStepsOf(timeGrid, no, yes)).toEqual([0, 400_000, 1, 350_000, 2, 310_000, 3, 1_200_000]);
  expect(priceStepsOf(timeGrid, [close(5, 10_000, 50)], [])).toEqual([5, 10_000]);
  expect(priceStepsOf(timeGrid, [], [])).toEqual([]);
});

it('priceStepsOf has one step per price change and the last price of a bucket', () => {
  const timeGrid = { startS: 7_200, stepS: 4 * 3_600, spanS: 2 * 3_600, spans: 2, isWalletSpecific: false };
  const close = (hour: number, price: number) => ({ endS: 7_200 + hour * 3_600, price, place: hour });
  // The second hour ends in the first window, the next two between the windows, the sixth in the second window.
  expect(priceStepsOf(timeGrid, [close(1, 5), close(2, 7), close(3, 6), close(5, 6)], [])).toEqual([60, 5, 120, 6]);
  expect(priceStepsOf(timeGrid, [close(0, 5), close(1, 5), close(5, 6)], [])).toEqual([0, 5, 180, 6]);
});
