import type { BookLevel, BookSide } from '../../schemas/order-book/book.js';
import { canonicalDecimal } from '../../schemas/order-book/decimal.js';
import { createPn1Checksum } from '../../schemas/order-book/pn1.js';

/** Checksum of a book under the protocol pn1, kept over changes of its levels. */
export interface LevelChecksum {
  /** Sets the size of a level; `0` removes it. Repeating a change has no effect. */
  set(level: BookLevel & { readonly side: BookSide }): void;
  /** Lower-case hexadecimal. */
  digest(): string;
}

export function createLevelChecksum(bids: readonly BookLevel[], asks: readonly BookLevel[]): LevelChecksum {
  const checksum = createPn1Checksum();
  const sizes = { BUY: new Map<string, string>(), SELL: new Map<string, string>() };
  const set: LevelChecksum['set'] = ({ side, price, size }) => {
    const key = canonicalDecimal(price);
    const next = canonicalDecimal(size);
    const before = sizes[side].get(key);
    if (before === next) return;
    if (before !== undefined) checksum.toggle(side, { price: key, size: before });
    if (next === '0') sizes[side].delete(key);
    else {
      sizes[side].set(key, next);
      checksum.toggle(side, { price: key, size: next });
    }
  };
  for (const level of bids) set({ side: 'BUY', ...level });
  for (const level of asks) set({ side: 'SELL', ...level });
  return { set, digest: () => checksum.digest(sizes.BUY.size, sizes.SELL.size) };
}
