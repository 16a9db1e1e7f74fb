import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { type Filters, isProtocolError, parseClientMessage } from '../protocol/messages.js';
import { streamEvent } from '../testing.js';
import { compileFilters } from './compile.js';

const unresolved = { slugs: null, conditions: null };

function subscribe(message: object): { preset: Parameters<typeof compileFilters>[0]; filters: Filters } {
  const parsed = parseClientMessage(JSON.stringify({ action: 'subscribe', ...message }));
  if (isProtocolError(parsed) || parsed.action !== 'subscribe') throw new Error(JSON.stringify(parsed));
  return parsed;
}

const matcher = (message: object) => {
  const { preset, filters } = subscribe(message);
  return compileFilters(preset, filters, unresolved).matches;
};

describe('compileFilters', () => {
  it('matches the event kinds of each preset', () => {
    const kindsOf = (type: string) =>
      [
        'settlement',
        'trade',
        'status_update',
        'block',
        'price_feed',
        'redemption',
        'oracle',
        'deposit',
        'position_change',
        'position_split',
      ].filter((kind) => matcher({ type })(streamEvent(1, { kind, feed: kind === 'price_feed' ? 'BTC/USD' : null })));
    expect(kindsOf('settlements')).toEqual(['settlement', 'status_update']);
    expect(kindsOf('trades')).toEqual(['settlement', 'trade', 'status_update']);
    expect(kindsOf('prices')).toEqual(['settlement', 'trade']);
    expect(kindsOf('blocks')).toEqual(['block']);
    expect(kindsOf('chainlink')).toEqual(['price_feed']);
    expect(kindsOf('global')).toEqual([
      'settlement',
      'trade',
      'status_update',
      'block',
      'redemption',
      'oracle',
      'deposit',
      'position_change',
    ]);
  });

  it('takes the kinds of the preset if event_types is empty', () => {
    const { preset, filters } = subscribe({ type: 'prices', filters: { event_types: [] } });
    const { channels, unfiltered } = compileFilters(preset, filters, unresolved);
    expect({ channels, unfiltered }).toEqual({ channels: ['settlement', 'trade'], unfiltered: true });
  });

  it('matches wallets case-insensitively', () => {
    expect(matcher({ type: 'trades', filters: { wallets: ['0xAA'] } })(streamEvent(1))).toBe(true);
  });

  it('min_size is inclusive and drops events without a size', () => {
    const matches = matcher({ type: 'global', filters: { min_size: 5 } });
    expect(matches(streamEvent(1))).toBe(true);
    expect(matches(streamEvent(1, { usd: 4_999_999n }))).toBe(false);
    expect(matches(streamEvent(1, { kind: 'block', usd: null }))).toBe(false);
  });

  it('delivers retract whatever the filters are, if event_types names it', () => {
    const retract = streamEvent(1, { kind: 'retract', wallets: [], tokens: [], side: null, usd: null });
    const filters = { wallets: ['0xaa'], tokens: ['1'], side: 'BUY', min_size: 5, status: 'pending' };
    expect(matcher({ filters: { ...filters, event_types: ['trade', 'retract'] } })(retract)).toBe(true);
    expect(matcher({ type: 'large_trades', event_types: ['trade', 'retract'] })(retract)).toBe(true);
    expect(matcher({ filters: { ...filters, event_types: ['trade'] } })(retract)).toBe(false);
    expect(matcher({ type: 'global' })(retract)).toBe(false);
  });

  it('min_size and max_size accept the largest number: no amount is above it', () => {
    const [min, max] = ['min_size', 'max_size'].map((name) =>
      matcher({ type: 'trades', filters: { [name]: Number.MAX_VALUE } }),
    );
    const largest = streamEvent(1, { usd: 2n ** 256n });
    expect([min?.(largest), max?.(largest)]).toEqual([false, true]);
  });

  it('large_trades has a min_size of 1000 USD by default', () => {
    expect(matcher({ type: 'large_trades' })(streamEvent(1, { usd: 999_999_999n }))).toBe(false);
    expect(matcher({ type: 'large_trades' })(streamEvent(1, { usd: 1_000_000_000n }))).toBe(true);
    expect(matcher({ type: 'large_trades', filters: { min_size: 1 } })(streamEvent(1))).toBe(true);
  });

  it('status pending drops status_update unless event_types names it', () => {
    const update = streamEvent(1, { kind: 'status_update', confirmed: true });
    expect(matcher({ type: 'settlements', filters: { status: 'pending' } })(update)).toBe(false);
    expect(matcher({ filters: { status: 'pending', event_types: ['settlement', 'status_update'] } })(update)).toBe(
      true,
    );
    expect(matcher({ filters: { status: 'pending' } })(streamEvent(1, { kind: 'settlement', confirmed: false }))).toBe(
      true,
    );
  });

  it('chainlink delivers spot by default, the TWAP windows if requested, feeds case-insensitively', () => {
    const spot = streamEvent(1, { kind: 'price_feed', feed: 'BTC/USD' });
    const twap = streamEvent(2, { kind: 'price_feed', feed: 'BTC/USD', twap_window_s: 60 });
    expect([spot, twap].map(matcher({ type: 'chainlink', filters: { feeds: ['btc/usd'] } }))).toEqual([true, false]);
    expect([spot, twap].map(matcher({ type: 'chainlink', twap_windows: [60] }))).toEqual([false, true]);
    expect([spot, twap].map(matcher({ type: 'chainlink', filters: { feeds: ['ETH/USD'] } }))).toEqual([false, false]);
  });

  it('agrees with a direct implementation of the rules on random events and filters', () => {
    const wallet = fc.constantFrom('0xaa', '0xbb', '0xcc');
    const token = fc.constantFrom('1', '2', '3');
    const kind = fc.constantFrom('settlement', 'trade', 'status_update', 'block', 'redemption', 'retract');
    const event = fc.record({
      kind,
      wallets: fc.uniqueArray(wallet),
      tokens: fc.uniqueArray(token),
      side: fc.constantFrom('BUY', 'SELL', null),
      usd: fc.option(fc.bigInt({ min: 0n, max: 20_000_000n }), { nil: null }),
      confirmed: fc.boolean(),
    });
    const filters = fc.record(
      {
        wallets: fc.uniqueArray(wallet),
        tokens: fc.uniqueArray(token),
        side: fc.constantFrom('BUY', 'SELL'),
        min_size: fc.integer({ min: 0, max: 20 }),
        max_size: fc.integer({ min: 0, max: 20 }),
        status: fc.constantFrom('all', 'confirmed'),
        event_types: fc.uniqueArray(kind),
      },
      { requiredKeys: [] },
    );
    const naive = (requested: Record<string, unknown>, e: StreamEvent): boolean => {
      const list = (name: string) => (requested[name] as string[] | undefined) ?? [];
      const overlap = (a: string[], b: readonly string[]) => a.length === 0 || a.some((item) => b.includes(item));
      const kinds = list('event_types').length > 0 ? list('event_types') : ['settlement', 'trade', 'status_update'];
      const min = requested.min_size as number | undefined;
      const max = requested.max_size as number | undefined;
      if (e.kind === 'retract') return kinds.includes('retract');
      return (
        kinds.includes(e.kind) &&
        overlap(list('wallets'), e.wallets) &&
        overlap(list('tokens'), e.tokens) &&
        (requested.side === undefined || e.side === requested.side) &&
        (requested.status !== 'confirmed' || e.confirmed) &&
        (min === undefined || min === 0 || (e.usd !== null && e.usd >= BigInt(min) * 1_000_000n)) &&
        (max === undefined || (e.usd !== null && e.usd <= BigInt(max) * 1_000_000n))
      );
    };
    fc.assert(
      fc.property(event, filters, (over, requested) => {
        const e = streamEvent(1, over);
        return matcher({ type: 'trades', filters: requested })(e) === naive(requested, e);
      }),
      { numRuns: 2000 },
    );
  });
});
