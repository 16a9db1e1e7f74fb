// Days whose chain data is missing or incomplete, to be marked on the time axis of a chart.

import { get } from './api.js';

const DAY_S = 86_400;
const MAX_DAYS = 366;

const dayOf = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10);

/**
 * Incomplete days between two times (Unix seconds), as UTC days. Without coverage (it cannot be read) none. Only the last 366 days are known; earlier ones
 * count as complete.
 */
export async function incompleteDays(fromS, toS) {
  const from = dayOf(Math.max(fromS, toS - (MAX_DAYS - 1) * DAY_S));
  try {
    const { coverage } = await get('/v1/coverage', { source: 'blocks', from, to: dayOf(toS) });
    return new Set(coverage.filter(({ state }) => state === 'missing' || state === 'degraded').map(({ day }) => day));
  } catch {
    return new Set();
  }
}

/** 1 from each point of a chart on an incomplete day to the next point, else 0. */
export const gapSteps = (points, days) => points.map(({ time }) => ({ time, value: days.has(dayOf(time)) ? 1 : 0 }));
