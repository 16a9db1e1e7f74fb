import { createHash } from 'node:crypto';
import type { BookLevel, BookSide } from './book.js';
import { canonicalDecimal } from './decimal.js';

const sha256 = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();

/**
 * Checksum of a book under the integrity protocol pn1, kept over its changes: the XOR of the SHA-256 of every level, and the numbers of levels, under one more SHA-256.
 * Numbers count in their shortest form, so `0.50` and `0.5` agree.
 */
export interface Pn1Checksum {
  /** Adds a level that is not in the book, or removes one that is: both are the same operation. */
  toggle(side: BookSide, level: BookLevel): void;
  /** Lower-case hexadecimal. `bids`, `asks`: numbers of levels. */
  digest(bids: number, asks: number): string;
}

export function createPn1Checksum(): Pn1Checksum {
  const sum = Buffer.alloc(32);
  return {
    toggle(side, { price, size }) {
      const letter = side === 'BUY' ? 'B' : 'A';
      const digest = sha256(`pn1:level\0${letter}\0${canonicalDecimal(price)}\0${canonicalDecimal(size)}`);
      for (let i = 0; i < 32; i++) sum[i] = (sum[i] as number) ^ (digest[i] as number);
    },
    digest: (bids, asks) =>
      createHash('sha256').update(`pn1:book\0${bids}\0${asks}\0`, 'utf8').update(sum).digest('hex'),
  };
}

/** Checksum of a whole book. */
export function pn1Checksum(bids: readonly BookLevel[], asks: readonly BookLevel[]): string {
  const checksum = createPn1Checksum();
  for (const level of bids) checksum.toggle('BUY', level);
  for (const level of asks) checksum.toggle('SELL', level);
  return checksum.digest(bids.length, asks.length);
}
