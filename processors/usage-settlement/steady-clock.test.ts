import { expect, it } from 'vitest';
import { createSteadyClock } from './steady-clock.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

it('the steady clock follows a jump forward after ten minutes only, and every other step at once', () => {
  let wall = 1_000 * DAY;
  let monotonic = 5;
  const clock = createSteadyClock(
    () => wall,
    () => monotonic,
  );
  const pass = (ms: number) => {
    wall += ms;
    monotonic += ms;
    return clock() - 1_000 * DAY;
  };
  expect(pass(MINUTE)).toBe(MINUTE);
  // Forward by 91 days for nine minutes, then corrected.
  wall += 91 * DAY;
  expect([pass(0), pass(9 * MINUTE)]).toEqual([MINUTE, 10 * MINUTE]);
  wall -= 91 * DAY;
  expect(pass(MINUTE)).toBe(11 * MINUTE);
  // The machine slept for two days: the monotonic clock may not count that.
  wall += 2 * DAY;
  expect([pass(0), pass(5 * MINUTE)]).toEqual([11 * MINUTE, 16 * MINUTE]);
  expect(pass(5 * MINUTE)).toBe(2 * DAY + 21 * MINUTE);
  expect(pass(MINUTE)).toBe(2 * DAY + 22 * MINUTE);
  // Small steps and those back.
  wall += 59 * MINUTE;
  expect(pass(0)).toBe(2 * DAY + 81 * MINUTE);
  wall -= 3 * DAY;
  expect(pass(0)).toBe(81 * MINUTE - DAY);
});
