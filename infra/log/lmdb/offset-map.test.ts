import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createOffsetMap } from './offset-map.js';

it('the offset map returns the newest offset of each key', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.string({ maxLength: 3 }), fc.nat(2 ** 47)), { maxLength: 200 }), (writes) => {
      const map = createOffsetMap(200);
      const model = new Map<string, number>();
      for (const [key, offset] of writes) {
        map.set(Buffer.from(key), offset);
        model.set(key, offset);
      }
      for (const [key, offset] of model) expect(map.get(Buffer.from(key))).toBe(offset);
      expect(map.get(Buffer.from('never written'))).toBeUndefined();
      expect(map.size).toBe(model.size);
      expect(map.remainingCapacity()).toBe(200 - model.size);
    }),
  );
});
