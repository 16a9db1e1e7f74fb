import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bucketIndexOf,
  bucketsPerSpan,
  covers,
  isRenewable,
  newestTimeOf,
  servingHourOf,
  stepsOf,
  sumAt,
  type TimeGrid,
  timeGridFor,
} from './time-grid.js';

const HOUR_S = 3_600;
const NOON = 1_790_000_000 - (1_790_000_000 % HOUR_S);

describe('a frame', () => {
  it('has the moments of its grid, the newest left out, for as long as it serves', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(1, 3, 12, 18),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 0, max: 59 }),
        fc.integer({ min: 0, max: 200 }),
        fc.boolean(),
        (stepHours, points, minute, laterMinutes, grows) => {
          const stepS = stepHours * HOUR_S;
          const gridAt = (endS: number, count: number) => ({
            startS: endS - (count - 1) * stepS,
            stepS,
            points: count,
          });
          const beganS = NOON + minute * 60;
          const sinceS = beganS - (points - 1) * stepS - 77;
          const countAt = (endS: number) => (grows ? Math.floor((endS - sinceS) / stepS) + 1 : points);
          const frame = timeGridFor(gridAt(beganS, countAt(beganS)), grows ? sinceS : null);
          const endS = beganS + laterMinutes * 60;
          const grid = gridAt(endS, countAt(endS));
          const serves = minute + laterMinutes < Math.min(stepHours, 2) * 60;
          expect(servingHourOf(frame)).toBe(NOON);
          expect(covers(frame, grid)).toBe(serves);
          expect(isRenewable(frame, grid)).toBe(minute + laterMinutes >= 60);
          if (!serves) return;
          for (let n = 0; n < grid.points - 1; n++) {
            const atS = grid.startS + n * stepS;
            const slot = bucketIndexOf(frame, atS);
            expect(slot).toBeGreaterThanOrEqual(0);
            expect(atS).toBeLessThanOrEqual(newestTimeOf(frame));
            // A minute later is the next slot of the same window, or behind it.
            expect(bucketIndexOf(frame, atS + 1)).toBe(slot + 1);
            expect(bucketIndexOf(frame, atS - 59)).toBe(slot);
          }
        },
      ),
    );
  });

  it('puts what happens between two windows at the beginning of the later one', () => {
    const frame: TimeGrid = { startS: NOON, stepS: 3 * HOUR_S, spanS: 2 * HOUR_S, spans: 2, isWalletSpecific: false };
    const slots = bucketsPerSpan(frame);
    const at = (seconds: number) => bucketIndexOf(frame, NOON + seconds);
    expect([-1, 0, 1, 60, 61, 119 * 60].map(at)).toEqual([0, 0, 1, 1, 2, 119]);
    expect([119 * 60 + 1, 2.5 * HOUR_S, 3 * HOUR_S].map(at)).toEqual([slots, slots, slots]);
    expect(newestTimeOf(frame)).toBe(NOON + 5 * HOUR_S - 60);
  });
});

it('sums what is added at slots, up to a time', () => {
  const frame: TimeGrid = { startS: NOON, stepS: 60, spanS: 60, spans: 9, isWalletSpecific: false };
  const steps = stepsOf(
    new Map([
      [5, -7n],
      [1, 10n],
      [3, 0n],
    ]),
  );
  const sums = [-60, 0, 60, 240, 300, 480].map((seconds) => sumAt(steps, frame, NOON + seconds));
  expect(sums).toEqual([0n, 0n, 10n, 10n, 3n, 3n]);
  expect(steps.bucketIndexes).toHaveLength(2);
  expect(sumAt(stepsOf(new Map()), frame, NOON)).toBe(0n);
});
