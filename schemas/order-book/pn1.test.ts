import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPn1Checksum, pn1Checksum } from './pn1.js';

it.each([
  ['an empty book', [], [], 'f9990dc511a3f5eabf06565ee7f52801621e28d7f2d3509d6fbda91e561edecf'],
  [
    'one level on each side',
    [{ price: '0.50', size: '10.000' }],
    [{ price: '0.6000', size: '20' }],
    'a1ec7486bc53e14c4294f08e9298362fe7b5c6495c474e8c447e27ea976eb93a',
  ],
  [
    'two bids',
    [
      { price: '0.5', size: '12.500' },
      { price: '00.4900', size: '3.0' },
    ],
    [],
    '7829126b80f3eccac2ab4ecc0e999b90f061df3214db0d2717165834a57d66be',
  ],
])('pn1Checksum has the published value of %s', (_case, bids, asks, expected) => {
  expect(pn1Checksum(bids, asks)).toBe(expected);
});

it('a checksum kept over changes equals that of the resulting book', () => {
  const change = fc.record({ side: fc.constantFrom('BUY', 'SELL'), tick: fc.nat(20), size: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
      const checksum = createPn1Checksum();
      const sides = { BUY: new Map<string, string>(), SELL: new Map<string, string>() };
      for (const { side, tick, size } of changes) {
        const levels = sides[side as 'BUY' | 'SELL'];
        const price = `0.${String(tick).padStart(2, '0')}`;
        const before = levels.get(price);
        if (before !== undefined) checksum.toggle(side as 'BUY' | 'SELL', { price, size: before });
        levels.delete(price);
        if (size === 0) continue;
        levels.set(price, String(size));
        checksum.toggle(side as 'BUY' | 'SELL', { price, size: String(size) });
      }
      const list = (levels: ReadonlyMap<string, string>) => [...levels].map(([price, size]) => ({ price, size }));
      expect(checksum.digest(sides.BUY.size, sides.SELL.size)).toBe(pn1Checksum(list(sides.BUY), list(sides.SELL)));
    }),
  );
});
