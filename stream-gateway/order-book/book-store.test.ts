import { expect, it } from 'vitest';
import { createBookStore } from './book-store.js';
import { bookRecord } from './testing.js';

const TOKEN = '111111111111';
const OTHER = '222222222221';

it('trusts the books of a source whose clock was set back again after each outage, and declares the next one', () => {
  const store = createBookStore();
  store.markLoaded(0);
  for (const token of [TOKEN, OTHER]) store.apply(bookRecord(token, 1, { received_ms: 90_000 }), 1);
  for (const [seq, outageMs] of [
    [2, 10],
    [3, 20],
  ] as const) {
    store.sourceUnreachable(outageMs);
    const declared = { verified: false, sinceMs: outageMs, reason: 'source_unreachable' };
    expect([TOKEN, OTHER].map((token) => store.get(token)?.status)).toEqual([declared, declared]);
    store.apply(bookRecord(TOKEN, seq, { received_ms: 60_000 + seq }), outageMs + 1);
    expect([TOKEN, OTHER].map((token) => store.get(token)?.status.verified)).toEqual([true, true]);
  }
});

it('a run that another one seemed to follow counts again once it is alone, and late reports of the other one then have no effect', () => {
  const store = createBookStore();
  store.markLoaded(0);
  store.apply(bookRecord(TOKEN, 1), 1);
  store.sourceStarted('e1', 2);
  // Of a run before e1, which this store has never seen.
  store.sourceStarted('e0', 3);
  expect(store.get(TOKEN)?.status).toEqual({ verified: false, sinceMs: 3, reason: 'source_unreachable' });
  store.sourceStarted('e1', 4);
  store.apply(bookRecord(TOKEN, 2), 5);
  expect(store.get(TOKEN)?.status.verified).toBe(false);
  store.sourceStarted('e1', 6, true);
  expect(store.get(TOKEN)?.status.verified).toBe(true);
  store.sourceStarted('e0', 7);
  store.sourceStarted('e1', 8);
  store.apply(bookRecord(TOKEN, 3), 9);
  expect(store.get(TOKEN)?.status.verified).toBe(true);
});
