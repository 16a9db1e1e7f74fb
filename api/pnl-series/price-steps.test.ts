import { expect, it } from 'vitest';
import { priceStepsOf } from './price-steps.js';

it('prices a token by whichever outcome of its market traded last', () => {
  // Six windows of a slot each.
  const frame = { startS: 7_200, stepS: 3_600, spanS: 60, spans: 6, isWalletSpecific: false };
  const close = (i: number, price: number, place: number) => ({ endS: 7_200 + i * 3_600, price, place });
  const yes = [close(-1, 500_000, 9), close(0, 600_000, 10), close(2, 700_000, 30), close(6, 1, 90)];
  // Above a dollar, as odd fills are: the other outcome is worth nothing.
  const no = [close(1, 350_000, 20), close(2, 310_000, 31), close(3, 1_200_000, 40)];
  // The hour behind the newest slot is not over.
  expect(priceStepsOf(frame, yes, no)).toEqual([0, 600_000, 1, 650_000, 2, 690_000, 3, 0]);
  expect(priceStepsOf(frame, no, yes)).toEqual([0, 400_000, 1, 350_000, 2, 310_000, 3, 1_200_000]);
  expect(priceStepsOf(frame, [close(5, 10_000, 50)], [])).toEqual([5, 10_000]);
  expect(priceStepsOf(frame, [], [])).toEqual([]);
});

it('tells a price once for as long as it stays, and the last one of a slot', () => {
  const frame = { startS: 7_200, stepS: 4 * 3_600, spanS: 2 * 3_600, spans: 2, isWalletSpecific: false };
  const close = (hour: number, price: number) => ({ endS: 7_200 + hour * 3_600, price, place: hour });
  // The second hour ends in the first window, the next two between the windows, the sixth in the second window.
  expect(priceStepsOf(frame, [close(1, 5), close(2, 7), close(3, 6), close(5, 6)], [])).toEqual([60, 5, 120, 6]);
  expect(priceStepsOf(frame, [close(0, 5), close(1, 5), close(5, 6)], [])).toEqual([0, 5, 180, 6]);
});
