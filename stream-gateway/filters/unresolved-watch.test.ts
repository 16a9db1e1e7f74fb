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
