import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../schemas/types.gen.js';
import { isProtocolError, parseClientMessage } from '../protocol/messages.js';
import { streamEvent } from '../testing.js';
import { compileFilters } from './compile.js';

const matcher = (message: object) => {
  const parsed = parseClientMessage(JSON.stringify({ action: 'subscribe', ...message }));
  if (isProtocolError(parsed) || parsed.action !== 'subscribe') throw new Error(JSON.stringify(parsed));
  return compileFilters(parsed.preset, parsed.filters, { slugs: null, conditions: null }).matches;
};
const some = <T>(...values: T[]) => fc.uniqueArray(fc.constantFrom(...values), { maxLength: values.length });

describe('combo filters', () => {
  it('agree with a direct implementation of the rules on random combo events', () => {
    const kinds = ['combo_execution', 'combo_status_update', 'combo_lifecycle', 'combo_approval', 'trade', 'fill'];
    const event = fc.record({
      kind: fc.constantFrom(...kinds),
      tokens: some('71', '81', '82'),
      condition_ids: some('0x03aa', '0x01aa', '0x02bb'),
      side: fc.constantFrom('YES', 'NO', 'BUY', null),
      confirmed: fc.boolean(),
      combo: fc.option(
        fc.record({
          condition_ids: some('0x03aa', '0x03bb'),
          leg_position_ids: some('71', '72'),
          event_ids: some('0x01a', '0x02b'),
          module_ids: some(1, 2, 3),
          action: fc.constantFrom('Redeem', 'Split', null),
          direction: fc.constantFrom('BUY', 'SELL', null),
        }),
        { nil: null },
      ),
    });
    const all = fc.record({
      tokens: some('71', '81'),
      condition_ids: some('0x03AA', '0x02bb'),
      combo_condition_ids: some('0x03aa', '0x03BB'),
      leg_position_ids: some('71', '72'),
      event_ids: some('0x01A', '0x02b'),
      module_ids: some(1, 3),
      action: fc.constantFrom('redeem', 'SPLIT'),
      direction: fc.constantFrom('buy', 'SELL'),
      side: fc.constantFrom('yes', 'No'),
      status: fc.constantFrom('pending', 'confirmed', 'all'),
      event_types: fc.uniqueArray(fc.constantFrom(...kinds.slice(0, 5)), { minLength: 3 }),
    });
    /** Up to three of the filters. */
    const filters = fc
      .tuple(all, fc.array(fc.nat(10), { maxLength: 3 }))
      .map(([requested, chosen]) =>
        Object.fromEntries(chosen.map((at) => Object.entries(requested)[at] ?? ['status', 'all'])),
      );
    const naive = (
      requested: Record<string, unknown>,
      { kind, tokens, condition_ids, side, confirmed, combo }: StreamEvent,
    ) => {
      const listOf = (name: string) => requested[name] as (string | number)[] | undefined;
      const lower = (name: string) => listOf(name)?.map((item) => String(item).toLowerCase());
      const hit = (
        items: readonly (string | number)[] | undefined,
        carried: readonly (string | number)[] | undefined,
      ) => items === undefined || items.length === 0 || (carried ?? []).some((item) => items.includes(item));
      const same = (name: string, value: string | null | undefined) =>
        requested[name] === undefined || (requested[name] as string).toLowerCase() === value?.toLowerCase();
      return (
        (listOf('event_types') ?? ['combo_execution', 'combo_status_update']).includes(kind) &&
        hit(listOf('tokens'), tokens) &&
        hit(lower('condition_ids'), condition_ids) &&
        hit(lower('combo_condition_ids'), combo?.condition_ids) &&
        hit(listOf('leg_position_ids'), combo?.leg_position_ids) &&
        hit(lower('event_ids'), combo?.event_ids) &&
        hit(listOf('module_ids'), combo?.module_ids) &&
        same('action', combo?.action) &&
        same('direction', combo?.direction) &&
        same('side', side) &&
        (requested.status !== 'confirmed' || confirmed) &&
        (requested.status !== 'pending' || !confirmed)
      );
    };
    let matched = 0;
    fc.assert(
      fc.property(event, filters, (over, requested) => {
        const one = streamEvent(1, over);
        const expected = naive(requested, one);
        if (expected) matched++;
        expect(matcher({ type: 'combos', filters: requested })(one)).toBe(expected);
      }),
      { numRuns: 3000 },
    );
    expect(matched).toBeGreaterThan(50);
  });

  it('drop events without combo', () => {
    const trade = streamEvent(1);
    expect(matcher({ type: 'trades' })(trade)).toBe(true);
    for (const filters of [{ module_ids: [3] }, { action: 'Split' }, { direction: 'BUY' }, { event_ids: ['0x01'] }])
      expect(matcher({ type: 'trades', filters })(trade)).toBe(false);
  });
});

describe('fill events', () => {
  it('match the presets fills and dome only, together with further event_types', () => {
    const fill = streamEvent(1, { kind: 'fill', confirmed: false });
    const settlement = streamEvent(2, { kind: 'settlement', confirmed: false });
    for (const type of ['fills', 'dome']) expect([fill, settlement].map(matcher({ type }))).toEqual([true, false]);
    for (const type of ['settlements', 'trades', 'global', 'wallets']) expect(matcher({ type })(fill)).toBe(false);
    const both = matcher({ type: 'fills', filters: { event_types: ['fill', 'settlement'] } });
    expect([fill, settlement].map(both)).toEqual([true, true]);
    expect(matcher({ type: 'fills', filters: { status: 'confirmed' } })(fill)).toBe(false);
    expect(matcher({ type: 'fills', filters: { side: 'sell' } })(fill)).toBe(false);
    expect(matcher({ type: 'fills', filters: { min_size: 5, max_size: 5 } })(fill)).toBe(true);
  });
});
