import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors/failure.js';
import { copyWindow } from './window.js';

const NOW_MS = Date.UTC(2026, 5, 1, 12);
const NOW_S = NOW_MS / 1000;
const DAY_S = 86_400;
const failure = (run: () => unknown) => {
  try {
    run();
  } catch (error) {
    return error instanceof ApiError ? error.failure : error;
  }
  return null;
};

describe('copyWindow', () => {
  it('is the last 30 days by default, and says so', () => {
    expect(copyWindow({}, NOW_MS + 999)).toEqual({ fromS: NOW_S - 30 * DAY_S, toS: NOW_S, defaultDays: 30 });
  });

  it('takes from and to before the period', () => {
    expect(copyWindow({ period: '7d' }, NOW_MS)).toEqual({ fromS: NOW_S - 7 * DAY_S, toS: NOW_S, defaultDays: null });
    expect(copyWindow({ period: '7d', from: 100, to: 200 }, NOW_MS)).toEqual({
      fromS: 100,
      toS: 200,
      defaultDays: null,
    });
  });

  it('begins 30 days before a `to` alone, and ends a `from` alone now', () => {
    expect(copyWindow({ to: NOW_S - DAY_S, period: '180d' }, NOW_MS)).toMatchObject({ fromS: NOW_S - 31 * DAY_S });
    expect(copyWindow({ from: NOW_S - 5 }, NOW_MS)).toMatchObject({ fromS: NOW_S - 5, toS: NOW_S });
    expect(copyWindow({ to: 10 }, NOW_MS)).toMatchObject({ fromS: 0, toS: 10 });
    // What clients send for an open end.
    expect(copyWindow({ to: 9_999_999_999 }, NOW_MS)).toMatchObject({ fromS: NOW_S - 30 * DAY_S, toS: NOW_S });
    expect(failure(() => copyWindow({ from: 9_999_999_999 }, NOW_MS))).toMatchObject({ message: 'Invalid from/to' });
  });

  it('rejects a range that ends before it begins, and more than 180 days', () => {
    expect(failure(() => copyWindow({ from: 200, to: 100 }, NOW_MS))).toMatchObject({ message: 'Invalid from/to' });
    expect(copyWindow({ from: 100, to: 100 }, NOW_MS)).toMatchObject({ fromS: 100, toS: 100 });
    expect(copyWindow({ from: NOW_S - 180 * DAY_S }, NOW_MS)).toMatchObject({ toS: NOW_S });
    expect(failure(() => copyWindow({ from: NOW_S - 180 * DAY_S - 1 }, NOW_MS))).toMatchObject({
      message: 'Maximum window is 180d',
    });
  });
});
