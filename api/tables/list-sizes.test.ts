import { expect, it } from 'vitest';
import { listSize } from './list-sizes.js';

it('listSize returns the next larger of the fixed sizes', () => {
  expect([0, 1, 2, 50, 51, 999, 5_000].map(listSize)).toEqual([1, 1, 50, 50, 100, 1_000, 1_000]);
});
