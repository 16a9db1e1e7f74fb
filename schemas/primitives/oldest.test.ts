import { expect, it } from 'vitest';
import { oldestTenth } from './oldest.js';

const filled = (size: number) => new Set(Array.from({ length: size }, (_, n) => n));

it('is empty up to the maximum, and then a tenth of it in order of insertion', () => {
  expect([...oldestTenth(filled(20), 20)]).toEqual([]);
  expect([...oldestTenth(filled(21), 20)]).toEqual([0, 1]);
  expect([...oldestTenth(filled(2), 1)]).toEqual([0]);
});

it('entries may be removed while it is read', () => {
  const set = filled(21);
  for (const entry of oldestTenth(set, 20)) set.delete(entry);
  expect([set.size, set.values().next().value]).toEqual([19, 2]);
});
