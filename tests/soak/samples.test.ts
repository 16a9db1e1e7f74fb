import { expect, it } from 'vitest';
import { trendOf } from './samples.js';

it('trend of samples has the slope per minute of the second half only', () => {
  const values = [100, 500, 300, 310, 320, 330];
  const samples = values.map((pssMiB, n) => ({
    atMs: n * 15_000,
    pssMiB,
    anonymousMiB: 0,
    byProcess: {},
    openFiles: 0,
    diskMiB: 0,
  }));
  const trend = trendOf(samples, ({ pssMiB }) => pssMiB);
  expect(trend).toMatchObject({ start: 100, middle: 310, end: 330 });
  // 10 MiB in 15 s.
  expect(trend.slopePerMinute).toBeCloseTo(40);
});
