import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fixedWidthIds, packIds, unpackIds } from './id-list.js';

it('fixedWidthIds slices like an array', () => {
  const id = fc.stringMatching(/^[0-9a-f]{5}$/);
  const place = fc.integer({ min: 0, max: 30 });
  fc.assert(
    fc.property(fc.array(id, { maxLength: 20 }), place, place, (ids, from, to) => {
      const list = fixedWidthIds(ids.join(''), 5);
      expect(list).toHaveLength(ids.length);
      expect(list.slice(from, to)).toEqual(ids.slice(from, to));
    }),
  );
});

it('unpackIds returns the list that packIds encoded', () => {
  const id = fc.stringMatching(/^[0-9a-z]{1,9}$/);
  fc.assert(
    fc.property(fc.array(id, { maxLength: 20 }), (ids) => {
      expect(unpackIds(packIds(ids))).toEqual(ids);
      const list = fixedWidthIds(ids.map((one) => one.padEnd(9, '.')).join(''), 9);
      const again = unpackIds(packIds(list));
      expect(again.slice(0, again.length)).toEqual(list.slice(0, list.length));
    }),
  );
});
