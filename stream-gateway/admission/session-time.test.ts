import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS, durationInDayMs, startOfUtcDay } from './session-time.js';

const day = Date.UTC(2026, 10, 3);

describe('session time', () => {
  it('durationInDayMs clips intervals to the UTC day and counts overlaps once', () => {
    expect(startOfUtcDay(Date.UTC(2026, 10, 3, 23, 59, 59, 999))).toBe(day);
    expect(durationInDayMs(day, [])).toBe(0);
    expect(durationInDayMs(day, [{ fromMs: day - 5_000, untilMs: day + 3_000 }])).toBe(3_000);
    expect(durationInDayMs(day, [{ fromMs: day + DAY_MS - 10, untilMs: day + DAY_MS + 50 }])).toBe(10);
    expect(
      durationInDayMs(day, [
        { fromMs: day + 10, untilMs: day + 20 },
        { fromMs: day, untilMs: day + 15 },
        { fromMs: day + 30, untilMs: day + 30 },
        { fromMs: day + 40, untilMs: day + 35 },
      ]),
    ).toBe(20);
  });

  it('durationInDayMs equals the number of covered milliseconds for random intervals', () => {
    const at = fc.integer({ min: -20, max: 60 });
    fc.assert(
      fc.property(fc.array(fc.record({ from: at, length: fc.integer({ min: -3, max: 40 }) })), (random) => {
        const start = day + DAY_MS - 40;
        const covered = new Set<number>();
        for (const { from, length } of random)
          for (let ms = start + from; ms < start + from + length; ms++)
            if (ms >= day && ms < day + DAY_MS) covered.add(ms);
        const intervals = random.map(({ from, length }) => ({ fromMs: start + from, untilMs: start + from + length }));
        expect(durationInDayMs(day, intervals)).toBe(covered.size);
      }),
    );
  });
});
