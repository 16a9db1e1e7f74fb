import { expect, it } from 'vitest';
import { marksOf } from './marks.js';
import { momentOf } from './series.sql.js';

it('prices a token by whichever outcome of its market traded last', () => {
  const grid = { startS: 7_200, stepS: 3_600, points: 6 };
  const close = (i: number, price: number, place: number) => ({ endS: 7_200 + i * 3_600, price, place });
  const yes = [close(-1, 500_000, 9), close(0, 600_000, 10), close(2, 700_000, 30), close(6, 1, 90)];
  // Above a dollar, as odd fills are: the other outcome is worth nothing.
  const no = [close(1, 350_000, 20), close(2, 310_000, 31), close(3, 1_200_000, 40)];
  // The hour behind the end of the grid is not over.
  expect(marksOf(grid, yes, no)).toEqual([
    { i: 0, price: 600_000 },
    { i: 1, price: 650_000 },
    { i: 2, price: 690_000 },
    { i: 3, price: 0 },
  ]);
  expect(marksOf(grid, no, yes)).toEqual([
    { i: 0, price: 400_000 },
    { i: 1, price: 350_000 },
    { i: 2, price: 310_000 },
    { i: 3, price: 1_200_000 },
  ]);
  expect(marksOf(grid, [close(5, 10_000, 50)], [])).toEqual([{ i: 5, price: 10_000 }]);
  expect(marksOf(grid, [], [])).toEqual([]);
});

it('puts a time at the first moment that is not before it', () => {
  const grid = { startS: 1_000, stepS: 60, points: 10 };
  expect([0, 1_000, 1_001, 1_060, 1_061].map((atS) => momentOf(grid, atS))).toEqual([0, 0, 1, 1, 2]);
});
