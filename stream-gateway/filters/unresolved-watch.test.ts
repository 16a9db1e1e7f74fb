import { expect, it } from 'vitest';
import type { MarketRow } from './market-lookup.js';
import type { MarketItems } from './resolve-filters.js';
import { createUnresolvedWatch } from './unresolved-watch.js';
import { createWaitingMarkets } from './waiting-markets.js';

const rowOf = (requested: string): MarketRow => ({ requested, condition_id: `c-${requested}`, token_id: requested });

it('reports all items of a subscription that appear together in one call, with other work between subscriptions', async () => {
  let known = false;
  const find = async (items: readonly string[]) => (known ? items.map(rowOf) : []);
  const watch = createUnresolvedWatch({
    lookup: { bySlugs: find, byConditions: find },
    onError: (error) => {
      throw error;
    },
    pollMs: 5,
  });
  const calls: string[] = [];
  const waiting = createWaitingMarkets({
    watch,
    onResolved(id, items) {
      calls.push(`${id}: ${items.map(({ type, item, rows }) => `${type} ${item} ${rows.length}`).join(', ')}`);
      setImmediate(() => calls.push('other work'));
    },
  });
  const markets = (slugs: string[], conditions: string[] = []): MarketItems => ({
    slugs: new Map(slugs.map((slug) => [slug, []])),
    conditions: new Map(conditions.map((id) => [id, []])),
  });
  try {
    waiting.watch('one', markets(['a', 'b', 'gone'], ['0xc']));
    waiting.watch('one', markets(['a', 'b'], ['0xc']));
    waiting.watch('two', markets(['b']));
    waiting.watch('three', markets(['b']));
    waiting.forget('three');
    known = true;
    await expect.poll(() => calls.length).toBe(4);
    expect(calls).toEqual(['one: slug a 1, slug b 1, condition_id 0xc 1', 'other work', 'two: slug b 1', 'other work']);
    // An item that is removed and requested again is looked up again.
    waiting.watch('one', markets([]));
    waiting.watch('one', markets(['a']));
    await expect.poll(() => calls.slice(4)).toEqual(['one: slug a 1', 'other work']);
  } finally {
    watch.close();
  }
});

it('looks up items of every subscription in turn, so that one with many does not delay others', async () => {
  const lookups: (readonly string[])[] = [];
  const watch = createUnresolvedWatch({
    lookup: {
      async bySlugs(items) {
        lookups.push(items);
        return [];
      },
      byConditions: async () => [],
    },
    onError: (error) => {
      throw error;
    },
    pollMs: 2,
  });
  try {
    const many = Array.from({ length: 2_500 }, (_, n) => `many-${n}`);
    const first = () => undefined;
    for (const item of many) watch.add('slug', item, first);
    const late = () => undefined;
    const cancel = watch.add('slug', 'late', late);
    watch.add('slug', 'many-7', late);
    await expect.poll(() => lookups.length).toBeGreaterThan(4);
    for (const items of lookups) {
      expect(items.length).toBe(1_000);
      expect(items).toContain('late');
      expect(items).toContain('many-7');
    }
    expect(new Set(lookups.slice(0, 4).flat())).toEqual(new Set([...many, 'late']));
    cancel();
    const before = lookups.length;
    await expect.poll(() => lookups.length).toBeGreaterThan(before + 1);
    expect(lookups.at(-1)).not.toContain('late');
  } finally {
    watch.close();
  }
});
