import { expect, it } from 'vitest';
import { createWalks, walkName } from './walks.js';

const place = (blockNumber: number) => ({ blockNumber, logIndex: 0 });

it('keeps where a walk began as long as it is used, and forgets it a quarter of an hour later', () => {
  let nowMs = 0;
  const walks = createWalks({ nowMs: () => nowMs });
  expect(walks.boundOf('a')).toBeNull();
  walks.begin('a', place(5));
  walks.begin('b', place(6));
  for (let i = 0; i < 3; i++) {
    nowMs += 14 * 60_000;
    expect(walks.boundOf('a')).toEqual(place(5));
  }
  expect(walks.boundOf('b')).toBeNull();
  nowMs += 16 * 60_000;
  expect(walks.boundOf('a')).toBeNull();
});

it('begins anew with each first page, and has no bound where that was empty', () => {
  const walks = createWalks({ nowMs: () => 0 });
  walks.begin('a', place(5));
  walks.begin('a', place(7));
  expect(walks.boundOf('a')).toEqual(place(7));
  walks.begin('a', null);
  expect(walks.boundOf('a')).toBeNull();
});

it('holds at most 20,000 walks, the ones used last', () => {
  const walks = createWalks({ nowMs: () => 0 });
  for (let i = 0; i < 20_000; i++) walks.begin(`w${i}`, place(i));
  walks.boundOf('w0');
  walks.begin('one more', place(1));
  expect(walks.boundOf('w0')).toEqual(place(0));
  expect(walks.boundOf('w1')).toBeNull();
});

it('names a walk by caller, path and filters, not by the place in it', () => {
  const name = (filters: Record<string, unknown>) => walkName('acc', '/v3/trades', filters);
  expect(name({ token_id: '1', min: 5n, limit: 1, offset: 2 })).toBe(
    name({ token_id: '1', min: 5n, limit: 9, offset: 0 }),
  );
  expect(name({ token_id: '1' })).not.toBe(name({ token_id: '2' }));
  expect(walkName('other', '/v3/trades', {})).not.toBe(walkName('acc', '/v3/trades', {}));
});
