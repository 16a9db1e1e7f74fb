import { describe, expect, it } from 'vitest';
import { resumePoint } from './resume-point.js';

const plan = (firstOffset: number, lastOffset: number, previousLastOffset: number | null) => ({
  firstOffset,
  lastOffset,
  previousLastOffset,
});

describe('resumePoint', () => {
  it('is nothing before the first decision', () => {
    expect(resumePoint(null, null)).toEqual({ chunk: null, consistent: true });
  });
  it('is the decided chunk, whether the tables know it or only the one before', () => {
    const decided = plan(10, 19, 9);
    expect(resumePoint(decided, { firstOffset: 10, lastOffset: 19 })).toEqual({ chunk: decided, consistent: true });
    expect(resumePoint(decided, { firstOffset: 0, lastOffset: 9 })).toEqual({ chunk: decided, consistent: true });
    const first = plan(0, 9, null);
    expect(resumePoint(first, null)).toEqual({ chunk: first, consistent: true });
  });
  it('is what the tables know when they were emptied, restored or filled without decisions', () => {
    expect(resumePoint(plan(10, 19, 9), null)).toEqual({ chunk: null, consistent: false });
    expect(resumePoint(plan(10, 19, 9), { firstOffset: 0, lastOffset: 4 })).toEqual({
      chunk: plan(0, 4, null),
      consistent: false,
    });
    expect(resumePoint(plan(10, 19, 9), { firstOffset: 20, lastOffset: 29 })).toEqual({
      chunk: plan(20, 29, null),
      consistent: false,
    });
    expect(resumePoint(null, { firstOffset: 0, lastOffset: 4 })).toEqual({ chunk: plan(0, 4, null), consistent: true });
  });
});
