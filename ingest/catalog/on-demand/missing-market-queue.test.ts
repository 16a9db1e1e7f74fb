import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CatalogMissing } from '../../../schemas/types.gen.js';
import { createIdSet } from './id-set.js';
import { createMissingMarketQueue, retryDelayMs } from './missing-market-queue.js';

function setUp(limits: { maxQueued?: number; maxMissing?: number } = {}) {
  const markets = new Set<string>();
  const queue = createMissingMarketQueue({
    hasMarket: (id) => markets.has(id),
    tokensOf: (id) => [`${id}-yes`, `${id}-no`],
    maxRequestIds: 3,
    lingerMs: 100,
    ...limits,
  });
  const condition = (id: string, offset = 0, nowMs = 0) => queue.enqueue({ by: 'condition', id }, offset, nowMs);
  const token = (id: string, offset = 0, nowMs = 0) => queue.enqueue({ by: 'token', id }, offset, nowMs);
  return { queue, markets, condition, token };
}

describe('createMissingMarketQueue', () => {
  it('queues an unknown id once and a known id never', () => {
    const { queue, markets, condition, token } = setUp();
    markets.add('a');
    queue.addTokens(['1', '2']);
    expect([condition('a'), condition('b'), condition('b'), token('1'), token('3'), token('3')]).toEqual([
      ...[false, true, false, false, true, false],
    ]);
    expect(queue.queued).toBe(2);
  });

  it('returns a full request immediately and a partial one after the linger time', () => {
    const { queue, condition } = setUp();
    condition('a', 0, 1000);
    condition('b', 1, 1050);
    expect(queue.nextRequest(1099)).toBeNull();
    expect(queue.nextRequest(1100)).toEqual({ by: 'condition', ids: ['a', 'b'] });
    condition('c', 2, 1050);
    condition('d', 3, 1050);
    expect(queue.nextRequest(1051)).toEqual({ by: 'condition', ids: ['a', 'b', 'c'] });
  });

  it('requests tokens only when no condition waits, without tokens of found markets', () => {
    const { queue, markets, condition, token } = setUp();
    token('1', 0);
    token('2', 1);
    condition('a', 2);
    expect(queue.nextRequest(100)).toEqual({ by: 'condition', ids: ['a'] });
    markets.add('a');
    queue.addTokens(['1']);
    queue.complete({ by: 'condition', ids: ['a'] }, 100);
    expect(queue.nextRequest(100)).toEqual({ by: 'token', ids: ['2'] });
  });

  it('requests missing ids again after 1, 4, 16 minutes and at most 7 days', () => {
    expect([1, 2, 3, 8, 50].map(retryDelayMs)).toEqual([60_000, 240_000, 960_000, 604_800_000, 604_800_000]);
    const { queue, condition } = setUp();
    condition('a', 0);
    const lookup = { by: 'condition', ids: ['a'] } as const;
    expect(queue.complete(lookup, 1000).changes).toEqual([
      {
        key: 'condition:a',
        value: { id: 'a', is_token: false, token_ids: ['a-yes', 'a-no'], asked: 1, next_ask_ms: 61_000 },
      },
    ]);
    expect([queue.missing, queue.queued, queue.nextRequest(60_999), queue.nextRequest(61_000)]).toEqual([
      1,
      0,
      null,
      lookup,
    ]);
    expect(queue.complete(lookup, 61_000).changes[0]?.value).toMatchObject({ asked: 2, next_ask_ms: 301_000 });
    expect(queue.nextRequest(300_999)).toBeNull();
  });

  it('removes a found missing id, and does not request tokens of a missing condition', () => {
    const { queue, markets, condition, token } = setUp();
    condition('a', 0);
    queue.complete({ by: 'condition', ids: ['a'] }, 0);
    expect([token('a-yes'), token('a-no'), condition('a')]).toEqual([false, false, false]);
    markets.add('a');
    expect(queue.complete({ by: 'condition', ids: ['a'] }, 60_000)).toEqual({
      changes: [{ key: 'condition:a', value: null }],
      found: 1,
      dropped: 0,
    });
    expect([queue.missing, queue.nextRequest(1e15)]).toEqual([0, null]);
  });

  it('requests a missing window again with its resolution time', () => {
    const { queue, condition } = setUp();
    const resolved = (offset: number) => queue.enqueue({ by: 'condition', id: 'a', resolvedMs: 777 }, offset, 0);
    condition('a', 0);
    queue.complete({ by: 'condition', ids: ['a'] }, 0);
    expect([resolved(5), queue.oldestOffset()]).toEqual([true, 5]);
    const lookup = { by: 'condition', ids: ['a'], resolvedMs: [777] } as const;
    expect(queue.nextRequest(100)).toEqual(lookup);
    expect(queue.complete(lookup, 100).changes[0]?.value).toMatchObject({ asked: 2 });
    expect([queue.queued, queue.missing]).toEqual([0, 1]);
  });

  it('keeps a window queued that was resolved during its request', () => {
    const { queue, condition } = setUp();
    condition('a', 3);
    const lookup = queue.nextRequest(100) ?? expect.fail('no request');
    queue.enqueue({ by: 'condition', id: 'a', resolvedMs: 777 }, 9, 0);
    expect(queue.complete(lookup, 100).changes).toEqual([]);
    expect(queue.oldestOffset()).toBe(3);
    expect(queue.nextRequest(100)).toEqual({ ...lookup, resolvedMs: [777] });
  });

  it('reports that it is full, and drops missing ids beyond its limit', () => {
    const { queue, condition } = setUp({ maxQueued: 2, maxMissing: 1 });
    condition('a', 0);
    expect(queue.full).toBe(false);
    condition('b', 0);
    expect(queue.full).toBe(true);
    expect(queue.complete({ by: 'condition', ids: ['a', 'b'] }, 0)).toMatchObject({ found: 0, dropped: 1 });
    expect([queue.missing, condition('b')]).toEqual([1, false]);
  });

  it('requests exactly the ids without a result after a restart at the committed offset', () => {
    const ids = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 40 });
    fc.assert(
      fc.property(ids, fc.nat({ max: 40 }), fc.nat({ max: 10 }), (chain, readTo, rounds) => {
        const exists = (id: string) => Number(id) % 3 !== 0;
        const catalogue = new Set<string>();
        const missing = new Map<string, CatalogMissing>();
        const answered = new Set<string>();
        const open = () =>
          createMissingMarketQueue({
            hasMarket: (id) => catalogue.has(id),
            tokensOf: () => [],
            maxRequestIds: 2,
            lingerMs: 0,
          });
        const completeNext = (queue: ReturnType<typeof open>) => {
          const lookup = queue.nextRequest(1);
          if (lookup === null) return false;
          for (const id of lookup.ids) {
            expect(answered.has(id)).toBe(false);
            answered.add(id);
            if (exists(id)) catalogue.add(id);
          }
          for (const { value } of queue.complete(lookup, 1).changes) if (value !== null) missing.set(value.id, value);
          return true;
        };
        const see = (queue: ReturnType<typeof open>, from: number, to: number) => {
          for (const [offset, n] of [...chain.entries()].slice(from, to))
            queue.enqueue({ by: 'condition', id: `${n}` }, offset, 0);
        };
        const first = open();
        see(first, 0, readTo);
        for (let round = 0; round < rounds; round++) completeNext(first);
        const committed = first.oldestOffset() ?? Math.min(readTo, chain.length);

        const second = open();
        for (const value of missing.values()) second.restore(value);
        see(second, committed, chain.length);
        while (completeNext(second));
        expect([...answered].sort()).toEqual([...new Set(chain.map(String))].sort());
        expect([...catalogue].sort()).toEqual([...answered].filter(exists).sort());
      }),
    );
  });
});

describe('createIdSet', () => {
  it('contains the added ids, like a Set, while it grows', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (added, others) => {
        const set = createIdSet(4);
        const expected = new Set(added);
        for (const id of added) set.add(id);
        expect(set.size).toBe(expected.size);
        for (const id of [...added, ...others]) expect(set.has(id)).toBe(expected.has(id));
      }),
    );
  });
});
