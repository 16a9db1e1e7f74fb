import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { servicePeriod } from './service-period.js';

const period = (created: string, now: string) => {
  const { startMs, endMs } = servicePeriod(Date.parse(created), Date.parse(now));
  return [new Date(startMs).toISOString(), new Date(endMs).toISOString()];
};

describe('servicePeriod', () => {
  it.each([
    ['2026-03-15T17:20:00Z', '2026-03-15T17:20:01Z', '2026-03-15', '2026-04-15'],
    ['2026-03-15T17:20:00Z', '2026-04-14T23:59:59Z', '2026-03-15', '2026-04-15'],
    ['2026-03-15T17:20:00Z', '2026-04-15T00:00:00Z', '2026-04-15', '2026-05-15'],
    ['2026-01-31T00:00:00Z', '2026-02-27T12:00:00Z', '2026-01-31', '2026-02-28'],
    ['2026-01-31T00:00:00Z', '2026-02-28T00:00:00Z', '2026-02-28', '2026-03-31'],
    ['2024-01-31T00:00:00Z', '2024-02-29T00:00:00Z', '2024-02-29', '2024-03-31'],
    ['2025-12-20T08:00:00Z', '2026-01-02T00:00:00Z', '2025-12-20', '2026-01-20'],
  ])('of an account made at %s holds %s: %s to %s', (created, now, start, end) => {
    expect(period(created, now)).toEqual([`${start}T00:00:00.000Z`, `${end}T00:00:00.000Z`]);
  });

  it('has neither gap nor overlap with the previous one', () => {
    const time = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2032, 0) });
    fc.assert(
      fc.property(time, time, (a, b) => {
        const [created, now] = [Math.min(a, b), Math.max(a, b)];
        const { startMs, endMs } = servicePeriod(created, now);
        expect(startMs).toBeLessThanOrEqual(now);
        expect(endMs).toBeGreaterThan(now);
        expect(servicePeriod(created, endMs).startMs).toBe(endMs);
        expect(servicePeriod(created, endMs - 1)).toEqual({ startMs, endMs });
      }),
    );
  });
});
