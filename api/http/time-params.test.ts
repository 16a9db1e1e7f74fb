import { expect, it } from 'vitest';
import { millisecondsParam, secondsParam } from './time-params.js';

const seconds = secondsParam({ description: '', invalid: 'use Unix seconds' });
const milliseconds = millisecondsParam({ description: '', invalid: 'use Unix milliseconds' });
const read = (param: typeof seconds, text: string): unknown => {
  const result = param.safeParse(text);
  return result.success ? result.data : result.error.issues[0]?.message;
};

it.each<[string, unknown]>([
  ['0', 0],
  ['1790000000', 1_790_000_000],
  ['4102444800', 4_102_444_800],
  ['9999999999', 9_999_999_999],
  ['4102444801', 'use Unix seconds (4102444801 looks like milliseconds)'],
  ['9999999998', 'use Unix seconds (9999999998 looks like milliseconds)'],
  ['1790000000000', 'use Unix seconds (1790000000000 looks like milliseconds)'],
  ['9'.repeat(300), `use Unix seconds (${'9'.repeat(24)} looks like milliseconds)`],
  ['-1', 'use Unix seconds'],
  ['1790000000.5', 'use Unix seconds'],
  ['2026-01-01', 'use Unix seconds'],
  ['', 'use Unix seconds'],
])('seconds: %j is %j', (text, expected) => expect(read(seconds, text)).toBe(expected));

it.each<[string, unknown]>([
  ['0', 0],
  ['99999999', 99_999_999],
  ['1790000000000', 1_790_000_000_000],
  ['100000000000', 100_000_000_000],
  ['4102444800000', 4_102_444_800_000],
  ['1790000000', 'use Unix milliseconds (1790000000 looks like seconds)'],
  ['100000000', 'use Unix milliseconds (100000000 looks like seconds)'],
  ['99999999999', 'use Unix milliseconds (99999999999 looks like seconds)'],
  ['1790000000000000', 'use Unix milliseconds (1790000000000000 looks like microseconds)'],
  ['-5', 'use Unix milliseconds'],
  ['soon', 'use Unix milliseconds'],
])('milliseconds: %j is %j', (text, expected) => expect(read(milliseconds, text)).toBe(expected));
