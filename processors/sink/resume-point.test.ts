import { describe, expect, it } from 'vitest';
import { FatalError } from '../../infra/errors.js';
import { resumePoint } from './resume-point.js';

const plan = (firstOffset: number, lastOffset: number, previousLastOffset: number | null) => ({
  firstOffset,
  lastOffset,
  previousLastOffset,
});

describe('resumePoint', () => {
  it('has no chunk before the first plan', () => {
    expect(resumePoint(null, null)).toEqual({ chunk: null, consistent: true });
  });
  it('is the planned chunk, with or without its row in chunks', () => {
    const decided = plan(10, 19, 9);
    expect(resumePoint(decided, { firstOffset: 10, lastOffset: 19 })).toEqual({ chunk: decided, consistent: true });
    expect(resumePoint(decided, { firstOffset: 0, lastOffset: 9 })).toEqual({ chunk: decided, consistent: true });
    const first = plan(0, 9, null);
    expect(resumePoint(first, null)).toEqual({ chunk: first, consistent: true });
  });
  it('is the newest range in chunks when the tables were emptied, restored or filled without plans', () => {
    expect(resumePoint(plan(10, 19, 9), null)).toEqual({ chunk: null, consistent: false });
    expect(resumePoint(plan(10, 19, 9), { firstOffset: 0, lastOffset: 4 })).toEqual({
      chunk: plan(0, 4, null),
      consistent: false,
    });
    expect(resumePoint(null, { firstOffset: 0, lastOffset: 4 })).toEqual({ chunk: plan(0, 4, null), consistent: true });
  });
  it('throws when the tables contain offsets after the newest plan of the log', () => {
    const restored = () => resumePoint(plan(10, 19, 9), { firstOffset: 20, lastOffset: 29 });
    expect(restored).toThrow(FatalError);
    expect(restored).toThrow(/up to 29, the newest chunk plan of the log ends at 19: they do not belong together/);
  });
});
