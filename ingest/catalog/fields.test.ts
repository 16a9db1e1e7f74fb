import { describe, expect, it } from 'vitest';
import {
  FieldError,
  optionalHash,
  optionalNumber,
  optionalText,
  optionalTime,
  remainingFields,
  textList,
} from './fields.js';

describe('optionalTime', () => {
  it.each([
    ['2026-08-21T16:08:38.248161Z', Date.UTC(2026, 7, 21, 16, 8, 38, 248)],
    ['2026-08-22T16:05:00Z', Date.UTC(2026, 7, 22, 16, 5)],
    ['2026-03-28 17:05:00+00', Date.UTC(2026, 2, 28, 17, 5)],
    ['2026-03-28 17:05:00+0530', Date.UTC(2026, 2, 28, 11, 35)],
    ['2026-03-28T17:05:00-04:00', Date.UTC(2026, 2, 28, 21, 5)],
    ['2026-03-28 17:05', Date.UTC(2026, 2, 28, 17, 5)],
    ['2026-03-28', Date.UTC(2026, 2, 28)],
  ])('reads %s', (text, expected) => {
    expect(optionalTime(text)).toBe(expected);
  });
  it.each([
    '',
    'soon',
    '2026-13-01',
    '2026-02-03T99:00:00Z',
    '0001-01-01T00:00:00Z',
    '9999-12-31',
    5,
    null,
    undefined,
    {},
  ])('gives null for %j', (value) => {
    expect(optionalTime(value)).toBeNull();
  });
});

describe('optionalNumber and optionalText', () => {
  it('reject numbers of more than 1e15', () => {
    expect([1e15, -1e15, 1.1e15, '-1e300', '1e999', Number.POSITIVE_INFINITY].map(optionalNumber)).toEqual([
      1e15,
      -1e15,
      null,
      null,
      null,
      null,
    ]);
  });

  it('accept numbers and texts alike', () => {
    expect(['12232699.6', 0.5, '', ' ', 'x', null, Number.NaN, '1e3'].map(optionalNumber)).toEqual([
      12232699.6,
      0.5,
      null,
      null,
      null,
      null,
      null,
      1000,
    ]);
    expect(['a', '', 10684, null, {}, true].map(optionalText)).toEqual(['a', null, '10684', null, null, null]);
  });

  it('replace halves of characters, which cannot be written as UTF-8', () => {
    expect(['\ud800', 'a\udc00b', '\u{1f469}'].map(optionalText)).toEqual(['\ufffd', 'a\ufffdb', '\u{1f469}']);
    expect(textList({ x: ['\ud800', '\u{1f469}'] }, 'x')).toEqual(['\ufffd', '\u{1f469}']);
  });
});

describe('textList', () => {
  it.each([
    ['["Up", "Down"]', ['Up', 'Down']],
    [
      ['Up', 'Down'],
      ['Up', 'Down'],
    ],
    ['[0.5, 1]', ['0.5', '1']],
    ['', []],
    [null, []],
    [undefined, []],
  ])('reads %j', (value, expected) => {
    expect(textList({ x: value }, 'x')).toEqual(expected);
  });
  it.each(['[', '{}', '"a"', '[null]', '[113013382422133157315656190194075928009]', 5])('rejects %j', (value) => {
    expect(() => textList({ x: value }, 'x')).toThrow(FieldError);
  });
});

describe('optionalHash', () => {
  it('returns lower case, null for "", and throws otherwise', () => {
    expect(optionalHash({ x: `0x${'AB'.repeat(32)}` }, 'x')).toBe(`0x${'ab'.repeat(32)}`);
    expect(optionalHash({ x: '' }, 'x')).toBeNull();
    expect(() => optionalHash({ x: '0x12' }, 'x')).toThrow('x is not 32 bytes');
  });
});

describe('rest', () => {
  it('returns the same text for any order of members', () => {
    const known = new Set(['id']);
    const one = remainingFields({ id: 1, b: { y: 1, x: [{ q: 1, p: 2 }] }, a: null }, known);
    expect(one).toBe('{"a":null,"b":{"x":[{"p":2,"q":1}],"y":1}}');
    expect(remainingFields({ a: null, b: { x: [{ p: 2, q: 1 }], y: 1 }, id: 2 }, known)).toBe(one);
  });
});
