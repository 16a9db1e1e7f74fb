import { expect, it } from 'vitest';
import { integerFrom } from './params.js';

it.each<[string, number | null]>([
  ['0', 0],
  ['-7', -7],
  ['007', 7],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['9007199254740993', Number.MAX_SAFE_INTEGER],
  [`-${'9'.repeat(300)}`, Number.MIN_SAFE_INTEGER],
  ['9'.repeat(401), null],
  ['', null],
  [' 1', null],
  ['+1', null],
  ['1.0', null],
  ['1e3', null],
  ['0x10', null],
  ['٣', null],
  ['NaN', null],
])('%j is %s', (text, value) => expect(integerFrom(text)).toBe(value));
