import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BookSide, createOrderBook } from './book.js';
import { canonicalDecimal, priceUnits } from './decimal.js';

describe('canonicalDecimal', () => {
  it.each([
    ['.48', '0.48'],
    ['00.4900', '0.49'],
    ['10.000', '10'],
    ['0', '0'],
    ['0.000', '0'],
    ['220045', '220045'],
  ])('%s is %s', (text, expected) => expect(canonicalDecimal(text)).toBe(expected));
});

describe('priceUnits', () => {
  it.each([
    ['0.001', 1_000_000],
    ['.5', 500_000_000],
    ['1', 1_000_000_000],
    ['1.0001', null],
    ['-0.1', null],
    ['1e-3', null],
    ['', null],
    ['0.0000000001', null],
  ])('%s is %s', (text, expected) => expect(priceUnits(text)).toBe(expected));
});

describe('createOrderBook', () => {
  it('has both sides best first, whatever the order in which levels arrive', () => {
    const book = createOrderBook();
    expect(
      book.replace(
        [
          { price: '0.1', size: '5' },
          { price: '.3', size: '1' },
        ],
        [{ price: '0.5', size: '2' }],
      ),
    ).toBe(true);
    expect(book.set('SELL', '0.4', '7')).toEqual({ side: 'SELL', price: '0.4', size: '7' });
    expect(book.bids().map(({ price }) => price)).toEqual(['.3', '0.1']);
    expect(book.asks().map(({ price }) => price)).toEqual(['0.4', '0.5']);
    expect(book.set('BUY', '0.30', '0')).toEqual({ side: 'BUY', price: '0.30', size: null });
    expect(book.set('BUY', '0.30', '0')).toBeNull();
    expect(book.set('SELL', '0.4', '7.0')).toBeNull();
    expect(book.bestBid()).toMatchObject({ price: '0.1', size: '5' });
  });

  it('refuses levels that are no levels, and then changes nothing', () => {
    const book = createOrderBook();
    book.replace([{ price: '0.1', size: '5' }], []);
    for (const bad of [
      [{ price: 'x', size: '5' }],
      [{ price: '2', size: '5' }],
      [{ price: '0.1', size: '-5' }],
      [
        { price: '0.1', size: '5' },
        { price: '0.10', size: '6' },
      ],
      Array.from({ length: 10_001 }, (_, n) => ({ price: `0.${String(n).padStart(9, '0')}`, size: '1' })),
    ])
      expect(book.replace(bad, [])).toBe(false);
    expect(book.set('BUY', '0.2', 'NaN')).toBe('invalid');
    expect(book.set('BUY', '1e3', '1')).toBe('invalid');
    expect(book.bids()).toEqual([{ price: '0.1', size: '5' }]);
  });

  it('equals a map of levels over any changes', () => {
    const change = fc.record({ side: fc.constantFrom<BookSide>('BUY', 'SELL'), tick: fc.nat(30), size: fc.nat(3) });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
        const book = createOrderBook();
        const naive = { BUY: new Map<number, number>(), SELL: new Map<number, number>() };
        for (const { side, tick, size } of changes) {
          book.set(side, (tick / 100).toFixed(2), String(size));
          if (size === 0) naive[side].delete(tick);
          else naive[side].set(tick, size);
        }
        const list = (side: BookSide, sign: number) =>
          [...naive[side]]
            .sort(([a], [b]) => sign * (a - b))
            .map(([tick, size]) => ({ price: (tick / 100).toFixed(2), size: String(size) }));
        expect(book.bids()).toEqual(list('BUY', -1));
        expect(book.asks()).toEqual(list('SELL', 1));
      }),
    );
  });
});
