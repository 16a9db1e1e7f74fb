import { expect, it } from 'vitest';
import { createCachedLookup } from './cached-lookup.js';

function setUp(maxSize?: number) {
  const clock = { nowMs: 0 };
  const reads: string[][] = [];
  const lookup = createCachedLookup({
    read: async (ids) => {
      reads.push([...ids]);
      return new Map(ids.filter((id) => id !== 'none').map((id) => [id, `${id} at ${clock.nowMs}`]));
    },
    unknown: 'unknown',
    nowMs: () => clock.nowMs,
    ...(maxSize === undefined ? {} : { maxSize }),
  });
  return { clock, reads, lookup };
}

it('createCachedLookup reads each missing id once, and an unknown id again after a second', async () => {
  const { clock, reads, lookup } = setUp();
  expect(await lookup(['a', 'none', 'a'])).toEqual(
    new Map([
      ['a', 'a at 0'],
      ['none', 'unknown'],
    ]),
  );
  clock.nowMs = 999;
  expect((await lookup(['a', 'none', 'b'])).get('b')).toBe('b at 999');
  clock.nowMs = 1_000;
  await lookup(['a', 'none']);
  clock.nowMs = 30_000;
  expect((await lookup(['a', 'b'])).get('a')).toBe('a at 30000');
  expect(reads).toEqual([['a', 'none'], ['b'], ['none'], ['a']]);
});

it('createCachedLookup reads ids again after the clock was set back', async () => {
  const { clock, reads, lookup } = setUp();
  clock.nowMs = 5 * 86_400_000;
  await lookup(['a']);
  clock.nowMs = 0;
  expect((await lookup(['a'])).get('a')).toBe('a at 0');
  expect(reads).toEqual([['a'], ['a']]);
});

it('createCachedLookup keeps at most maxSize and evicts the least recently used', async () => {
  const { clock, reads, lookup } = setUp(3);
  await lookup(['a', 'b', 'c']);
  clock.nowMs = 30_000;
  await lookup(['a']);
  await lookup(['d']);
  await lookup(['a', 'c', 'd']);
  expect(reads).toEqual([['a', 'b', 'c'], ['a'], ['d'], ['c']]);
});

it('createCachedLookup returns more ids at once than its capacity', async () => {
  const { reads, lookup } = setUp(3);
  expect((await lookup(['1', '2', '3', '4', '5'])).size).toBe(5);
  await lookup(['3', '4', '5']);
  expect(reads).toEqual([['1', '2', '3', '4', '5']]);
});

it('createCachedLookup keeps ids that are requested repeatedly', async () => {
  const { reads, lookup } = setUp(3);
  await lookup(['a', 'b', 'c']);
  for (let n = 0; n < 10; n++) {
    await lookup(['a']);
    await lookup([`new ${n}`]);
  }
  expect(reads.flat().filter((id) => id === 'a')).toHaveLength(1);
  await lookup(['a', 'new 9', 'new 8']);
  await lookup(['d']);
  await lookup(['a', 'new 9', 'new 8', 'd']);
  expect(reads.slice(-2)).toEqual([['d'], ['a']]);
});

it('createCachedLookup limits entries by their sizes, and reads a value again that is not fresh', async () => {
  const reads: string[][] = [];
  const old = new Set<string>();
  const lookup = createCachedLookup({
    read: async (ids) => {
      reads.push([...ids]);
      return new Map(ids.map((id) => [id, id.repeat(100)]));
    },
    unknown: '',
    nowMs: () => 0,
    maxSize: 600,
    sizeOf: (value) => value.length,
    isFresh: (value) => !old.has(value),
  });
  await lookup(['aaa', 'bb']);
  await lookup(['c']);
  old.add('bb'.repeat(100));
  await lookup(['bb', 'c']);
  // 'aaa' is the least recently used.
  await lookup(['dd']);
  await lookup(['c', 'dd']);
  await lookup(['aaa']);
  expect(reads).toEqual([['aaa', 'bb'], ['c'], ['bb'], ['dd'], ['aaa']]);
});

it('createCachedLookup prefetches missing ids up to its capacity without evicting others', async () => {
  const { clock, reads, lookup } = setUp(4);
  await lookup(['a']);
  await lookup.prefetch(['a', 'b', 'c']);
  await lookup(['a', 'b', 'c']);
  expect(reads).toEqual([['a'], ['b', 'c']]);
  await lookup(['d']);
  await lookup.prefetch(['e', 'f']);
  clock.nowMs = 30_000;
  await lookup.prefetch(['a']);
  expect(reads.slice(2)).toEqual([['d']]);
  expect((await lookup(['e'])).get('e')).toBe('e at 30000');
});
