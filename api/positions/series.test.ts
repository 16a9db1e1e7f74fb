import { expect, it } from 'vitest';
import { marksOf } from './series.js';
import { momentOf } from './series.sql.js';

it('prices a token by whichever outcome of its market traded last', () => {
  const close = (token: string, i: number, price: string, place: string) => ({ token, i: String(i), price, place });
  const marks = marksOf(
    ['yes', 'no', 'alone', 'quiet'],
    new Map([
      ['yes', 'no'],
      ['no', 'yes'],
    ]),
    [
      close('yes', 0, '600000', '10'),
      close('yes', 2, '700000', '30'),
      close('no', 1, '350000', '20'),
      close('no', 2, '310000', '31'),
      // Above a dollar, as odd fills are: the other outcome is worth nothing.
      close('no', 3, '1200000', '40'),
      close('alone', 5, '10000', '50'),
    ],
  );
  expect(Object.fromEntries(marks)).toEqual({
    yes: [
      { i: 0, price: 600_000n },
      { i: 1, price: 650_000n },
      { i: 2, price: 690_000n },
      { i: 3, price: 0n },
    ],
    no: [
      { i: 0, price: 400_000n },
      { i: 1, price: 350_000n },
      { i: 2, price: 310_000n },
      { i: 3, price: 1_200_000n },
    ],
    alone: [{ i: 5, price: 10_000n }],
    quiet: [],
  });
});

it('puts a time at the first moment that is not before it', () => {
  const grid = { startS: 1_000, stepS: 60, points: 10 };
  expect([0, 1_000, 1_001, 1_060, 1_061].map((atS) => momentOf(grid, atS))).toEqual([0, 0, 1, 1, 2]);
});
