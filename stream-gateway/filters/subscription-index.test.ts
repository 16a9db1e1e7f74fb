import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isProtocolError, parseClientMessage } from '../protocol/messages.js';
import { liveEvent } from '../testing.js';
import { compileFilters } from './compile.js';
import { createSubscriptionIndex } from './subscription-index.js';

const wallet = fc.constantFrom('0xaa', '0xbb', '0xcc');
const token = fc.constantFrom('1', '2', '3');
const list = (items: fc.Arbitrary<string>) => fc.uniqueArray(items, { maxLength: 3 });
const message = fc.oneof(
  fc.record({
    type: fc.constantFrom('trades', 'settlements', 'blocks'),
    filters: fc.record({ wallets: list(wallet), tokens: list(token), min_size: fc.nat(9) }, { requiredKeys: [] }),
  }),
  fc.record({
    type: fc.constant('large_trades'),
    filters: fc.record({ event_types: fc.constant(['trade', 'retract']), wallets: list(wallet), tokens: list(token) }),
  }),
  fc.record({
    type: fc.constant('chainlink'),
    filters: fc.record({ feeds: list(fc.constantFrom('BTC/USD', 'ETH/USD')) }, { requiredKeys: [] }),
  }),
  fc.record({
    type: fc.constant('combos'),
    filters: fc.record({ condition_ids: list(fc.constantFrom('0xc0', '0xc1')) }, { requiredKeys: [] }),
  }),
);
const event = fc.record({
  kind: fc.constantFrom('trade', 'settlement', 'block', 'price_feed', 'combo_execution', 'retract'),
  wallets: list(wallet),
  tokens: list(token),
  condition_ids: list(fc.constantFrom('0xc0', '0xc1')),
  feed: fc.constantFrom('BTC/USD', 'ETH/USD', null),
  twap_window_s: fc.constantFrom(null, 30),
  usd: fc.option(fc.bigInt({ min: 0n, max: 10_000_000n }), { nil: null }),
});

function subscription(request: { type: string; filters: object }) {
  const parsed = parseClientMessage(JSON.stringify({ action: 'subscribe', ...request }));
  if (isProtocolError(parsed) || parsed.action !== 'subscribe') throw new Error(JSON.stringify(parsed));
  return { filter: compileFilters(parsed.preset, parsed.filters, { slugs: null, conditions: null }) };
}

describe('subscription index', () => {
  it('finds exactly the subscriptions whose filter matches, also after removals', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ message, keep: fc.boolean() }), { maxLength: 12 }),
        fc.array(event, { maxLength: 8 }),
        (requests, events) => {
          const index = createSubscriptionIndex<ReturnType<typeof subscription>>();
          const all = requests.map((one) => ({ keep: one.keep, subscribed: subscription(one.message) }));
          for (const { subscribed } of all) index.add(subscribed);
          for (const { subscribed, keep } of all) if (!keep) index.remove(subscribed);
          for (const [seq, over] of events.entries()) {
            const live = liveEvent(seq, over);
            const found = new Set<ReturnType<typeof subscription>>();
            index.candidates(live, (subscribed, indexed) => {
              if ((indexed ? subscribed.filter.matchesIndexed : subscribed.filter.matches)(live)) found.add(subscribed);
            });
            const expected = all
              .filter(({ keep, subscribed }) => keep && subscribed.filter.matches(live))
              .map(({ subscribed }) => subscribed);
            expect(found).toEqual(new Set(expected));
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is empty after all subscriptions are removed', () => {
    const index = createSubscriptionIndex<ReturnType<typeof subscription>>();
    const many = [
      subscription({ type: 'trades', filters: { wallets: ['0xaa', '0xbb'] } }),
      subscription({ type: 'trades', filters: { wallets: ['0xbb'] } }),
      subscription({ type: 'global', filters: { side: 'BUY' } }),
      subscription({ type: 'chainlink', filters: { feeds: ['BTC/USD'] } }),
    ];
    for (const one of many) index.add(one);
    expect(index.size).toBe(2 + 8 + 1);
    for (const one of many) index.remove(one);
    expect(index.size).toBe(0);
  });

  it('indexes a subscription by the category with the fewest items', () => {
    const { filter } = subscription({
      type: 'trades',
      filters: { wallets: ['0xaa', '0xbb', '0xcc'], tokens: ['1'], feeds: [] },
    });
    expect(filter.index).toEqual({ tokens: new Set(['1']) });
    expect(filter.matchesIndexed(liveEvent(1, { tokens: [], wallets: ['0xbb'] }))).toBe(true);
    expect(filter.matchesIndexed(liveEvent(1, { tokens: [], wallets: ['0xdd'] }))).toBe(false);
  });
});
