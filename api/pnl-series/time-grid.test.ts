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

describe('time grid', () => {
  it('has the times of its period except the newest, as long as it is valid', () => {
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
          const timeGrid = timeGridFor(gridAt(beganS, countAt(beganS)), grows ? sinceS : null);
          const endS = beganS + laterMinutes * 60;
          const grid = gridAt(endS, countAt(endS));
          const serves = minute + laterMinutes < Math.min(stepHours, 2) * 60;
          expect(servingHourOf(timeGrid)).toBe(NOON);
          expect(covers(timeGrid, grid)).toBe(serves);
          expect(isRenewable(timeGrid, grid)).toBe(minute + laterMinutes >= 60);
          if (!serves) return;
          for (let n = 0; n < grid.points - 1; n++) {
            const atS = grid.startS + n * stepS;
            const bucketIndex = bucketIndexOf(timeGrid, atS);
            expect(bucketIndex).toBeGreaterThanOrEqual(0);
            expect(atS).toBeLessThanOrEqual(newestTimeOf(timeGrid));
            // One minute later is the next bucket of the same span, or the bucket after its last.
            expect(bucketIndexOf(timeGrid, atS + 1)).toBe(bucketIndex + 1);
            expect(bucketIndexOf(timeGrid, atS - 59)).toBe(bucketIndex);
          }
        },
      ),
    );
  });

  it('assigns an event between two points to the later one', () => {
    const timeGrid: TimeGrid = {
      startS: NOON,
      stepS: 3 * HOUR_S,
      spanS: 2 * HOUR_S,
      spans: 2,
      isWalletSpecific: false,
    };
    const buckets = bucketsPerSpan(timeGrid);
    const at = (seconds: number) => bucketIndexOf(timeGrid, NOON + seconds);
    expect([-1, 0, 1, 60, 61, 119 * 60].map(at)).toEqual([0, 0, 1, 1, 2, 119]);
    expect([119 * 60 + 1, 2.5 * HOUR_S, 3 * HOUR_S].map(at)).toEqual([buckets, buckets, buckets]);
    expect(newestTimeOf(timeGrid)).toBe(NOON + 5 * HOUR_S - 60);
  });
});

it('sums additions per bucket up to a time', () => {
  const timeGrid: TimeGrid = { startS: NOON, stepS: 60, spanS: 60, spans: 9, isWalletSpecific: false };
  const steps = stepsOf(
    new Map([
      [5, -7n],
      [1, 10n],
      [3, 0n],
    ]),
  );
  const sums = [-60, 0, 60, 240, 300, 480].map((seconds) => sumAt(steps, timeGrid, NOON + seconds));
  expect(sums).toEqual([0n, 0n, 10n, 10n, 3n, 3n]);
  expect(steps.bucketIndexes).toHaveLength(2);
  expect(sumAt(stepsOf(new Map()), timeGrid, NOON)).toBe(0n);
});
