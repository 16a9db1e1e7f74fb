import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type HourlyClose, packCloses, unpackCloses } from './packed-hourly-closes.js';

const inOrder = (closes: readonly HourlyClose[]): HourlyClose[] => {
  const places = closes.map(({ place }) => place).sort((a, b) => a - b);
  return [...closes].sort((a, b) => a.endS - b.endS).map((close, n) => ({ ...close, place: places[n] as number }));
};

it('unpackCloses returns the closes that packCloses encoded', () => {
  const close = fc.record({
    endS: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    price: fc.oneof(fc.integer({ min: 0, max: 1_000_000 }), fc.maxSafeNat()),
    place: fc.maxSafeNat(),
  });
  fc.assert(
    fc.property(fc.array(close), (closes) => {
      const ordered = inOrder(closes);
      expect(unpackCloses(packCloses(ordered))).toEqual(ordered);
    }),
  );
});

it('packCloses needs about nine bytes per close', () => {
  const closes = Array.from({ length: 100 }, (_, n) => ({
    endS: 1_790_000_000 + n * 3_600,
    price: 420_000,
    place: (90_000_000 + n * 1_800) * 2 ** 20 + 37,
  }));
  expect(packCloses(closes).length).toBeLessThan(1_050);
});
