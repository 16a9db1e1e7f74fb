import { expect, it } from 'vitest';
import { createCachedLookup, identityCodec } from './cached-lookup.js';

function setUp(maxEntries?: number) {
  const clock = { nowMs: 0 };
  const asked: string[][] = [];
  const lookup = createCachedLookup({
    read: async (ids) => {
      asked.push([...ids]);
      return new Map(ids.filter((id) => id !== 'none').map((id) => [id, `${id} at ${clock.nowMs}`]));
    },
    unknown: 'unknown',
    codec: identityCodec,
    nowMs: () => clock.nowMs,
    maxEntries,
  });
  return { clock, asked, lookup };
}

it('reads what is not held, once each, and what is unknown again after a second', async () => {
  const { clock, asked, lookup } = setUp();
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
  expect(asked).toEqual([['a', 'none'], ['b'], ['none'], ['a']]);
});

it('holds no more than it may, and lets go of what was read first', async () => {
  const { clock, asked, lookup } = setUp(3);
  await lookup(['a', 'b', 'c']);
  clock.nowMs = 30_000;
  await lookup(['a']);
  await lookup(['d']);
  await lookup(['a', 'c', 'd']);
  expect(asked).toEqual([['a', 'b', 'c'], ['a'], ['d'], ['c']]);
});

it('answers more at once than it may hold', async () => {
  const { asked, lookup } = setUp(3);
  expect((await lookup(['1', '2', '3', '4', '5'])).size).toBe(5);
  await lookup(['3', '4', '5']);
  expect(asked).toEqual([['1', '2', '3', '4', '5']]);
});

it('keeps what is asked for again and again, and lets go even where everything is', async () => {
  const { asked, lookup } = setUp(3);
  await lookup(['a', 'b', 'c']);
  for (let n = 0; n < 10; n++) {
    await lookup(['a']);
    await lookup([`new ${n}`]);
  }
  expect(asked.flat().filter((id) => id === 'a')).toHaveLength(1);
  await lookup(['a', 'new 9', 'new 8']);
  // All three were asked for: they stay once, and what is asked for next takes the place of one.
  await lookup(['d']);
  await lookup(['e']);
  await lookup(['a', 'new 9', 'new 8', 'e']);
  expect(asked.slice(-3).map((ids) => ids.length)).toEqual([1, 1, 1]);
});

it('holds by bytes where things differ in size, and reads anew what says it is old', async () => {
  const asked: string[][] = [];
  const old = new Set<string>();
  const lookup = createCachedLookup({
    read: async (ids) => {
      asked.push([...ids]);
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
  // 'aaa' was asked for longest ago.
  await lookup(['dd']);
  await lookup(['c', 'dd']);
  await lookup(['aaa']);
  expect(asked).toEqual([['aaa', 'bb'], ['c'], ['bb'], ['dd'], ['aaa']]);
});

it('reads ahead what is not held, while there is room, and lets nothing go for it', async () => {
  const { clock, asked, lookup } = setUp(4);
  await lookup(['a']);
  await lookup.prefetch(['a', 'b', 'c']);
  await lookup(['a', 'b', 'c']);
  expect(asked).toEqual([['a'], ['b', 'c']]);
  await lookup(['d']);
  await lookup.prefetch(['e', 'f']);
  clock.nowMs = 30_000;
  await lookup.prefetch(['a']);
  expect(asked.slice(2)).toEqual([['d']]);
  expect((await lookup(['e'])).get('e')).toBe('e at 30000');
});
