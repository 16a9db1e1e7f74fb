import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.js';

const now = Date.UTC(2026, 0, 1);
it.each([
  ['seconds', '3', 3000],
  ['a fraction', '0.5', 500],
  ['an HTTP date', 'Thu, 01 Jan 2026 00:00:07 GMT', 7000],
  ['a past date', 'Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['a word', 'soon', null],
  ['a negative number', '-1', null],
  ['no header', null, null],
])('retryAfterMs reads %s', (_name, header, expected) => {
  expect(retryAfterMs(header, now)).toBe(expected);
});
