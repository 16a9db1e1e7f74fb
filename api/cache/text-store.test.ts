import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTextStore, type StoredText } from './text-store.js';

/** Small pages, so that a few records fill them and one may be larger than a page. */
const PAGE = 256;
const HEADER_BYTES = 16;
const INDEX_ENTRY_BYTES = 8;
const id = fc.oneof(
  fc.integer({ min: 0, max: 40 }).map(String),
  fc.integer({ min: 0, max: 5 }).map((n) => `0x${'f'.repeat(60)}${n}`),
);
const stored = (unit: fc.Arbitrary<string>): fc.Arbitrary<StoredText> =>
  fc.record({
    text: fc.string({ unit, maxLength: 300 }),
    expiresAtS: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  });
const step = (unit: fc.Arbitrary<string>) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.tuple(fc.constant('set' as const), id, stored(unit)) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('delete' as const), id) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('evict' as const)) },
    { weight: 3, arbitrary: fc.tuple(fc.constant('want' as const), id) },
    { weight: 1, arbitrary: fc.tuple(fc.constant('clear' as const)) },
  );
const anyText = fc.string({ unit: 'grapheme', maxLength: 3 });
const latin = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));

describe.each([
  ['utf8', anyText],
  ['latin1', latin],
] as const)('texts in %s', (encoding, unit) => {
  it('createTextStore agrees with a Map for random sets, deletes and clears', () => {
    fc.assert(
      fc.property(fc.array(step(unit), { maxLength: 300 }), (steps) => {
        const store = createTextStore({ encoding, pageBytes: PAGE });
        const model = new Map<string, StoredText>();
        for (const [what, name, value] of steps) {
          if (what === 'set') {
            store.set(name, value);
            model.set(name, value);
          } else if (what === 'delete') {
            store.delete(name);
            model.delete(name);
          } else if (what === 'want') store.markReferenced(name);
          else if (what === 'clear') {
            store.clear();
            model.clear();
          } else {
            store.evictOne();
            const evicted = [...model.keys()].filter((key) => store.get(key) === undefined);
            expect(evicted).toHaveLength(model.size === 0 ? 0 : 1);
            for (const key of evicted) model.delete(key);
          }
          expect(store.size).toBe(model.size);
        }
        let bytes = 0;
        for (const [key, value] of model) {
          expect(store.get(key)).toEqual(value);
          bytes += ((HEADER_BYTES + key.length + Buffer.byteLength(value.text, encoding) + 3) & ~3) + INDEX_ENTRY_BYTES;
        }
        expect(store.bytes).toBe(bytes);
        for (let n = 0; n <= 40; n++) if (!model.has(String(n))) expect(store.get(String(n))).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});

it('createTextStore evicts the oldest unreferenced entry and skips a referenced one once', () => {
  const store = createTextStore({ pageBytes: PAGE });
  const names = Array.from({ length: 30 }, (_, n) => `name ${n}`);
  for (const name of names) store.set(name, { text: 'x'.repeat(20), expiresAtS: 1 });
  for (const name of names.slice(0, 10)) store.markReferenced(name);
  const left = () => names.filter((name) => store.get(name) !== undefined);
  for (let n = 0; n < 20; n++) store.evictOne();
  expect(left()).toEqual(names.slice(0, 10));
  store.set('name 0', { text: 'again', expiresAtS: 2 });
  for (let n = 0; n < 9; n++) store.evictOne();
  expect(left()).toEqual(['name 0']);
  store.evictOne();
  store.evictOne();
  expect(store.size).toBe(0);
  expect(store.bytes).toBe(0);
});

it('createTextStore does not grow when entries are replaced repeatedly', () => {
  const external = () => process.memoryUsage().arrayBuffers;
  const store = createTextStore();
  const text = 'x'.repeat(1_000);
  const fill = () => {
    for (let n = 0; n < 10_000; n++) store.set(String(n), { text, expiresAtS: 1 });
  };
  fill();
  const before = external();
  for (let round = 0; round < 10; round++) fill();
  // 100 MB were stored in total; 10 MB are live. A fifth of the used bytes, and two pages, may be deleted records.
  expect(external() - before).toBeLessThan(6_000_000);
  expect(store.get('77')).toEqual({ text, expiresAtS: 1 });
});
