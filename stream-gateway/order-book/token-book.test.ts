import { describe, expect, it } from 'vitest';
import { bookRecord } from './testing.js';
import { createTokenBook } from './token-book.js';

const TOKEN = '111111111111';

describe('createTokenBook', () => {
  it('has a first book that is unverified since when its record says, or since it was read', () => {
    for (const reason of ['silent', 'no_book']) {
      const unverified = { verified: false, reason } as const;
      const book = createTokenBook(TOKEN);
      book.apply(bookRecord(TOKEN, 1, { ...unverified, verified_since_ms: 5_000 }), 9_000);
      expect(book.status).toEqual({ verified: false, sinceMs: 5_000, reason });
      book.apply(bookRecord(TOKEN, 2, { ...unverified, reason: 'hash_mismatch', verified_since_ms: 5_000 }), 9_500);
      expect(book.status.sinceMs).toBe(5_000);
      const untold = createTokenBook(TOKEN);
      untold.apply(bookRecord(TOKEN, 1, { ...unverified, verified_since_ms: null }), 9_000);
      expect(untold.status.sinceMs).toBe(9_000);
    }
  });
});
