import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countFilterItems, type Filters, isProtocolError, parseClientMessage } from './messages.js';

const parse = (message: object) => parseClientMessage(JSON.stringify({ action: 'subscribe', ...message }));
const filtersOf = (message: object): Filters => {
  const parsed = parse(message);
  if (isProtocolError(parsed) || parsed.action !== 'subscribe') throw new Error(JSON.stringify(parsed));
  return parsed.filters;
};
const warningsOf = (message: object): readonly string[] => {
  const parsed = parse(message);
  if (isProtocolError(parsed) || parsed.action !== 'subscribe') throw new Error(JSON.stringify(parsed));
  return parsed.warnings;
};
const protocolError = (message: object): string => {
  const parsed = parse(message);
  if (!isProtocolError(parsed)) throw new Error('accepted');
  return `${parsed.code}: ${parsed.message}`;
};

describe('parseClientMessage: subscribe', () => {
  it('accepts the fifteen presets and the alias, and defaults to settlements', () => {
    const names =
      'settlements fills dome trades prices large_trades wallets markets redemptions redemption deposits blocks oracle chainlink combos global';
    for (const type of names.split(' ')) expect(parse({ type })).toMatchObject({ preset: type });
    expect(parse({})).toMatchObject({ preset: 'settlements' });
  });

  it('normalizes the case of names and addresses', () => {
    const shuffled = (text: string) =>
      fc
        .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
        .map((upper) =>
          [...text].map((letter, index) => (upper[index] ? letter.toUpperCase() : letter.toLowerCase())).join(''),
        );
    fc.assert(
      fc.property(
        shuffled('buy'),
        shuffled('converttoyesbasket'),
        shuffled('confirmed'),
        shuffled('0xabcdef'),
        shuffled('btc/usd'),
        (side, action, status, wallet, feed) => {
          const filters = filtersOf({
            type: 'combos',
            filters: { side, direction: side, action, status, wallets: [wallet], event_ids: [wallet], feeds: [feed] },
          });
          expect(filters).toMatchObject({
            side: 'BUY',
            direction: 'BUY',
            action: 'ConvertToYesBasket',
            status: 'confirmed',
            wallets: ['0xabcdef'],
            event_ids: ['0xabcdef'],
            feeds: ['BTC/USD'],
          });
        },
      ),
    );
  });

  it('accepts chainlink selectors at the top level and warns of filters without effect', () => {
    expect(filtersOf({ type: 'chainlink', twap_windows: [60, 30, 60] }).twap_windows).toEqual([30, 60]);
    expect(filtersOf({ type: 'chainlink', filters: { price_source: 'spot' } }).price_source).toBe('spot');
    expect(warningsOf({ type: 'chainlink', filters: { wallets: ['0xaa'], feeds: ['BTC/USD'] } })).toEqual([
      'filter without effect on chainlink: wallets',
    ]);
    expect(warningsOf({ type: 'chainlink', filters: { feeds: ['pepe/usd', 'eth/usd'] } })).toEqual([
      'feed not known: PEPE/USD',
    ]);
    for (const wrong of [[45], [], [30, 5]])
      expect(protocolError({ type: 'chainlink', twap_windows: wrong })).toMatch(
        /^invalid_message: filters.twap_windows/,
      );
    expect(protocolError({ type: 'chainlink', price_source: 'twap' })).toMatch(
      /^invalid_message: filters.price_source/,
    );
  });

  it('accepts the event type fill only with presets that deliver it', () => {
    expect(filtersOf({ type: 'fills', filters: { event_types: ['fill', 'settlement'] } }).event_types).toEqual([
      'fill',
      'settlement',
    ]);
    expect(protocolError({ type: 'trades', filters: { event_types: ['fill'] } })).toBe(
      'invalid_message: filters.event_types: fill comes with the presets fills and dome',
    );
    expect(protocolError({ event_types: ['price_feed'] })).toMatch(/^invalid_message: filters.event_types/);
    expect(filtersOf({ event_types: ['combo_approval', 'combo_lifecycle'] }).event_types).toHaveLength(2);
  });

  it('accepts every filter but action next to filters, whose values win', () => {
    const named = {
      ...{ wallets: ['0xAA'], tokens: ['1'], markets: ['2'], slugs: ['s'], condition_ids: ['0xC0'], side: 'yes' },
      ...{ status: 'pending', min_size: 1, max_size: 2, event_types: ['trade'], snapshot_count: 0, since: 3 },
      ...{ since_seq: 4, feeds: ['btc/usd'], twap_windows: [30], combo_condition_ids: ['0xC1'] },
      ...{ leg_position_ids: ['5'], event_ids: ['0xE'], module_ids: [6], direction: 'sell', on_slow: 'skip' },
      ...{ end_of_block: true, end_of_window: true },
    };
    expect(filtersOf({ type: 'combos', ...named })).toEqual(filtersOf({ type: 'combos', filters: named }));
    expect(filtersOf(named)).toMatchObject({
      wallets: ['0xaa'],
      side: 'YES',
      snapshot_count: 0,
      since: 3,
      since_seq: 4,
    });
    expect(filtersOf({ min_size: 1, side: 'buy', filters: { min_size: 5 } })).toMatchObject({
      min_size: 5,
      side: 'BUY',
    });
    expect(filtersOf({ price_source: 'spot' }).action).toBeUndefined();
    expect(protocolError({ min_size: 'x' })).toMatch(/^invalid_message: filters.min_size/);
    expect(parseClientMessage(JSON.stringify({ action: 'subscribe', wallets: Array(201).fill('x') }), 100)).toEqual({
      code: 'filter_limit',
      message: '201 filter items; your plan allows 100 per subscription',
    });
  });

  it('ignores unknown fields of the message and unknown filters, with a warning', () => {
    expect(warningsOf({ colour: 'red', filters: { shape: 1 } })).toEqual([
      'unknown field ignored: colour',
      'unknown filter ignored: shape',
    ]);
    expect(warningsOf({ type: 'trades', subscription_id: 'x', mode: 'y', snapshot_count: 3, filters: {} })).toEqual([]);
    expect(warningsOf({ type: 'chainlink', wallets: ['0xaa'] })).toEqual([
      'filter without effect on chainlink: wallets',
    ]);
    expect(warningsOf(Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`x${i}`, 1])))).toHaveLength(20);
    expect(filtersOf({ filters: { wallets: null } }).wallets).toEqual([]);
  });

  it('warns of malformed wallets and tokens, and of lists without a valid item', () => {
    const wallet = `0x${'Ab'.repeat(20)}`;
    expect(warningsOf({ filters: { wallets: ['bad'] } })).toEqual([
      'filters.wallets has no valid item: nothing can match it',
      'invalid item of wallets: bad',
    ]);
    expect(warningsOf({ filters: { wallets: [wallet, '0x12'], tokens: ['17', '0x11'] } })).toEqual([
      'invalid item of wallets: 0x12',
      'invalid item of tokens: 0x11',
    ]);
    expect(warningsOf({ filters: { wallets: [wallet], tokens: ['17'], markets: [] } })).toEqual([]);
    expect(warningsOf({ filters: { markets: Array.from({ length: 500 }, () => 'x') } })).toHaveLength(21);
  });

  it('countFilterItems counts the items of every list', () => {
    const filters = filtersOf({
      type: 'combos',
      filters: {
        wallets: ['a'],
        tokens: ['1', '2'],
        markets: ['3'],
        slugs: ['s'],
        condition_ids: ['c'],
        combo_condition_ids: ['x'],
        leg_position_ids: ['4'],
        event_ids: ['e'],
        module_ids: [1, 2],
      },
    });
    expect(countFilterItems(filters)).toBe(11);
  });

  it('never throws on random text and JSON', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.jsonValue().map((value) => JSON.stringify(value) ?? ''),
        ),
        (text) => {
          const parsed = parseClientMessage(text);
          expect(isProtocolError(parsed) || ['subscribe', 'unsubscribe', 'ping'].includes(parsed.action)).toBe(true);
        },
      ),
    );
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), fc.jsonValue(), (name, value, other) => {
        const text = JSON.stringify({ action: 'subscribe', filters: { [name]: value, since: other }, type: 'trades' });
        expect(() => parseClientMessage(text)).not.toThrow();
      }),
    );
  });
});
