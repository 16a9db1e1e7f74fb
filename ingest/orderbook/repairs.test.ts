import { describe, expect, it, vi } from 'vitest';
import { decodeBook } from './messages.js';
import { createRepairs } from './repairs.js';

const bookOf = (tokenId: string, bids: readonly { price: string; size: string }[]) =>
  decodeBook(
    { market: `0x${'a'.repeat(64)}`, asset_id: tokenId, timestamp: String(Date.now()), bids, asks: [] },
    Date.now(),
    'silent',
  );

function setUp() {
  const fetched: string[] = [];
  const needed = new Set<string>();
  const answers = new Map<string, () => void>();
  const repairs = createRepairs({
    async fetch(tokenId) {
      fetched.push(tokenId);
      await new Promise<void>((resolve) => answers.set(tokenId, resolve));
      if (tokenId === 'missing') return null;
      return bookOf('1', tokenId === 'empty' ? [] : [{ price: '0.4', size: '1' }]);
    },
    isNeeded: (tokenId) => needed.has(tokenId),
    onBook: () => undefined,
    onMissing: () => undefined,
    onFailed: (_tokenId, error) => {
      throw error;
    },
    signal: new AbortController().signal,
    nowMs: Date.now,
    firstDelayMs: 1,
  });
  const request = (tokenIds: readonly string[]) => {
    for (const tokenId of tokenIds) {
      needed.add(tokenId);
      repairs.request(tokenId, 'silent');
    }
  };
  return { fetched, needed, answers, repairs, request };
}

describe('createRepairs', () => {
  it('does not fetch books that the subscription brings before their turn', async () => {
    const { fetched, needed, answers, repairs, request } = setUp();
    request(Array.from({ length: 400 }, (_, n) => `lost ${n}`));
    await expect.poll(() => answers.size).toBe(8);
    needed.clear();
    request(['differs']);
    for (const answer of answers.values()) answer();
    await expect.poll(() => fetched.length).toBe(9);
    expect(fetched.at(-1)).toBe('differs');
    answers.get('differs')?.();
    await repairs.idle();
    // A later request of a token whose turn was skipped is a new one.
    request(['lost 399']);
    await expect.poll(() => fetched.at(-1)).toBe('lost 399');
  });

  it.each([
    { lastsMs: 60_000, least: 50, most: 60 },
    { lastsMs: 0, least: 5, most: 25 },
  ])(
    'repairs a book that is wrong $lastsMs ms after each repair $least to $most times in an hour',
    async (expected) => {
      vi.useFakeTimers();
      const stop = new AbortController();
      try {
        let fetches = 0;
        const repairs = createRepairs({
          async fetch() {
            fetches++;
            return bookOf('1', [{ price: '0.4', size: '1' }]);
          },
          isNeeded: () => true,
          onBook: () => setTimeout(() => repairs.request('1', 'hash_mismatch'), expected.lastsMs),
          onMissing: () => undefined,
          onFailed: () => undefined,
          signal: stop.signal,
          nowMs: Date.now,
        });
        repairs.request('1', 'hash_mismatch');
        await vi.advanceTimersByTimeAsync(3_600_000);
        expect(fetches).toBeGreaterThanOrEqual(expected.least);
        expect(fetches).toBeLessThanOrEqual(expected.most);
      } finally {
        stop.abort();
        vi.useRealTimers();
      }
    },
  );

  it('expects nothing of the subscription of a token that the venue has no levels of', async () => {
    const { answers, repairs, request } = setUp();
    const tokens = ['missing', 'empty', 'full'];
    request(tokens);
    await expect.poll(() => answers.size).toBe(3);
    for (const answer of answers.values()) answer();
    await repairs.idle();
    expect(tokens.map((tokenId) => repairs.mayHaveBook(tokenId))).toEqual([false, false, true]);
  });
});
