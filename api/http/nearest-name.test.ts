import { expect, it } from 'vitest';
import { editDistance, nearestName } from './nearest-name.js';

it.each([
  ['', '', 0],
  ['wallet', 'wallet', 0],
  ['walet', 'wallet', 1],
  ['limit', 'limits', 1],
  ['sort', 'sart', 1],
  ['ordre', 'order', 1],
  ['', 'abc', 3],
  ['kitten', 'sitting', 3],
  ['ca', 'abc', 3],
])('%j to %j is %i steps', (a, b, steps) => {
  expect(editDistance(a, b)).toBe(steps);
  expect(editDistance(b, a)).toBe(steps);
});

const known = ['wallet', 'token_id', 'condition_id', 'to', 'q', 'after', 'before', 'key'];
it.each([
  ['walet', 'wallet'],
  ['wallets', 'wallet'],
  ['WALLET', 'wallet'],
  ['tokenId', 'token_id'],
  ['token-id', 'token_id'],
  ['conditionid', 'condition_id'],
  ['konditon_id', 'condition_id'],
  ['tp', 'to'],
  ['qq', 'q'],
  ['kye', 'key'],
  ['zzz', null],
  ['z', null],
  ['', null],
  ['_', null],
  ['limit', null],
  ['x'.repeat(10_000), null],
])('nearestName of %j is %j', (name, nearest) => expect(nearestName(name, known)).toBe(nearest));

it('nearestName returns the first of two equally near names', () => {
  expect(nearestName('starx', ['start', 'stars'])).toBe('start');
  expect(nearestName('starx', ['stars', 'start'])).toBe('stars');
});
