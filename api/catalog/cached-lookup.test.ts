import { expect, it } from 'vitest';
import { createCachedLookup, identityCodec } from './cached-lookup.js';

function setUp(maxEntries?: number) {
  const clock = { nowMs: 0 };
  const reads: string[][] = [];
  const lookup = createCachedLookup({
    read: async (ids) => {
      reads.push([...ids]);
      return new Map(ids.filter((id) => id !== 'none').map((id) => [id, `${id} at ${clock.nowMs}`]));
    },
    unknown: 'unknown',
    codec: identityCodec,
    nowMs: () => clock.nowMs,
    maxEntries,
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

it('createCachedLookup keeps at most maxEntries and evicts the oldest', async () => {
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

it('createCachedLookup keeps ids that are requested repeatedly, and evicts even if all of them are', async () => {
  const { reads, lookup } = setUp(3);
  await lookup(['a', 'b', 'c']);
  for (let n = 0; n < 10; n++) {
    await lookup(['a']);
    await lookup([`new ${n}`]);
  }
  expect(reads.flat().filter((id) => id === 'a')).toHaveLength(1);
  await lookup(['a', 'new 9', 'new 8']);
  // All three are marked as referenced: each is skipped once, then the next id evicts one.
  await lookup(['d']);
  await lookup(['e']);
  await lookup(['a', 'new 9', 'new 8', 'e']);
  expect(reads.slice(-3).map((ids) => ids.length)).toEqual([1, 1, 1]);
});

it('createCachedLookup limits entries by maxBytes, and reads a value again that is not fresh', async () => {
  const reads: string[][] = [];
  const old = new Set<string>();
  const lookup = createCachedLookup({
    read: async (ids) => {
      reads.push([...ids]);
      return new Map(ids.map((id) => [id, id.repeat(100)]));
    },
    unknown: '',
    codec: identityCodec,
    nowMs: () => 0,
    // Three of the heads and ids, and six hundred letters.
    maxBytes: 3 * 28 + 600,
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
